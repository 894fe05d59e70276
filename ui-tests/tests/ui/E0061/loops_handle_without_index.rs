//! The handle of a node in a `for` takes the number of the iteration.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = data[i] <- 1.0;
        }
    }
}

fn disable(graph: &mut Test) -> graph_runtime::Result<()> {
    graph.set().set_enabled(false)
}

fn main() {}
