//! Mistakes of the code `shape-mismatch`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::weigh;

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

// Memory whose length the child takes as a build argument has its elements.
cuda_graph! {
    graph Clear(n: usize) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
    graph Parent {
        device data: [f64; 32];
        graph step = Clear(data: &mut data, n: 32);
    }
}

// The elements need no more alignment than the PTX gives.
cuda_graph! {
    graph OtherAlignment {
        device   data:  [f32; 4];
        constant table: [f64; 2] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

// The shape has the size that the PTX declares.
cuda_graph! {
    graph OtherSize {
        device   data:  [f32; 4];
        constant table: [f32; 64] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

// Shapes of captured memory are compared by type.
fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc::<[f32; 4]>()?, device.alloc::<[f32; 8]>()?);
    let mut graph = cuda_graph! { device =>
        memcpy copy = from -> to;
    }?;
    graph.launch()?;
    Ok(())
}

// Lengths that are constants are compared by rustc.
const SMALL: usize = 4;
const LARGE: usize = 8;

cuda_graph! {
    graph CopyChangesConstLength {
        host input: [f32; SMALL];
        device data: [f32; LARGE];
        memcpy upload = input -> data;
    }
}

// Ranges between constants have a length, too.
const MID: usize = 3;

cuda_graph! {
    graph CopyChangesConstRange {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input[..MID] -> data;
    }
}

// Lengths that are generic have to be the same one.
cuda_graph! {
    graph CopyChangesGenericLength<const N: usize, const M: usize> {
        host input: [f32; N];
        device data: [f32; M];
        memcpy upload = input -> data;
    }
}

// Lengths that only rustc knows.
const LOW: usize = 3;

cuda_graph! {
    graph CopyChangesConstColumns {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 8]; 8];
        memcpy up = input[..][..LOW] -> data[..][LOW..];
    }
}

// A column and a row have one shape, other columns another.
cuda_graph! {
    graph CopyOfColumnToRow {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 8]; 8];
        memcpy right = input[..][0] -> data[3][..];
        memcpy wrong = input[..][0..1] -> data[4] after right;
    }
}

// What is passed has as many dimensions as the graph declares.
cuda_graph! {
    graph ArgumentOfOtherDimensions(n: usize, d: usize, w: mut device [[f32; d]; n]) {
        memset clear = w <- 0.0;
    }
}

fn argument_of_other_dimensions() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_table::<f32, 3>([2, 3, 4])?;
    ArgumentOfOtherDimensions::build(&device, 2, 3, &w)?.launch()
}

// A child's table takes memory of as many dimensions.
cuda_graph! {
    graph ChildOfOtherDimensionsClear(n: usize, d: usize) {
        device data: [[f32; d]; n];
        memset clear = data <- 0.0;
    }
    graph ChildOfOtherDimensions {
        device data: [f32; 32];
        graph step = ChildOfOtherDimensionsClear(data: &mut data, n: 4, d: 8);
    }
}

// Locals are compared by name.
fn expression_changes_range_run(device: &Device, n: usize, d: usize) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        memcpy upload = input[..n - 1] -> data;
    }?;
    graph.launch()
}

fn expression_changes_range() {
    let _: fn(&Device, usize, usize) -> Result<()> = expression_changes_range_run;
}

// Two graphs take a group whose length is a build argument of one.
mod group_of_two {
    use graph_runtime::*;

    #[allow(non_upper_case_globals)]
    const d: usize = 4;

    cuda_graph! {
        group Layer { q: mut device [f32; d] }
        graph One(d: usize, layers: [Layer; 2]) {
            memset set = layers[0].q <- 1.0;
        }
        graph Two(layers: [Layer; 2]) {
            memset set = layers[0].q <- 1.0;
        }
    }
}

fn main() {}
