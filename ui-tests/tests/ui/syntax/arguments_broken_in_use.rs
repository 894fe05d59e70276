//! A build argument that cannot be parsed is one that whoever builds the graph passes.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test(w: host [f32], n: usize) {
        device data: [f32; n];
        memcpy upload = w -> data;
    }
}

fn main() -> Result<()> {
    let device = Device::emulator();
    let w = device.alloc_host::<[f32; 4]>()?;
    Test::build(&device, w, 4)?.launch()
}
