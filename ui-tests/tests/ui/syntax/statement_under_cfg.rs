//! A node under `cfg` would leave others in another order.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        #[cfg(test)]
        memset zero = data <- 0.0;
        memset one = data <- 1.0;
    }
}

fn main() {}
