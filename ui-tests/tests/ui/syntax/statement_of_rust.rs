//! A word that begins no statement is reported, and the name after it counts as declared.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        let data: [f32; 4] = [0.0; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
