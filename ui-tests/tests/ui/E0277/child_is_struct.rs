//! A type that is no graph.
use graph_runtime::cuda_graph;
use ui_tests::Params;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param factor: f32 = 1.0;
        graph step = Params(data: &mut data, a: factor);
    }
}

fn main() {}
