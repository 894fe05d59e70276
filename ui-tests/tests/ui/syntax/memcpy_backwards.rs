//! A memcpy goes to the right; `<-` sets memory to a value.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = data <- input;
    }
}

fn main() {}
