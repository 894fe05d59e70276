//! The first iteration has none before it that could have written.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch row: [[f32; 4]; 5];
        device out: [[f32; 4]; 5];
        each i in 1..5 {
            memset fill = row[i] <- 0.0;
            memcpy keep = row[i - 1] -> out[i] after fill(i - 1);
        }
    }
}

fn main() {}
