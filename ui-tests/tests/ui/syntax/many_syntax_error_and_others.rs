//! A syntax error does not hide the mistakes of other statements.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4]
        device data: [f32; 4];
        memcpy upload = input -> data;
        memset zero = dtaa <- 0.0;
        join end after uplaod;
    }
}

fn main() {}
