//! A kernel looks at what the host has stored, and decides.
use graph_runtime::cuda_graph;
use ui_tests::announce;

cuda_graph! {
    graph Test {
        mapped more: u32;
        while waiting = more {
            kernel tell = announce<<<1, 1>>>(&more, 0);
        };
    }
}

fn main() {}
