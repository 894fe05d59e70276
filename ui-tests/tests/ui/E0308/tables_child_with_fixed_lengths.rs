//! Memory whose lengths only build knows is not bound to memory of fixed lengths.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Clear {
        device data: [[f32; 4]; 8];
        memset clear = data <- 0.0;
    }
    graph Parent(n: usize, d: usize) {
        device data: [[f32; d]; n];
        graph step = Clear(data: &mut data);
    }
}

fn main() {}
