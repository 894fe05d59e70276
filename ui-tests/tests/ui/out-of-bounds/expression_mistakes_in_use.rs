//! A graph with mistakes has the type of a right one, so that its uses give no further errors.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

fn run(device: &Device, n: usize, factor: f32) -> Result<()> {
    let buffer = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        host output: [f32; 4];
        device data: [f32; n];
        param value: f32 = factor;
        memset set = data[4..2] <- value;
        kernel k = write<<<1, 0>>>(&mut data) after st;
        memcpy down = buffer -> output after k;
    }?;
    graph.set_value(2.0 * graph.value())?;
    graph.launch()?;
    graph.k().set_enabled(false)?;
    let output: &[f32; 4] = graph.output()?;
    println!("{output:?} {:?}", graph.data()?.read_vec()?);
    println!("{:?}", graph.into_parts()?.buffer.read()?);
    Ok(())
}

fn main() {}
