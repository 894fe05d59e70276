//! Both loops are around both nodes, so that there are two numbers.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 4];
        each i in 0..4 {
            each j in 0..4 {
                memset fill = data[i][j] <- 0.0 after fill(j - 1);
            }
        }
    }
}

fn main() {}
