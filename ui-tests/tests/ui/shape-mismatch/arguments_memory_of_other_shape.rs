//! Memory that is passed to `build` has the shape that the graph declares.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(w: mut device [[f32; 4]; 4]) {
        memset clear = w <- 0.0;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc::<[f32; 16]>()?;
    Test::build(&device, &w)?.launch()
}
