//! A graph on the emulator, declared and built call by call.

use graph_runtime::{Device, GraphBuilder, cuda_graph};

cuda_graph! {
    graph Halves {
        host   result: [f32; 4];
        device data: [f32; 4];
        memset clear = data <- 0.5;
        memcpy down  = data -> result after clear;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let mut graph = Halves::build(&device)?;
    graph.launch()?;
    assert_eq!(graph.result()?, &[0.5; 4]);

    let mut builder = GraphBuilder::new(&device, "Ones");
    let mut data = builder.device::<[u32; 4]>("data");
    builder.memset("ones", &mut data, 1_u32);
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [1; 4]);
    assert!(graph.raw().is_none());
    Ok(())
}
