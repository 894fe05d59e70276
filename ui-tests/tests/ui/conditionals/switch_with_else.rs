//! A `switch` has no `else`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device which: u32;
        device data: [f32; 4];
        switch pick = which {
            { memset zero = data <- 0.0; }
        } else {
            memset one = data <- 1.0;
        };
    }
}

fn main() {}
