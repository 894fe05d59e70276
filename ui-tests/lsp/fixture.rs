//! The crate that the cases of `cases.py` are put into, at the marks.

use graph_runtime::{Device, HostBuffer, cuda_graph};

/// Kernels.
pub mod kernels {
    use graph_runtime::cuda_kernels;

    #[cuda_kernels("kernels/forward_backward.ptx")]
    unsafe extern "C" {
        /// Doubles every element.
        #[requires(threads <= data.len())]
        pub safe fn kernel_forward(data: &mut [f32]);
        /// Halves every element.
        #[requires(threads <= data.len())]
        pub safe fn kernel_backward(data: &mut [f32]);
    }
}
use kernels::{kernel_backward, kernel_forward};

/// Settings.
pub struct Config {
    /// How many rows.
    pub rows: usize,
    /// How fast.
    pub rate: f32,
}

/// The settings.
pub const CONFIG: Config = Config { rows: 4, rate: 0.5 };

cuda_graph! {
    /// Upload, double, halve, download.
    pub graph Sample<const N: usize>(count: usize) {
        /// What goes in.
        host   input:  [f32; N];
        device data:   [f32; N];
        host   output: [f32; N];
        #[allow(unused_resource)]
        device flag:   u32;
        #[allow(unused_resource)]
        device rest:   [f32; count];
        #[allow(unused_resource)]
        param  scale:  f32 = 1.0;
        //@before
        memcpy upload   = input -> data;
        kernel forward  = kernel_forward<<<1, N>>>(&mut data)  after upload;
        kernel backward = kernel_backward<<<1, N>>>(&mut data) after forward;
        memcpy download = data -> output                       after backward;
        //@here
        join   done after download;
        //@behind
    }
}

/// Uses the type.
pub fn run(device: &Device) -> graph_runtime::Result<()> {
    let mut graph = Sample::<64>::build(device, 8)?;
    graph.launch()?;
    //@main
    Ok(())
}

/// A graph where it stands, of locals.
pub fn anonymous(device: &Device, source: HostBuffer<[f32; 64]>, settings: &Config) -> graph_runtime::Result<()> {
    let speed = settings.rate;
    let mut graph = cuda_graph! { device =>
        device values: [f32; 64];
        #[allow(unused_resource)]
        param  level: f32 = speed;
        //@first
        memcpy load = source -> values;
        //@inside
        kernel twice = kernel_forward<<<1, 64>>>(&mut values) after load;
        //@last
    }?;
    graph.launch()?;
    //@end
    Ok(())
}
