//! Launches of literals are checked by the compiler.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        kernel k = write<<<1, 2048>>>(&mut data);
        kernel l = write<<<2, 4>>>(&mut data) after k;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
