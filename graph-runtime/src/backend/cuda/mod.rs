//! CUDA devices.

mod add;
mod build;
mod conditional;
mod context;
mod delay;
mod executable;
mod fill;
mod kernels;

pub use context::CudarcSlice;
pub(crate) use context::{Cuda, Memory};
pub(crate) use executable::{Executable, launch_error};
