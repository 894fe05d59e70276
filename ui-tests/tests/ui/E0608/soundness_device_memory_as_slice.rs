//! Device memory is copied, never dereferenced.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() -> Result<()> {
    let graph = Test::build(&Device::any()?)?;
    println!("{}", graph.data()?[0]);
    Ok(())
}
