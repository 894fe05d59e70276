//! The CUDA driver: one `unsafe fn` for each call, returning [`CudaError`] instead of a code. Nothing else calls CUDA.
//!
//! Each function asks of its caller what CUDA asks (<https://docs.nvidia.com/cuda/cuda-driver-api/>): handles are live
//! and of one context; pointers are valid for the call and, if work is queued, until that has run; a context is current
//! if CUDA needs one. Before any other call, [`context::is_present`] must have returned true: without the library,
//! calls panic.

pub(crate) mod attribute;
pub(crate) mod edge;
pub(crate) mod log;
pub(crate) mod conditional;
pub(crate) mod graph;
pub(crate) mod host;
pub(crate) mod event;
pub(crate) mod stream;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod context;
pub(crate) mod mode;
pub(crate) mod nvrtc;
mod call;

pub(crate) use call::error;
pub(crate) use conditional::{ConditionalHandle, ConditionalType};
pub(crate) use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUgraphNode, CUmodule, CUstream, CUstreamCaptureStatus,
};
pub(crate) use graph::{KernelNodeParams, MemcpyNodeParams, MemsetNodeParams};
pub(crate) use mode::{RelaxedCapture, StrictCapture};
pub(crate) use nvrtc::{NvrtcError, NvrtcProgram};
