//! A graph stays where it is while its memory is lent.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let mut data = graph.data_mut()?;
    let moved = Box::new(graph);
    data.copy_from(&[1.0; 4])?;
    moved.synchronize()
}
