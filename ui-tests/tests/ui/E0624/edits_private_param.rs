//! An edit offers what the graph offers: statements keep their visibility.
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

fn main() -> graph_runtime::Result<()> {
    let mut step = training::Step::build(&graph_runtime::Device::emulator())?;
    step.edit(|e| {
        e.set_value(2.0)?;
        e.clear().set_enabled(false)
    })
}
