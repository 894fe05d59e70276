//! Mistakes of graphs as a whole that rustc reports as E0277.
use graph_runtime::{Device, Result, Rows, Table, cuda_graph};
use std::sync::Arc;
use ui_tests::{scaled, write};

// A value that a setter needs again is kept, and cloned for it.
cuda_graph! {
    graph ValueNotClone(scale: Scale) {
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value * scale.0;
    }
}

struct Scale(f32);

// The closure of an edit returns nothing, or a `Result`.
cuda_graph! {
    graph ClosureReturnsANumber {
        device data: [f32; 4];
        param  value: f32 = 1.0;
        memset set = data <- value;
    }
}

fn closure_returns_a_number() -> Result<()> {
    let mut graph = ClosureReturnsANumber::build(&Device::emulator())?;
    graph.edit(|e| e.value())
}

// The elements of captured memory are known by its type.
fn captured_of_other_element(device: &Device) -> Result<()> {
    let data = device.alloc::<[u32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        kernel k = write<<<1, 4>>>(&mut data);
    }?;
    graph.launch()?;
    Ok(())
}

// Mistakes of types in nodes that params change are rustc's own, once.
fn kernel_argument_of_other_type(device: &Device, n: f64) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param rate: f32 = 1.0;
        kernel k = scaled<<<1, 4>>>(&mut data, rate, n);
    }?;
    graph.launch()
}

// A setter copies params, so they are `Clone`.
struct ExpressionScale(f32);

fn param_not_clone(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param scale: ExpressionScale = ExpressionScale(1.0);
        memset set = data <- scale.0;
    }?;
    graph.launch()
}

// Users cannot implement `Rows`: references into memory rely on what a place's type says of its parts.
struct Bytes([u8; 9]);

impl Rows for Bytes {
    type Row = u64;
    type Several = [u64];
    type Exactly<const LEN: usize> = [u64; LEN];
    type Stack = Table<u64>;
    type StackOf<const COLUMNS: usize> = [[u64; COLUMNS]];
    type StackExactly<const PARTS: usize, const COLUMNS: usize> = [[u64; COLUMNS]; PARTS];
}

// A graph may move to another thread, but threads share none.
cuda_graph! {
    graph ShareAGraph {
        device data: [f32; 4];
        memset fill = data <- 1.0;
    }
}

fn share_a_graph() -> graph_runtime::Result<()> {
    let graph = Arc::new(ShareAGraph::build(&Device::emulator())?);
    std::thread::spawn(move || graph.data().is_ok());
    Ok(())
}

fn main() {}
