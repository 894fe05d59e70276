//! The trait of all graphs lends the graph inside to itself alone: with all of it, code outside could reach every node.

mod training {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device weights: [f32; 64];

            pub(self) memset reset = weights <- 1.0;
        }
    }
}

fn main() {
    let mut step = training::Step::build(&graph_runtime::Device::emulator()).unwrap();
    let lent = graph_runtime::AnyGraph::__graph_mut(&mut step);
    let graph: &mut graph_runtime::Graph = lent.0;
    graph.node(graph_runtime::NodeId::new(0));
}
