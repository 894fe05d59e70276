//! A param of the parent is bound to a build argument of the child, which is fixed when the graph is built.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Clear(n: usize) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
    graph Parent {
        device data: [f32; 32];
        param count: usize = 32;
        graph step = Clear(data: &mut data, n: count);
    }
}

fn main() {}
