//! Every iteration runs after the previous one but one: those beside each other are unordered.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 20];
        each i in 0..8 {
            memset fill = data[2 * i..2 * i + 5] <- 0.0 after fill(i - 1);
            memset again = data[2 * i..2 * i + 5] <- 1.0 after fill;
        }
    }
}

fn main() {}
