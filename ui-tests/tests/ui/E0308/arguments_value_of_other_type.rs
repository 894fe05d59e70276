//! A value that is passed to `build` has the type that the graph declares.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(value: f32) {
        device data: [f32; 4];
        memset fill = data <- value;
    }
}

fn main() -> graph_runtime::Result<()> {
    Test::build(&Device::emulator(), 1)?.launch()
}
