//! A graph is an item, wherever items may be; its name is not in the way of another's.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

fn first(device: &Device) -> Result<f32> {
    const N: usize = 4;
    cuda_graph! {
        graph Test {
            device data: [f32; N];
            host output: [f32; N];
            kernel fill = write<<<1, N>>>(&mut data);
            memcpy download = data -> output after fill;
        }
    }
    let mut graph = Test::build(device)?;
    graph.launch()?;
    Ok(graph.output()?[0])
}

fn second(device: &Device) -> Result<()> {
    cuda_graph! { graph Test { join start; } }
    Test::build(device)?.launch()
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<f32> = first;
    let _: fn(&Device) -> Result<()> = second;
}
