use graph_runtime::cuda_graph;

cuda_graph! {
    graph Noise {
        rng    noise = 42, draws 4;
        device noise: [f32; 64];
    }
}

fn main() {}
