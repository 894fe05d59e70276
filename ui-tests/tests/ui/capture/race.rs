//! Captured calls race by what they declare.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device a: [f32; 4];
        device b: [f32; 4];
        capture first = (&mut a) |stream| drop(stream);
        capture second = (&a, &mut b) |stream| drop(stream);
    }
}

fn main() {}
