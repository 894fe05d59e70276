//! The handle of a node borrows the graph.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let mut zero = graph.zero();
    graph.launch()?;
    zero.set_enabled(false)
}
