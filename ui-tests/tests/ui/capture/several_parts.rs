//! A name stands for one piece of memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device rows: [[f32; 4]; 2];
        capture calls = (&rows[0], &mut rows[1]) |stream| drop(rows.bytes());
    }
}

fn main() {}
