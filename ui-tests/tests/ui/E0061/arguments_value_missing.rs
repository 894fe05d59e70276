//! All arguments are passed, in the order in which they are declared.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(value: f32, n: usize) {
        device data: [f32; n];
        memset fill = data <- value;
    }
}

fn main() -> graph_runtime::Result<()> {
    Test::build(&Device::emulator(), 1.0)?.launch()
}
