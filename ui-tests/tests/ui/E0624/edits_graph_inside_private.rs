//! Only the graph's own methods get the graph inside: with all of it, code outside could reach every node.
mod training {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device weights: [f32; 64];
            param value: f32 = 1.0;

            pub(self) memset clear = weights <- value;
        }
    }
}

fn main() -> graph_runtime::Result<()> {
    let mut step = training::Step::build(&graph_runtime::Device::emulator())?;
    let parts = training::Step::__edited();
    let graph: &mut graph_runtime::Graph = (parts.graph_mut)(&mut step);
    graph.node(graph_runtime::NodeId::new(0)).set_enabled(false)
}
