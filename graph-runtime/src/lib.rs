//! CUDA graphs as checked Rust declarations.
//!
//! A [`GraphBuilder`] declares memory, nodes and edges; what it builds is a [`Graph`] that was checked to be acyclic, race-free and
//! within its memory, and that one call launches. It runs on a [`Device`]: a CUDA device, or the CPU emulator that
//! executes the same PTX where there is none.
//!
//! ```
//! use graph_runtime::{Device, GraphBuilder};
//!
//! let device = Device::emulator();                 // or `Device::any()?`: the first CUDA device, if there is one
//! let mut builder = GraphBuilder::new(&device, "Ones");
//! let mut data = builder.device::<[[f32; 8]; 4]>("data");
//! let mut output = builder.host::<[f32; 8]>("output");
//! let ones = builder.memset("ones", &mut data, 1.0_f32);
//! let download = builder.memcpy("download", &data.row(3), &mut output);
//! builder.after(download, &[ones]);
//!
//! let mut graph = builder.build()?;
//! graph.launch()?;                                 // asynchronous
//! assert_eq!(graph.host(&output)?, &[1.0; 8]);     // waits
//! # Ok::<(), graph_runtime::Error>(())
//! ```
//!
//! # Layers
//!
//! `driver` holds the CUDA calls, one `unsafe fn` for each; `backend` makes graphs of them, or runs the nodes on the emulator; all above
//! (builder, graph, updates) does not know which. The safety argument stands once, on `backend::cuda::Executable`.

mod assert;
mod backend;
mod builder;
mod device;
mod driver;
mod error;
mod graph;
mod kernel;
mod memory;
mod mistakes;
mod node;
mod place;
mod program;
mod shape;
mod sink;
mod update;

pub use backend::CudarcSlice;
pub use builder::GraphBuilder;
pub use bytemuck;
pub use cudarc;
pub use cudarc::driver::CudaStream;
pub use device::Device;
pub use error::{CudaError, Error, Result, Site};
pub use graph::{Graph, HostSplit, RawGraph};
pub use graph_macros::{cuda_graph, cuda_kernels};
pub use graph_plan::Plan;
pub use kernel::{CallArgument, Dimensions, Kernel, KernelCall, KernelFacts, Launch, Ptx};
pub use memory::{DeviceBuffer, DeviceMut, DeviceRef, HostBuffer};
pub use node::{NodeHandle, NodeId};
pub use place::{Memory, OnDevice, OnHost, Place};
pub use shape::{ArrayOf, Element, Rows, SameShape};
pub use update::Update;

/// What expansions of the macros use besides the public items. Not part of the interface.
#[doc(hidden)]
pub mod private {
    pub use crate::assert::{check_index, check_launch, check_range, constant, distance};
    pub use crate::kernel::CallArgument;
    pub use crate::sink::NodeSink;
    pub use graph_plan as plan;
}
