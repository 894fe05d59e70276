//! The handles of a child's nodes have the visibility of their statements.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device data: [f32; 4];
            pub(self) memset zero = data <- 0.0;
            memset one = data <- 1.0 after zero;
        }
    }
}

graph_runtime::cuda_graph! {
    graph Outer {
        device data: [f32; 4];
        graph step = graphs::Step(data: &mut data);
    }
}

fn main() {
    let mut graph = Outer::build(&graph_runtime::Device::emulator()).unwrap();
    graph.step().one().set_enabled(false).unwrap();
    graph.step().zero().set_enabled(false).unwrap();
}
