use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Noise(seed: u64) {
        rng    noise = seed, draws 4;
        device data: [[f32; 64]; 3];
        for i in 0..3 {
            kernel draw = noisy<<<1, 64>>>(&noise, &mut data[i]);
        }
    }
}

fn reseed(graph: &mut Noise) -> graph_runtime::Result<()> {
    graph.noise().reseed(7)
}

pub(crate) fn main() {
    let _ = reseed;
}
