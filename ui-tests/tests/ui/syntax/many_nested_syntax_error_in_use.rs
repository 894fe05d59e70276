//! A syntax error inside brackets costs its statement only: the rest is checked, and users of the graph get no errors.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device rows: [[f32; 4], 4];
        kernel fill = write<<<1, 4>>>(&mut 4);
        memset zero = rows[1, 2] <- 0.0;
        memset one = dtaa <- 1.0;
    }
}

fn main() -> Result<()> {
    let mut graph = Test::build(&Device::any()?)?;
    graph.launch()?;
    graph.one().set_enabled(false)
}
