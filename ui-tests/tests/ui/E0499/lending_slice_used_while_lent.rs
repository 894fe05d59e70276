//! A slice of cudarc's that is written while a scope lends it.
use graph_runtime::cudarc::driver::{CudaSlice, CudaStream};
use graph_runtime::{Device, Graph, OnDevice, Place, Result};
use std::sync::Arc;

fn launch(
    device: &Device,
    stream: &Arc<CudaStream>,
    graph: &mut Graph,
    place: &Place<[f32], OnDevice>,
    slice: &mut CudaSlice<f32>,
) -> Result<()> {
    device.scope(|scope| {
        graph.rebind(place, &scope.lend(&mut *slice)?)?;
        graph.launch()?;
        stream.memset_zeros(slice).expect("it is set");
        Ok(())
    })
}

fn main() {}
