//! The parser goes on after a mistake.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        host output [f32; 4];
        device data: [f32; 4];
        memset set = data <- ;
        memcpy down = data -> output after set;
    }?;
    graph.launch()?;
    println!("{:?}", graph.data()?.read()?);
    Ok(())
}

fn main() {}
