//! Mistakes of the code `unknown-resource`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{weigh, write};

// All mistakes are reported, each once.
cuda_graph! {
    graph MistakesInAllBodies {
        device flag: u32;
        device number: u32;
        device data: [f32; 4];
        if maybe = flag {
            memset one = dat <- 1.0;
        } else {
            while repeat = number {
                kernel two = write<<<1, 0>>>(&mut data);
            };
        } after never;
    }
}

// The variable is in the module of a kernel of the graph.
cuda_graph! {
    graph Missing {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "tables";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

// A variable is in the module of a kernel, so a graph without kernels has none.
cuda_graph! {
    graph MissingKernels {
        constant table: [f32; 4] = "table";
        memset clear = table <- 0.0;
    }
}

// A local that is captured is memory.
fn run(device: &Device) -> Result<()> {
    let input = [0.0_f32; 4];
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memcpy copy = input -> data;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
