//! The variable is in the module of a kernel of the graph.
use graph_runtime::cuda_graph;
use ui_tests::weigh;

cuda_graph! {
    graph Test {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "tables";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

fn main() {}
