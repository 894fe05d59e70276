//! Each statement may have a visibility of its own, also in bodies, in a `for` and in an expression.
#![deny(warnings, clippy::all, unreachable_pub)]

pub mod outer {
    pub mod inner {
        use graph_runtime::{Device, Result, cuda_graph};

        cuda_graph! {
            #[allow(redundant_edge)]
            pub graph Test(weights: device [f32; 4]) {
                /// Documented.
                #[allow(unused_resource)]
                pub(crate) host input: [f32; 4];
                pub(in crate::visibility_of_statements::outer) device data: [f32; 4];
                pub(super) device go: u32;
                pub(self) rng noise = 42, draws 1;
                scratch own: [f32; 4];
                pub param public: f32 = 1.0;
                pub(self) param hidden: f32 = 1.0;
                pub(crate) memcpy upload = input -> data;
                pub(self) memset fill = own <- public * hidden after upload;
                memcpy over = own -> data after fill;
                pub(in super::super) if maybe = go {
                    pub(self) join inside;
                    for i in 0..2 { pub memset each = data[i] <- 1.0 after inside; }
                } after over;
                pub kernel draw = ui_tests::noisy<<<1, 4>>>(&noise, &mut data) after maybe;
                memcpy weigh = weights -> data after draw;
            }
        }

        pub fn all(device: &Device) -> Result<()> {
            let mut graph = Test::build(device, &device.alloc::<[f32; 4]>()?)?;
            graph.set_hidden(2.0)?;
            graph.fill().set_enabled(true)?;
            graph.noise().reseed(1)?;
            graph.launch()
        }
    }

    pub fn from_outer(graph: &mut inner::Test) -> graph_runtime::Result<()> {
        graph.go()?;
        graph.data_mut()?;
        Ok(())
    }
}

pub(crate) fn main() -> graph_runtime::Result<()> {
    let device = graph_runtime::Device::emulator();
    outer::inner::all(&device)?;
    let mut graph = outer::inner::Test::build(&device, &device.alloc::<[f32; 4]>()?)?;
    graph.set_public(3.0)?;
    graph.memory_mut()?.input.fill(1.0);
    graph.upload().set_enabled(false)?;
    graph.maybe().name();
    graph.each(1).name();
    graph.over().name();
    graph.draw().name();
    graph.weights()?;
    outer::from_outer(&mut graph)?;
    graph.rebind_weights(&device.alloc::<[f32; 4]>()?)?;

    let mut local = graph_runtime::cuda_graph! { &device =>
        pub(self) host   output: [f32; 4];
        pub(crate) device data:  [f32; 4];
        pub param  value: f32 = 1.0;
        memset set = data <- value;
        pub(in self) memcpy down = data -> output after set;
    }?;
    local.set_value(2.0)?;
    local.launch()?;
    local.data()?;
    local.down().name();
    local.memory_mut()?.output[0] += 0.0;
    assert_eq!(local.output()?, &[2.0; 4]);
    Ok(())
}
