//! Only the runtime gets the graph inside: with all of it, code outside could reach every node.
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

use graph_runtime::private::{Only, ParamGraph};
use graph_runtime::{Graph, Result, Update};

/// Hands on the right that it gets for its own graph.
struct Disguise(training::Step);

impl ParamGraph for Disguise {
    fn graph(&self, only: Only<Self>) -> &Graph {
        self.0.graph(only)
    }

    fn graph_mut(&mut self, _: Only<Self>) -> &mut Graph {
        self.0.graph_mut(Only(std::marker::PhantomData))
    }

    fn change(&self, _: &mut Update<'_>, _: usize) -> Result<()> {
        Ok(())
    }
}

fn main() {}
