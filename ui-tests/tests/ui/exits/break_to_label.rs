//! A label of the expression's own may be left, no other.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [u32; 4];
        for i in 0..4 {
            memset set = data[i] <- 'own: { for k in 0.. { if k > 8 { break 'own k } else { break 'other } } 0 };
        }
    }
}

fn main() {}
