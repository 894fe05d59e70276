//! The memory that `memory_mut` lends borrows the graph, like memory that is lent alone.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let memory = graph.memory_mut()?;
    graph.launch()?;
    memory.input[0] = 1.0;
    Ok(())
}
