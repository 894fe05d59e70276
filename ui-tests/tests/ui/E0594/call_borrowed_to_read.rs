//! A function only reads memory that it borrows with `&`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host output: [f32; 4];
        call fill = |&output| output[0] = 1.0;
    }
}

fn main() {}
