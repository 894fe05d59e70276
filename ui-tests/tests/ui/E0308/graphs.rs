//! Mistakes of graphs as a whole that rustc reports as E0308.
use graph_runtime::private::{Only, ParamGraph};
use graph_runtime::{Device, Graph, Result, Update, cuda_graph};

// A length is a `usize`.
cuda_graph! {
    graph LengthNotUsize(n: u32) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
}

// A value that is passed to `build` has the type that the graph declares.
cuda_graph! {
    graph ValueOfOtherType(value: f32) {
        device data: [f32; 4];
        memset fill = data <- value;
    }
}

fn value_of_other_type() -> graph_runtime::Result<()> {
    ValueOfOtherType::build(&Device::emulator(), 1)?.launch()
}

// Only the runtime gets the graph inside: with all of it, code outside could reach every node.
mod training {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Step {
            device weights: [f32; 64];
            param value: f32 = 1.0;

            pub(self) memset clear = weights <- value;
        }
    }
}

/// Hands on the right that it gets for its own graph.
struct Disguise(training::Step);

impl ParamGraph for Disguise {
    fn graph(&self, only: Only<Self>) -> &Graph {
        self.0.graph(only)
    }

    fn graph_mut(&mut self, _: Only<Self>) -> &mut Graph {
        self.0.graph_mut(Only(std::marker::PhantomData))
    }

    fn change(&self, _: &mut Update<'_>, _: usize) -> Result<()> {
        Ok(())
    }
}

// A memset of captured memory sets elements of its type.
fn captured_set_to_other_type(device: &Device) -> Result<()> {
    let data = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        memset clear = data <- 0.0_f64;
    }?;
    graph.launch()?;
    Ok(())
}

// The expression before `=>` is a reference to a device.
fn device_is_none(device: Device) -> Result<()> {
    cuda_graph! { device => join start; }?.launch()
}

// The initial value of a param has its type.
fn param_initial_of_other_type(device: &Device, n: u32) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = n;
        memset set = data <- value;
    }?;
    graph.launch()
}

// A setter takes the type of its param.
fn param_misused(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = 0.0;
        memset set = data <- value;
    }?;
    graph.set_value(1)?;
    graph.launch()?;
    Ok(())
}

fn main() {}
