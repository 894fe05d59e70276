//! Mistakes with arguments of a graph.
use graph_runtime::{Device, cuda_graph};

// A `HostBuffer` is unique until it is shared, so no reference to it is an argument.
cuda_graph! {
    graph MemoryNotShared(out: mut host [f32; 4]) {
        device zeros: [f32; 4];
        memcpy clear = zeros -> out;
    }
}

fn memory_not_shared() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let out = device.alloc_host::<[f32; 4]>()?;
    MemoryNotShared::build(&device, &out)?.launch()
}

// Memory that is passed to `build` has the shape that the graph declares.
cuda_graph! {
    graph MemoryOfOtherShape(w: mut device [[f32; 4]; 4]) {
        memset clear = w <- 0.0;
    }
}

fn memory_of_other_shape() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc::<[f32; 16]>()?;
    MemoryOfOtherShape::build(&device, &w)?.launch()
}

// Device memory is no host memory.
cuda_graph! {
    graph MemoryOfOtherSpace(w: mut device [f32; 4]) {
        memset clear = w <- 0.0;
    }
}

fn memory_of_other_space() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_host::<[f32; 4]>()?.share();
    MemoryOfOtherSpace::build(&device, &w)?.launch()
}

fn main() {}
