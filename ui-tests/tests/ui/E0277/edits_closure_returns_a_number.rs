//! The closure of an edit returns nothing, or a `Result`.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param  value: f32 = 1.0;
        memset set = data <- value;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::emulator())?;
    graph.edit(|e| e.value())
}
