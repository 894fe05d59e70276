//! A kernel is a type, so that a node may bear its kernel's name.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device other: [f32; 4];
        kernel write = write<<<1, 4>>>(&mut data);
        kernel read = read<<<1, 4>>>(&data, &mut other) after write;
    }
}

fn disable(graph: &mut Test) -> Result<()> {
    graph.write().set_enabled(false)?;
    graph.read().set_enabled(false)
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Test> = Test::build;
    let _: fn(&mut Test) -> Result<()> = disable;
}
