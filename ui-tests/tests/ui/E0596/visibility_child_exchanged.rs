//! The handles of a child are not exchanged with those of another graph, whose nodes are visible elsewhere.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device data: [f32; 4];
            pub(self) memset zero = data <- 0.0;
        }
    }
}

graph_runtime::cuda_graph! {
    graph Twin {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
    graph Outer {
        device data: [f32; 4];
        graph step = graphs::Step(data: &mut data);
    }
    graph Other {
        device data: [f32; 4];
        graph twin = Twin(data: &mut data);
    }
}

fn main() {
    let device = graph_runtime::Device::emulator();
    let (mut outer, mut other) = (Outer::build(&device).unwrap(), Other::build(&device).unwrap());
    std::mem::swap(&mut *outer.step(), &mut *other.twin());
}
