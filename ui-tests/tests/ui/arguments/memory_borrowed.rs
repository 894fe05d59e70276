//! Memory is shared by a handle, not by a reference.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(w: &mut device [f32; 4]) {
        memset zero = w <- 0.0;
    }
}

fn main() {}
