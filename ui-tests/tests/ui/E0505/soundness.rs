//! Mistakes that would be unsound.
use graph_runtime::{Device, Result, cuda_graph};

// A graph stays where it is while its memory is lent.
cuda_graph! {
    graph GraphMovedWhileLent {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn graph_moved_while_lent() -> Result<()> {
    let mut graph = GraphMovedWhileLent::build(&Device::any()?)?;
    let mut data = graph.data_mut()?;
    let moved = Box::new(graph);
    data.copy_from(&[1.0; 4])?;
    moved.synchronize()
}

// Lent device memory does not outlive the graph that owns it.
cuda_graph! {
    graph LentPastADrop {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn lent_past_a_drop() -> Result<()> {
    let mut graph = LentPastADrop::build(&Device::any()?)?;
    let mut data = graph.data_mut()?;
    drop(graph);
    data.copy_from(&[1.0; 4])?;
    Ok(())
}

fn main() {}
