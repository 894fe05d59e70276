//! Mistakes that rustc reports as E0616.
use graph_runtime::{Device, Result, cuda_graph};

// Nobody else gets at what a graph has captured.
fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc_host::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    let graph = cuda_graph! { device => memcpy up = from -> to; }?;
    let _ = graph.from;
    drop(graph.__graph);
    Ok(())
}

// Memory that `memory_mut` lends has the visibility of the statement that declares it.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph HostMemoryPrivate {
            pub(self) host input: [f32; 4];
            device data: [f32; 4];
            memcpy upload = input -> data;
        }
    }
}

fn host_memory_private() {
    let mut graph = graphs::HostMemoryPrivate::build(&graph_runtime::Device::emulator()).unwrap();
    graph.memory_mut().unwrap().input.fill(1.0);
}

// The trait of all graphs lends the graph inside to itself alone: with all of it, code outside could reach every node.
mod training {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device weights: [f32; 64];

            pub(self) memset reset = weights <- 1.0;
        }
    }
}

fn lent_graph_private() {
    let mut step = training::Step::build(&graph_runtime::Device::emulator()).unwrap();
    let lent = graph_runtime::AnyGraph::__graph_mut(&mut step);
    let graph: &mut graph_runtime::Graph = lent.0;
    graph.node(graph_runtime::NodeId::new(0));
}

fn main() {}
