//! A view borrows the graph, as a reference does.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        host output: [[f32; d]; n];
        memcpy upload = input -> data;
        memcpy download = data -> output after upload;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?, 2, 3)?;
    let mut input = graph.input_mut()?;
    let output = graph.output()?;
    input.row_mut(0).unwrap().copy_from_slice(&output[1]);
    Ok(())
}
