//! Memory that `memory_mut` lends has the visibility of the statement that declares it.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Test {
            pub(self) host input: [f32; 4];
            device data: [f32; 4];
            memcpy upload = input -> data;
        }
    }
}

fn main() {
    let mut graph = graphs::Test::build(&graph_runtime::Device::emulator()).unwrap();
    graph.memory_mut().unwrap().input.fill(1.0);
}
