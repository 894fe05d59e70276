//! What is passed has as many dimensions as the graph declares.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(n: usize, d: usize, w: mut device [[f32; d]; n]) {
        memset clear = w <- 0.0;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_table::<f32, 3>([2, 3, 4])?;
    Test::build(&device, 2, 3, &w)?.launch()
}
