//! CUDA devices.

mod add;
mod attribute;
mod build;
mod capture;
mod child;
mod conditional;
mod context;
mod delay;
mod event;
mod executable;
mod failure;
mod fill;
mod host;
mod kept;
mod kernels;
mod library;
mod memory;
mod memory_nodes;
mod programmatic;
mod renew;
mod shared;
mod skip;

pub(crate) use capture::Session;
pub(crate) use context::{Cuda, refuse_in_host_function};
pub(crate) use event::Event;
pub(crate) use executable::{Executable, launch_error};
pub use memory::CudarcSlice;
pub(crate) use memory::Memory;
