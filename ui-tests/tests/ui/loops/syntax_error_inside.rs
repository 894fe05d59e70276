//! Mistakes in a `for` are found beside those outside.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 0..4 {
            memset set = data <-;
            memset again = data <- 1.0 after set, se;
        }
        join done after set;
    }
}

fn main() {}
