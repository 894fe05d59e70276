//! Lent device memory does not outlive the graph that owns it.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let mut data = graph.data_mut()?;
    drop(graph);
    data.copy_from(&[1.0; 4])?;
    Ok(())
}
