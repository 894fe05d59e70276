//! A view of `&x` cannot be written.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host data: [[u32; d]; n];
        call fill = |&data| data[0][0] = 1;
    }
}

fn main() {}
