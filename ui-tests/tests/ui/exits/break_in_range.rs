//! The range of an inner `for` belongs to the outer one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            for k in 0..if i == 2 { break } else { i } {
                memset set = data[k] <- 1.0;
            }
        }
    }
}

fn main() {}
