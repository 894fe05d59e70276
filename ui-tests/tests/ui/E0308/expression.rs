//! Mistakes in graphs as expressions.
use graph_runtime::{Device, Result, cuda_graph};

// A memset of captured memory sets elements of its type.
fn captured_set_to_other_type(device: &Device) -> Result<()> {
    let data = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        memset clear = data <- 0.0_f64;
    }?;
    graph.launch()?;
    Ok(())
}

// The expression before `=>` is a reference to a device.
fn device_is_none(device: Device) -> Result<()> {
    cuda_graph! { device => join start; }?.launch()
}

// The initial value of a param has its type.
fn param_initial_of_other_type(device: &Device, n: u32) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = n;
        memset set = data <- value;
    }?;
    graph.launch()
}

// A setter takes the type of its param.
fn param_misused(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = 0.0;
        memset set = data <- value;
    }?;
    graph.set_value(1)?;
    graph.launch()?;
    Ok(())
}

fn main() {}
