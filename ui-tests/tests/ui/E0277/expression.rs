//! Mistakes in graphs as expressions.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{scaled, write};

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
struct Scale(f32);

fn param_not_clone(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param scale: Scale = Scale(1.0);
        memset set = data <- scale.0;
    }?;
    graph.launch()
}

fn main() {}
