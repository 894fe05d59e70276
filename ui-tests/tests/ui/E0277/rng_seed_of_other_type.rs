use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Noise {
        rng    noise = "seven", draws 4;
        device data: [f32; 64];
        kernel draw = noisy<<<1, 64>>>(&noise, &mut data);
    }
}

fn main() {}
