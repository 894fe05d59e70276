//! Accessors of memory have the visibility of its statement.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Test {
            pub(self) device data: [f32; 4];
            memset zero = data <- 0.0;
        }
    }
}

fn main() {
    let mut graph = graphs::Test::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.data();
}
