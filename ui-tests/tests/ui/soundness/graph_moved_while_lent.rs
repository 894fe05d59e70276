//! A graph stays where it is while its memory is lent.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() -> Result<()> {
    let graph = Test::build(&Device::any()?)?;
    let data = graph.data()?;
    let moved = Box::new(graph);
    println!("{:?}", data.read()?);
    moved.synchronize()
}
