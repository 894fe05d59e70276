//! The handles of a child's nodes have the visibility of the child.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        graph Step {
            device data: [f32; 4];
            memset zero = data <- 0.0;
        }
        pub graph Outer {
            device data: [f32; 4];
            graph step = Step(data: &mut data);
        }
    }
}

fn main() {
    let mut graph = graphs::Outer::build(&graph_runtime::Device::emulator()).unwrap();
    graph.step().zero().set_enabled(false).unwrap();
}
