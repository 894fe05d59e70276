//! Mistakes of the code `duplicate-name`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{shift, weigh};

// Two modules of the graph have a variable of this name.
cuda_graph! {
    graph TwoModules {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
        kernel l     = shift<<<1, 4>>>(&mut data) after k;
    }
}

// Graphs that are expressions have two more methods.
fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memset into_parts = data <- 0.0;
        join plan after into_parts;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
