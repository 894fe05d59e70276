use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Noise {
        param  seed: u64 = 42;
        rng    noise = seed, draws 4;
        device data: [f32; 64];
        kernel draw = noisy<<<1, 64>>>(&noise, &mut data);
    }
}

fn main() {}
