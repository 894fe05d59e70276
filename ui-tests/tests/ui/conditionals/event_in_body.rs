//! Events are recorded outside of bodies.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        switch pick = flag {
            {
                memset one = data <- 1;
                record done = EVENT after one;
            }
        };
    }
}

fn main() {}
