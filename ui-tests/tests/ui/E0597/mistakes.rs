//! Mistakes that rustc reports as E0597.
use graph_runtime::{Device, Result, SharedHost, cuda_graph};

// Memory that ends before the scope that lends it.
fn lent(device: &Device) -> Result<SharedHost<[f32]>> {
    device.scope(|scope| {
        let numbers = vec![0.0; 4];
        scope.lend(&numbers)
    })
}

// Lent memory does not outlive the graph that owns it.
cuda_graph! {
    graph LentPastTheGraph {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn lent_past_the_graph() -> Result<()> {
    let input = {
        let graph = LentPastTheGraph::build(&Device::any()?)?;
        graph.input()?
    };
    println!("{input:?}");
    Ok(())
}

fn main() {}
