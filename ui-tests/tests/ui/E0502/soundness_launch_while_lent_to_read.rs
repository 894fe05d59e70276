//! While memory is lent for reading, nothing can be launched that may write it.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        host output: [f32; 4];
        memcpy download = data -> output;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let output = graph.output()?;
    graph.launch()?;
    println!("{output:?}");
    Ok(())
}
