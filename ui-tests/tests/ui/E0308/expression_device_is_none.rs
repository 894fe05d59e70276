//! The expression before `=>` is a reference to a device.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: Device) -> Result<()> {
    cuda_graph! { device => join start; }?.launch()
}

fn main() {}
