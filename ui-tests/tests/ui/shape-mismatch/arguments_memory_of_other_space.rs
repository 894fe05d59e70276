//! Device memory is no host memory.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(w: mut device [f32; 4]) {
        memset clear = w <- 0.0;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_host::<[f32; 4]>()?.share();
    Test::build(&device, &w)?.launch()
}
