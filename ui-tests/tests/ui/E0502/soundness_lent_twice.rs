//! Memory is lent once for writing; `memory_mut` lends all of it, split.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        host output: [f32; 4];
        memcpy upload = input -> data;
        memcpy download = data -> output after upload;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let input = graph.input_mut()?;
    let output = graph.output()?;
    input.copy_from_slice(output);
    Ok(())
}
