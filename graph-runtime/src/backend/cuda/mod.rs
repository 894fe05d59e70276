//! CUDA devices.

mod add;
mod build;
mod conditional;
mod context;
mod delay;
mod event;
mod executable;
mod fill;
mod kernels;

pub use context::CudarcSlice;
pub(crate) use context::{Cuda, Memory};
pub(crate) use event::Event;
pub(crate) use executable::{Executable, launch_error};
