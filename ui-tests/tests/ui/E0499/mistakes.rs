//! Mistakes that rustc reports as E0499.
use graph_runtime::cudarc::driver::{CudaSlice, CudaStream};
use graph_runtime::{Device, Graph, OnDevice, Place, Result, cuda_graph};
use std::sync::Arc;

// Memory that a graph lends borrows the graph, even if the graph has captured it.
fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc_host::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    let mut graph = cuda_graph! { device => memcpy up = from -> to; }?;
    let numbers = graph.from_mut()?;
    graph.launch()?;
    numbers.fill(1.0);
    Ok(())
}

// A slice of cudarc's that is written while a scope lends it.
fn launch(
    device: &Device,
    stream: &Arc<CudaStream>,
    graph: &mut Graph,
    place: &Place<[f32], OnDevice>,
    slice: &mut CudaSlice<f32>,
) -> Result<()> {
    device.scope(|scope| {
        graph.rebind(place, &scope.lend(&mut *slice)?)?;
        graph.launch()?;
        stream.memset_zeros(slice).expect("it is set");
        Ok(())
    })
}

// The handle of a node borrows the graph.
cuda_graph! {
    graph HandleKeptPastALaunch {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn handle_kept_past_a_launch() -> Result<()> {
    let mut graph = HandleKeptPastALaunch::build(&Device::any()?)?;
    let mut zero = graph.zero();
    graph.launch()?;
    zero.set_enabled(false)
}

// The memory that `memory_mut` lends borrows the graph, like memory that is lent alone.
cuda_graph! {
    graph LaunchWhileAllIsLent {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn launch_while_all_is_lent() -> Result<()> {
    let mut graph = LaunchWhileAllIsLent::build(&Device::any()?)?;
    let memory = graph.memory_mut()?;
    graph.launch()?;
    memory.input[0] = 1.0;
    Ok(())
}

// Device memory is lent like host memory.
cuda_graph! {
    graph LaunchWhileDeviceIsLent {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn launch_while_device_is_lent() -> Result<()> {
    let mut graph = LaunchWhileDeviceIsLent::build(&Device::any()?)?;
    let mut data = graph.data_mut()?;
    graph.launch()?;
    data.copy_from(&[1.0; 4])?;
    Ok(())
}

// While memory is lent for writing, nothing can be launched that may read it.
cuda_graph! {
    graph LaunchWhileLentToWrite {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn launch_while_lent_to_write() -> Result<()> {
    let mut graph = LaunchWhileLentToWrite::build(&Device::any()?)?;
    let input = graph.input_mut()?;
    graph.launch()?;
    input[0] = 1.0;
    Ok(())
}

// A graph is not launched while a view of its memory lives.
cuda_graph! {
    graph TablesLentWhileLaunched(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        memcpy upload = input -> data;
    }
}

fn tables_lent_while_launched() -> Result<()> {
    let mut graph = TablesLentWhileLaunched::build(&Device::any()?, 2, 3)?;
    let row = graph.input_mut()?;
    graph.launch()?;
    assert_eq!(row.as_flattened()[0], 0.0);
    Ok(())
}

fn main() {}
