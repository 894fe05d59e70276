//! A condition is one number.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [u32; 4];
        device data: u32;
        switch choice = flags {
            { memset set = data <- 1; }
        };
    }
}

fn main() {}
