//! Memory whose length the child takes as a build argument has its elements.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Clear(n: usize) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
    graph Parent {
        device data: [f64; 32];
        graph step = Clear(data: &mut data, n: 32);
    }
}

fn main() {}
