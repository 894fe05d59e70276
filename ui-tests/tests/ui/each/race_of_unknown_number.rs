//! The range has no literal end, so that any numbers are possible.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; 64];
        each i in 0..N {
            each j in 0..N {
                memset fill = data[8 * i + j] <- 0.0;
            }
        }
    }
}

fn main() {}
