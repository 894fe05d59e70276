//! Two captures of one body write the same memory, and nothing orders them.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            capture first = (&mut data) |stream| ();
            capture second = (&mut data) |stream| ();
        };
    }
}

fn main() {}
