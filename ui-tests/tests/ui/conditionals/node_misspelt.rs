//! Names in bodies are those of the graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset one = data <- 1;
            memset two = data <- 2 after on;
        };
    }
}

fn main() {}
