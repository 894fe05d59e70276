//! While memory is lent for writing, nothing can be launched that may read it.
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
    let input = graph.input_mut()?;
    graph.launch()?;
    input[0] = 1.0;
    Ok(())
}
