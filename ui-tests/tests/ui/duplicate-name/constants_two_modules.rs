//! Two modules of the graph have a variable of this name.
use graph_runtime::cuda_graph;
use ui_tests::{shift, weigh};

cuda_graph! {
    graph Test {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
        kernel l     = shift<<<1, 4>>>(&mut data) after k;
    }
}

fn main() {}
