use graph_runtime::cuda_graph;

cuda_graph! {
    graph Noise {
        rng    noise = 42, draws 4;
        host   state: graph_runtime::Philox;
        memcpy download = noise -> state;
    }
}

fn main() {}
