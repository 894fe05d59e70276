//! The elements of captured memory are known by its type.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

fn run(device: &Device) -> Result<()> {
    let data = device.alloc::<[u32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        kernel k = write<<<1, 4>>>(&mut data);
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
