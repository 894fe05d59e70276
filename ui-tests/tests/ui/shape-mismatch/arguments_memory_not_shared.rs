//! A `HostBuffer` is unique until it is shared, so no reference to it is an argument.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(out: mut host [f32; 4]) {
        device zeros: [f32; 4];
        memcpy clear = zeros -> out;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let out = device.alloc_host::<[f32; 4]>()?;
    Test::build(&device, &out)?.launch()
}
