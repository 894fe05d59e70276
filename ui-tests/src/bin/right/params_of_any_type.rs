//! A `param` is of any type that is `Clone`: only what its uses make of it reaches the device.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param name: String = "unnamed".to_owned();
        param weights: Vec<f32> = vec![0.5; 4];
        memset fill = data <- name.len() as f32;
        kernel scale = scaled<<<1, 4>>>(&mut data, weights.iter().sum(), weights.len() as u32) after fill;
    }
}

fn update(graph: &mut Test) -> Result<()> {
    let mut weights = graph.weights();
    weights.truncate(2);
    graph.set_weights(weights)?;
    graph.set_name(graph.name() + "!")
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Test> = Test::build;
    let _: fn(&mut Test) -> Result<()> = update;
}
