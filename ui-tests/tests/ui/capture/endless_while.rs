//! Captured calls that do not declare to write the condition of their `while`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device more: u32;
        device data: [f32; 4];
        while repeat = more {
            capture calls = (&more, &mut data) |stream| ();
        };
    }
}

fn main() {}
