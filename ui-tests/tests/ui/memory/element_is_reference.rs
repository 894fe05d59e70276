//! Memory holds no addresses of the host.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: &mut [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
