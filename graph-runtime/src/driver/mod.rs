//! The CUDA driver: one `unsafe fn` for each call, returning [`CudaError`] instead of a code. Nothing else calls CUDA.
//! `runtime` has those of CUDA's runtime library, and `api` chooses between the two.
//!
//! Each function asks of its caller what CUDA asks (<https://docs.nvidia.com/cuda/cuda-driver-api/>): handles are live
//! and of one context; pointers are valid for the call and, if work is queued, until that has run; a context is current
//! if CUDA needs one. A library that is absent, or lacks a function, is an error.
//!
//! Codes and enums that the driver returns or writes are integers here: `library` says why.

pub(crate) mod api;
#[cfg(feature = "cudart")]
pub(crate) mod runtime;
pub(crate) mod loaded;
#[cfg(feature = "cudart")]
pub(crate) mod interop;
pub(crate) mod attribute;
pub(crate) mod edge;
pub(crate) mod log;
pub(crate) mod conditional;
pub(crate) mod graph;
pub(crate) mod host;
pub(crate) mod event;
pub(crate) mod stream;
pub(crate) mod memory;
pub(crate) mod virtual_memory;
pub(crate) mod module;
pub(crate) mod texture;
pub(crate) mod copy;
pub(crate) mod array;
pub(crate) mod context;
pub(crate) mod mode;
pub(crate) mod nvrtc;
mod functions;
mod search;
mod library;
#[cfg(feature = "fault-injection")]
pub(crate) mod faults;

pub(crate) use api::GraphApi;
pub(crate) use attribute::NodeAttribute;
pub(crate) use conditional::{ConditionalHandle, ConditionalType};
#[cfg(feature = "cudart")]
use cudarc::driver::sys::CUlibrary;
pub(crate) use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUgraphNode, CUkernel, CUmodule, CUstream,
};
pub(crate) use functions::error;
pub(crate) use graph::{KernelNodeParams, MemsetNodeParams};
pub(crate) use library::MISSING;
pub(crate) use loaded::{KernelHandle, LoadedModule};
pub(crate) use mode::{CaptureRules, RelaxedCapture};
pub(crate) use nvrtc::{NvrtcError, NvrtcProgram};
pub(crate) use search::cache_folder;
pub(crate) use stream::CaptureStatus;

/// The names of all functions of the driver that this crate calls.
#[cfg(feature = "fault-injection")]
pub fn names() -> Vec<&'static str> {
    let mut names = functions::NAMES.to_vec();
    names.push("cuGetErrorName");
    names.extend([interop::NAMES, runtime::NAMES].concat());
    names
}
