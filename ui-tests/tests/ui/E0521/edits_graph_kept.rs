//! The closure of an edit cannot keep the graph, so that no change is requested after it has returned.
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
    let mut kept = None;
    graph.edit(|e| {
        kept = Some(e.set());
    })?;
    drop(kept);
    graph.launch()
}
