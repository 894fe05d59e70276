//! A `param` is not changed while memory is lent: updates wait for launches, as lending does.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param value: f32 = 0.0;
        host output: [f32; 4];
        memset fill = data <- value;
        memcpy download = data -> output after fill;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    let output = graph.output()?;
    graph.set_value(1.0)?;
    println!("{output:?}");
    Ok(())
}
