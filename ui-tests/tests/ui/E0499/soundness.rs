//! Mistakes that would be unsound.
use graph_runtime::{Device, Result, cuda_graph};

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

fn main() {}
