//! Mistakes of the code `wrong-memory`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

// A kernel takes device memory.
fn run(device: &Device) -> Result<()> {
    let data = device.alloc_host::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        kernel k = write<<<1, 4>>>(&mut data);
    }?;
    graph.launch()?;
    Ok(())
}

// CUDA sets device memory.
cuda_graph! {
    graph MemsetOfHost {
        host data: [[f32; 8]; 8];
        memset clear = data[..][1..3] <- 0.0;
    }
}

fn main() {}
