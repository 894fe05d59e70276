//! A graph that captures what stands around it is part of the language, but not of this version.
use graph_runtime::{Device, Result, cuda_graph};

fn build(device: &Device) -> Result<()> {
    cuda_graph! { device => join start; }
    Ok(())
}

fn main() {}
