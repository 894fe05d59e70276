//! Mistakes with constant memory.
use graph_runtime::cuda_graph;
use ui_tests::weigh;

// The variable is in the module of a kernel of the graph.
cuda_graph! {
    graph Missing {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "tables";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

// A variable is in the module of a kernel, so a graph without kernels has none.
cuda_graph! {
    graph MissingKernels {
        constant table: [f32; 4] = "table";
        memset clear = table <- 0.0;
    }
}

fn main() {}
