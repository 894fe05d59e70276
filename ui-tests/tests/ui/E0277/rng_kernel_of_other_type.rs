use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Noise {
        rng    noise = 42, draws 4;
        device data: [f32; 64];
        kernel draw = read<<<1, 4>>>(&noise, &mut data);
    }
}

fn main() {}
