//! The handle of a node takes the number of its iteration.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset fill = data[i] <- 0.0;
        }
    }
}

fn main() -> graph_runtime::Result<()> {
    let mut graph = Test::build(&graph_runtime::Device::emulator())?;
    graph.fill().set_enabled(false)
}
