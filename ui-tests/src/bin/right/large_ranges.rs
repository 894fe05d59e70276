//! Large ranges cost no more than small ones: the 400 million iterations of `d` are not listed. `build` checks them.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device x: [f32; 4];
        each i in 0..4 {
            memset a = x <- 0.0 after d(i - 2);
            each j in 0..20000 {
                each k in 0..20000 {
                    join d after a;
                }
            }
        }
    }
}

pub(crate) fn main() {
    let _ = Test::build;
}
