//! A generator that does not advance.
use graph_runtime::cuda_graph;
use ui_tests::noisy;

cuda_graph! {
    graph Test {
        rng noise = 42, draws 0;
        device data: [f32; 4];
        kernel draw = noisy<<<1, 4>>>(&noise, &mut data);
    }
}

fn main() {}
