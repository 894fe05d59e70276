//! Mistakes that rustc reports as E0624.

// An edit offers what the graph offers: statements keep their visibility.
mod training {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device weights: [f32; 64];
            pub(self) param value: f32 = 1.0;

            pub(self) memset clear = weights <- value;
        }
    }
}

fn private_param() -> graph_runtime::Result<()> {
    let mut step = training::Step::build(&graph_runtime::Device::emulator())?;
    step.edit(|e| {
        e.set_value(2.0)?;
        e.clear().set_enabled(false)
    })
}

// The handles of a child's nodes have the visibility of their statements.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph ChildHandlePrivateStep {
            device data: [f32; 4];
            pub(self) memset zero = data <- 0.0;
            memset one = data <- 1.0 after zero;
        }
    }
}

graph_runtime::cuda_graph! {
    graph Outer {
        device data: [f32; 4];
        graph step = graphs::ChildHandlePrivateStep(data: &mut data);
    }
}

fn child_handle_private() {
    let mut graph = Outer::build(&graph_runtime::Device::emulator()).unwrap();
    graph.step().one().set_enabled(false).unwrap();
    graph.step().zero().set_enabled(false).unwrap();
}

// A node's handle has the visibility of its statement.
mod handle_graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph HandlePrivate {
            device data: [f32; 4];
            for i in 0..4 {
                pub(self) memset zero = data[i] <- 0.0;
            }
        }
    }
}

fn handle_private() {
    let mut graph = handle_graphs::HandlePrivate::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.zero(3).name();
}

// Both accessors of memory have the visibility of its statement.
mod memory_mut_graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph MemoryMutPrivate {
            pub(self) device data: [f32; 4];
            memset zero = data <- 0.0;
        }
    }
}

fn memory_mut_private() {
    let mut graph = memory_mut_graphs::MemoryMutPrivate::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.data_mut();
}

// Accessors of memory have the visibility of its statement.
mod memory_graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph MemoryPrivate {
            pub(self) device data: [f32; 4];
            memset zero = data <- 0.0;
        }
    }
}

fn memory_private() {
    let mut graph = memory_graphs::MemoryPrivate::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.data();
}

// Params are set where their statement is visible.
mod setter_graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph SetterPrivate {
            device data: [f32; 4];
            pub(self) param value: f32 = 1.0;
            memset zero = data <- value;
        }
    }
}

fn setter_private() {
    let mut graph = setter_graphs::SetterPrivate::build(&graph_runtime::Device::emulator()).unwrap();
    let _ = graph.set_value(2.0);
}

fn main() {}
