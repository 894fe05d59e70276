//! The host looks at an array through a copy.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::emulator())?;
    graph.launch()?;
    drop(graph.to()?);
    Ok(())
}
