//! The functions of CUDA's runtime library, libcudart, that are called, as its header `cuda_runtime_api.h` declares
//! them. `xtask/cudart.cpp` compares them with the headers of CUDA 12 and 13.
//!
//! Two functions changed in CUDA 13 without a new name: see [`RENAMED`].

use super::{CopyNode, HostNode, KernelNode};
use crate::driver::conditional::NodeParams;
use crate::driver::edge::EdgeData;
use crate::driver::graph::{InstantiateParams, MemsetNodeParams, UpdateInfo};
use crate::driver::library::functions;
use crate::driver::search::{Wanted, search};
use crate::driver::{CUevent, CUgraph, CUgraphExec, CUgraphNode, CUstream, context};
use crate::error::CudaError;
use cudarc::driver::sys;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::OnceLock;

functions! {
    NAMES;
    find: find, fail: error, error: CudaError, bindings: sys -> sys::CUresult;
    newer:
    fn cudaGraphAddChildGraphNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        child: CUgraph,
    );
    fn cudaGraphAddEmptyNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize);
    fn cudaGraphAddEventRecordNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        event: CUevent,
    );
    fn cudaGraphAddEventWaitNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        event: CUevent,
    );
    fn cudaGraphAddHostNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const HostNode,
    );
    fn cudaGraphAddKernelNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const KernelNode,
    );
    fn cudaGraphAddMemcpyNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const CopyNode,
    );
    fn cudaGraphAddMemsetNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const MemsetNodeParams,
    );
    fn cudaGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph);
    fn cudaGraphCreate(graph: *mut CUgraph, flags: c_uint);
    fn cudaGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);
    fn cudaGraphDestroy(graph: CUgraph);
    fn cudaGraphExecDestroy(exec: CUgraphExec);
    fn cudaGraphExecHostNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const HostNode);
    fn cudaGraphExecKernelNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const KernelNode);
    fn cudaGraphExecMemcpyNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const CopyNode);
    fn cudaGraphExecMemsetNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const MemsetNodeParams);
    fn cudaGraphExecUpdate(exec: CUgraphExec, graph: CUgraph, info: *mut UpdateInfo);
    fn cudaGraphInstantiateWithParams(exec: *mut CUgraphExec, graph: CUgraph, params: *mut InstantiateParams);
    fn cudaGraphKernelNodeSetAttribute(
        node: CUgraphNode,
        attribute: sys::CUkernelNodeAttrID,
        value: *const sys::CUkernelNodeAttrValue,
    );
    fn cudaGraphLaunch(exec: CUgraphExec, stream: CUstream);
    fn cudaGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const CopyNode);
    fn cudaGraphMemsetNodeSetParams(node: CUgraphNode, params: *const MemsetNodeParams);
    fn cudaGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint);
    fn cudaGraphUpload(exec: CUgraphExec, stream: CUstream);
    fn cudaGraphAddDependencies(
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        data: *const EdgeData,
        count: usize,
    );
    fn cudaGraphAddNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        data: *const EdgeData,
        count: usize,
        params: *mut NodeParams,
    );
    fn cudaGraphConditionalHandleCreate(handle: *mut u64, graph: CUgraph, default: c_uint, flags: c_uint);
}

/// The functions that have no data of edges in CUDA 12. There, the ones that have it end in `_v2`, from 12.3 on.
const RENAMED: [&str; 2] = ["cudaGraphAddDependencies", "cudaGraphAddNode"];
/// The first CUDA version in which [`RENAMED`] have data of edges.
const EDGE_DATA: u32 = 13_000;
/// The functions that every version has that is accepted here: all but the last three.
const ALWAYS: &[&str] = NAMES.split_at(NAMES.len() - 3).0;
/// The oldest CUDA version whose `cudaGraphAddKernelNode` takes kernels that the driver has loaded (`cudaKernel_t`).
const MIN_VERSION: u32 = 12_010;

/// The library and its version.
struct Runtime {
    library: Library,
    version: u32,
}

/// The library, which is searched and loaded at the first call, and never unloaded. The error says what was tried: a
/// sentence each.
fn library() -> Result<&'static Runtime, &'static [String]> {
    static LIBRARY: OnceLock<Result<Runtime, Vec<String>>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        let library = search(&CUDART)?;
        let version = version(&library).unwrap_or(MIN_VERSION);
        Ok(Runtime { library, version })
    });
    found.as_ref().map_err(Vec::as_slice)
}

