//! A child's table takes memory of as many dimensions.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Clear(n: usize, d: usize) {
        device data: [[f32; d]; n];
        memset clear = data <- 0.0;
    }
    graph Parent {
        device data: [f32; 32];
        graph step = Clear(data: &mut data, n: 4, d: 8);
    }
}

fn main() {}
