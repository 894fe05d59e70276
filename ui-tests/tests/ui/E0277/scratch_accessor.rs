//! Scratch memory has no accessors: there is nothing in it between launches.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        memset fill = tmp <- 1.0;
        memcpy keep = tmp -> out after fill;
    }
}

fn main() -> graph_runtime::Result<()> {
    let mut graph = Test::build(&Device::emulator())?;
    graph.launch()?;
    graph.tmp()?;
    Ok(())
}
