//! A `switch` has at least one body.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device number: u32;
        switch pick = number {};
    }
}

fn main() {}
