//! A graph is not launched while a view of its memory lives.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        memcpy upload = input -> data;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?, 2, 3)?;
    let row = graph.input_mut()?;
    graph.launch()?;
    assert_eq!(row.as_flattened()[0], 0.0);
    Ok(())
}
