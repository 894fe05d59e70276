//! A node's handle has the visibility of its statement.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Test {
            device data: [f32; 4];
            for i in 0..4 {
                pub(self) memset zero = data[i] <- 0.0;
            }
        }
    }
}

fn main() {
    let mut graph = graphs::Test::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.zero(3).name();
}