/// The newest version that the driver may run comes first.
const CUDART: Wanted = Wanted {
    names: if cfg!(windows) {
        &["cudart64_13.dll", "cudart64_12.dll"]
    } else {
        &["libcudart.so.13", "libcudart.so.12", "libcudart.so"]
    },
    file: if cfg!(windows) {
        ("cudart64_", ".dll")
    } else {
        ("libcudart.so", "")
    },
    wheel: "nvidia/cuda_runtime/lib",
    functions: ALWAYS,
    check,
};

/// Refuses a library that is too old, or whose major version is newer than the driver's.
fn check(library: &Library) -> Result<(), String> {
    let text = |version: u32| format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    let version = version(library).ok_or("does not tell its version")?;
    if version < MIN_VERSION {
        return Err(format!(
            "is too old: it is of {}, but {} is needed",
            text(version),
            text(MIN_VERSION)
        ));
    }
    // SAFETY: devices are opened before graphs are built, so the driver's library is loaded.
    let driver = unsafe { context::driver_version() }.map_err(|error| format!("cannot be compared: {error}"))?;
    if version / 1000 > driver / 1000 {
        return Err(format!(
            "is of {}, but the driver is of {}",
            text(version),
            text(driver)
        ));
    }
    Ok(())
}

/// `cudaRuntimeGetVersion` of a library: 1000 x major + 10 x minor.
fn version(library: &Library) -> Option<u32> {
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> u32>(b"cudaRuntimeGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: `version` is valid for the write; the call needs no device.
    let code = unsafe { get(&mut version) };
    u32::try_from(version).ok().filter(|_| code == 0)
}

/// Refuses to go on without the library. The error says what was tried: a sentence each.
pub(crate) fn present() -> Result<(), &'static [String]> {
    library().map(drop)
}

/// Looks a function up in the library; `None` if there is no library, or it has no function of that name and of the
/// type that is declared here.
///
/// # Safety
///
/// The function, or before CUDA 13 the one of that name and `_v2` if it is one of [`RENAMED`], has type `F`.
unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let Runtime { library, version } = library().ok()?;
    let symbol = match RENAMED.contains(&name) && *version < EDGE_DATA {
        true => format!("{name}_v2"),
        false => name.to_owned(),
    };
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(symbol.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

/// The error of a failed call, with CUDA's own name for its code.
///
/// The runtime remembers the error of each thread's last call, for whoever asks. This one is known now, and is
/// forgotten: code of the user would take it for its own.
#[cold]
fn error(call: &'static str, code: u32) -> CudaError {
    type GetLastError = unsafe extern "C" fn() -> u32;
    static FORGET: OnceLock<Option<GetLastError>> = OnceLock::new();
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    if let Some(forget) = *FORGET.get_or_init(|| unsafe { find("cudaGetLastError") }) {
        // SAFETY: it takes nothing, and asks nothing of its caller.
        unsafe { forget() };
    }
    let name = name(code).unwrap_or("unknown error");
    CudaError { call, name, code }
}

/// `cudaGetErrorName`: CUDA's name for a code. It is not among the functions above, since it returns no code.
fn name(code: u32) -> Option<&'static str> {
    type GetErrorName = unsafe extern "C" fn(u32) -> *const c_char;
    static FOUND: OnceLock<Option<GetErrorName>> = OnceLock::new();
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = (*FOUND.get_or_init(|| unsafe { find("cudaGetErrorName") }))?;
    // SAFETY: CUDA takes any number.
    let name = unsafe { get(code) };
    if name.is_null() {
        return None;
    }
    // SAFETY: CUDA points to a NUL-terminated string in the library, which is never unloaded.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    name.starts_with("cudaError").then_some(name)
}

/// Makes one call of the runtime. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what CUDA asks of the
        // arguments passed through; out-parameters point to locals.
        unsafe { $crate::driver::runtime::functions::$function($($argument),*) }
    };
}
pub(super) use call;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_all_but_the_newest() {
        assert_eq!(ALWAYS.last(), Some(&"cudaGraphUpload"));
        assert!(
            RENAMED
                .iter()
                .all(|name| NAMES.contains(name) && !ALWAYS.contains(name))
        );
    }
}
