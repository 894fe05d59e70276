//! Memory that is used while a scope lends it.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Fill(numbers: mut host [f32; 4]) {
        device data: [f32; 4];
        memset set  = data <- 1.0;
        memcpy down = data -> numbers after set;
    }
}

fn fill(device: &Device, graph: &mut Fill) -> Result<[f32; 4]> {
    let mut numbers = [0.0; 4];
    device.scope(|scope| {
        graph.rebind_numbers(scope.lend(&mut numbers)?)?;
        graph.launch()?;
        numbers[0] = 2.0;
        Ok(())
    })?;
    Ok(numbers)
}

fn main() {}
