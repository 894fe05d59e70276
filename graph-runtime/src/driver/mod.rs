//! The CUDA driver: one `unsafe fn` for each call, returning [`CudaError`](crate::error::CudaError) instead of a code.
//! Nothing else calls CUDA, or tools that watch it (`nvtx`). A call is a row in a table: `calls`. The calls that CUDA's
//! runtime library has, too, are rows of `graph_api`.
//!
//! Each function asks of its caller what CUDA asks (<https://docs.nvidia.com/cuda/cuda-driver-api/>): handles are live
//! and of one context; pointers are valid for the call and, if work is queued, until that has run; a context is current
//! if CUDA needs one. A library that is absent, or lacks a function, is an error.
//!
//! Codes and enums that the driver returns or writes are integers here: `calls` says why.

pub(crate) mod adding;
pub(crate) mod graph_api;
#[cfg(feature = "cudart")]
mod runtime_structs;
#[cfg(feature = "cudart")]
pub(crate) mod runtime_library;
pub(crate) mod loaded_module;
#[cfg(feature = "cudart")]
pub(crate) mod interop;
pub(crate) mod node_attribute;
pub(crate) mod reading;
pub(crate) mod read_node;
mod edge;
pub(crate) mod driver_log;
pub(crate) mod nvtx;
mod conditional_node;
pub(crate) mod graph;
pub(crate) mod host_function;
#[cfg(feature = "cudarc")]
pub(crate) mod cudarc_objects;
#[cfg(not(feature = "cudarc"))]
pub(crate) mod own_objects;
pub(crate) mod event;
pub(crate) mod stream;
pub(crate) mod allocation;
pub(crate) mod virtual_memory;
pub(crate) mod module;
pub(crate) mod texel_object;
pub(crate) mod cuda_array;
pub(crate) mod copy;
pub(crate) mod context;
pub(crate) mod peer_access;
#[cfg(any(feature = "cudart", not(feature = "cudarc")))]
mod primary_context;
mod capture_mode;
pub(crate) mod nccl;
pub(crate) mod nvrtc;
mod error;
mod library;
mod search;
mod calls;
pub(crate) mod types;
#[cfg(feature = "fault-injection")]
pub(crate) mod faults;

pub(crate) use calls::MISSING;
pub(crate) use capture_mode::{CaptureRules, RelaxedCapture};
pub(crate) use conditional_node::{ConditionalHandle, ConditionalType};
#[cfg(feature = "cudarc")]
pub(crate) use cudarc_objects as objects;
pub(crate) use edge::EdgeData;
pub(crate) use error::error;
pub(crate) use graph::{KernelNodeParams, MemsetNodeParams};
pub(crate) use graph_api::GraphApi;
pub(crate) use loaded_module::{KernelHandle, LoadedModule};
pub(crate) use node_attribute::NodeAttribute;
pub(crate) use nvrtc::{NvrtcError, NvrtcProgram};
pub(crate) use objects::{CudaContext, CudaEvent, CudaFunction, CudaStream};
#[cfg(not(feature = "cudarc"))]
pub(crate) use own_objects as objects;
pub(crate) use search::cache_folder;
pub(crate) use stream::CaptureStatus;
use types::CUkernel;
#[cfg(feature = "cudart")]
use types::CUlibrary;
pub(crate) use types::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUgraphNode, CUmodule, CUstream, CUstreamCaptureMode,
};

/// The names of all functions of the driver and of the runtime that this crate calls with one device.
#[cfg(feature = "fault-injection")]
pub fn names() -> Vec<&'static str> {
    let lists = [
        graph_api::NAMES,
        interop::NAMES,
        node_attribute::NAMES,
        driver_log::NAMES,
        graph::NAMES,
        host_function::NAMES,
        event::NAMES,
        stream::NAMES,
        allocation::NAMES,
        virtual_memory::NAMES,
        module::NAMES,
        texel_object::NAMES,
        cuda_array::NAMES,
        context::NAMES,
        primary_context::NAMES,
        capture_mode::NAMES,
        &["cuGetErrorName"],
    ];
    lists.concat()
}
