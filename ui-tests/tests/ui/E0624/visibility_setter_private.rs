//! Params are set where their statement is visible.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Test {
            device data: [f32; 4];
            pub(self) param value: f32 = 1.0;
            memset zero = data <- value;
        }
    }
}

fn main() {
    let mut graph = graphs::Test::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.set_value(2.0);
}
