//! Lent memory does not outlive the graph that owns it.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn main() -> Result<()> {
    let input = {
        let graph = Test::build(&Device::any()?)?;
        graph.input()?
    };
    println!("{input:?}");
    Ok(())
}
