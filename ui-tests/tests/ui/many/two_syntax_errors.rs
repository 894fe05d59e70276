//! Parsing goes on after a syntax error: the second is reported too, and nobody misses what could not be parsed.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
        memset zero = data << 0.0 after upload;
        join end after zero;
    }
}

fn main() {}
