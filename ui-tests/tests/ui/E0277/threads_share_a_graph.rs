//! A graph may move to another thread, but threads share none.
use graph_runtime::{Device, cuda_graph};
use std::sync::Arc;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset fill = data <- 1.0;
    }
}

fn main() -> graph_runtime::Result<()> {
    let graph = Arc::new(Test::build(&Device::emulator())?);
    std::thread::spawn(move || graph.data().is_ok());
    Ok(())
}
