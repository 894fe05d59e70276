//! A variable is in the module of a kernel, so a graph without kernels has none.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        constant table: [f32; 4] = "table";
        memset clear = table <- 0.0;
    }
}

fn main() {}
