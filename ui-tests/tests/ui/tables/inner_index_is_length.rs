//! Elements of a row are counted from 0, too.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[f32; d]; n];
        memset clear = data[0][d] <- 0.0;
    }
}

fn main() {}
