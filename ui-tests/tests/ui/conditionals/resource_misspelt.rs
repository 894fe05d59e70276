//! Names in bodies are those of the graph.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        device out: [f32; 4];
        if maybe = flag {
            kernel copy = read<<<1, 4>>>(&date, &mut out);
        };
    }
}

fn main() {}
