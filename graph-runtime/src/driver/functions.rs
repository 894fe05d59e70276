//! The functions of the CUDA driver that are called, as its header declares them. If the library lacks one, calling it
//! is an error (`CUDA_ERROR_NOT_SUPPORTED`).

use super::library::functions;
use super::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUgraphNode, CUmodule, CUstream,
};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::OnceLock;

functions! {
    #[cfg(any(test, feature = "fault-injection"))]
    NAMES;
    find: find, fail: error, error: CudaError, bindings: sys -> sys::CUresult;
    fn cuArray3DCreate_v2(array: *mut sys::CUarray, descriptor: *const sys::CUDA_ARRAY3D_DESCRIPTOR);
    fn cuArrayDestroy(array: sys::CUarray);
    fn cuCtxGetCurrent(context: *mut CUcontext);
    fn cuCtxGetStreamPriorityRange(least_priority: *mut c_int, greatest_priority: *mut c_int);
    fn cuCtxSetCurrent(context: CUcontext);
    fn cuCtxSynchronize();
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventDestroy_v2(event: CUevent);
    fn cuEventQuery(event: CUevent);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuEventSynchronize(event: CUevent);
    fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
    fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    fn cuGraphAddChildGraphNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        child: CUgraph,
    );
    fn cuGraphAddEmptyNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize);
    fn cuGraphAddEventRecordNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        event: CUevent,
    );
    fn cuGraphAddEventWaitNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        event: CUevent,
    );
    fn cuGraphAddHostNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const sys::CUDA_HOST_NODE_PARAMS,
    );
    fn cuGraphAddKernelNode_v2(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const sys::CUDA_KERNEL_NODE_PARAMS,
    );
    fn cuGraphAddMemcpyNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const sys::CUDA_MEMCPY3D,
        context: CUcontext,
    );
    fn cuGraphAddMemsetNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const sys::CUDA_MEMSET_NODE_PARAMS,
        context: CUcontext,
    );
    fn cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph);
    fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint);
    fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);
    fn cuGraphDestroy(graph: CUgraph);
    fn cuGraphExecDestroy(exec: CUgraphExec);
    fn cuGraphExecHostNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const sys::CUDA_HOST_NODE_PARAMS);
    fn cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec,
        node: CUgraphNode,
        params: *const sys::CUDA_KERNEL_NODE_PARAMS,
    );
    fn cuGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec,
        node: CUgraphNode,
        params: *const sys::CUDA_MEMCPY3D,
        context: CUcontext,
    );
    fn cuGraphExecMemsetNodeSetParams(
        exec: CUgraphExec,
        node: CUgraphNode,
        params: *const sys::CUDA_MEMSET_NODE_PARAMS,
        context: CUcontext,
    );
    fn cuGraphExecUpdate_v2(
        exec: CUgraphExec,
        graph: CUgraph,
        info: *mut c_void as *mut sys::CUgraphExecUpdateResultInfo,
    );
    fn cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    fn cuGraphInstantiateWithParams(
        exec: *mut CUgraphExec,
        graph: CUgraph,
        params: *mut c_void as *mut sys::CUDA_GRAPH_INSTANTIATE_PARAMS,
    );
    fn cuGraphKernelNodeSetAttribute(
        node: CUgraphNode,
        attribute: sys::CUkernelNodeAttrID,
        value: *const sys::CUkernelNodeAttrValue,
    );
    fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
    fn cuGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const sys::CUDA_MEMCPY3D);
    fn cuGraphMemsetNodeSetParams(node: CUgraphNode, params: *const sys::CUDA_MEMSET_NODE_PARAMS);
    fn cuGraphNodeGetType(node: CUgraphNode, kind: *mut u32 as *mut sys::CUgraphNodeType);
    fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint);
    fn cuGraphUpload(exec: CUgraphExec, stream: CUstream);
    fn cuInit(flags: c_uint);
    fn cuLaunchHostFunc(stream: CUstream, function: sys::CUhostFn, data: *mut c_void);
    fn cuMemAddressFree(address: CUdeviceptr, bytes: usize);
    fn cuMemAddressReserve(
        address: *mut CUdeviceptr,
        bytes: usize,
        alignment: usize,
        wanted: CUdeviceptr,
        flags: c_ulonglong,
    );
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
    fn cuMemCreate(
        handle: *mut sys::CUmemGenericAllocationHandle,
        bytes: usize,
        properties: *const c_void as *const sys::CUmemAllocationProp,
        flags: c_ulonglong,
    );
    fn cuMemFreeHost(pointer: *mut c_void);
    fn cuMemFree_v2(address: CUdeviceptr);
    fn cuMemGetAllocationGranularity(
        granularity: *mut usize,
        properties: *const c_void as *const sys::CUmemAllocationProp,
        option: u32 as sys::CUmemAllocationGranularity_flags,
    );
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemHostUnregister(pointer: *mut c_void);
    fn cuMemMap(
        address: CUdeviceptr,
        bytes: usize,
        offset: usize,
        handle: sys::CUmemGenericAllocationHandle,
        flags: c_ulonglong,
    );
    fn cuMemRelease(handle: sys::CUmemGenericAllocationHandle);
    fn cuMemSetAccess(
        address: CUdeviceptr,
        bytes: usize,
        access: *const c_void as *const sys::CUmemAccessDesc,
        count: usize,
    );
    fn cuMemUnmap(address: CUdeviceptr, bytes: usize);
    fn cuMemcpy3DAsync_v2(params: *const sys::CUDA_MEMCPY3D, stream: CUstream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    fn cuMemsetD8Async(to: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuModuleGetGlobal_v2(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        count: c_uint,
        options: *mut u32 as *mut sys::CUjit_option,
        values: *mut *mut c_void,
    );
    fn cuModuleUnload(module: CUmodule);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: CUfunction,
        threads: c_int,
        shared: usize,
    );
    fn cuStreamBeginCapture_v2(stream: CUstream, mode: u32 as sys::CUstreamCaptureMode);
    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    fn cuStreamDestroy_v2(stream: CUstream);
    fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
    fn cuStreamGetId(stream: CUstream, stream_id: *mut c_ulonglong);
    fn cuStreamIsCapturing(stream: CUstream, capture_status: *mut u32 as *mut sys::CUstreamCaptureStatus);
    fn cuStreamQuery(stream: CUstream);
    fn cuStreamSynchronize(stream: CUstream);
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    fn cuSurfObjectCreate(surface: *mut sys::CUsurfObject, resource: *const sys::CUDA_RESOURCE_DESC);
    fn cuSurfObjectDestroy(surface: sys::CUsurfObject);
    fn cuTexObjectCreate(
        texture: *mut sys::CUtexObject,
        resource: *const sys::CUDA_RESOURCE_DESC,
        description: *const sys::CUDA_TEXTURE_DESC,
        view: *const sys::CUDA_RESOURCE_VIEW_DESC,
    );
    fn cuTexObjectDestroy(texture: sys::CUtexObject);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32 as *mut sys::CUstreamCaptureMode);
    newer:
    fn cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize);
    fn cuGraphAddDependencies_v2(
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        data: *const c_void,
        count: usize,
    );
    fn cuGraphAddNode_v2(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        data: *const c_void,
        count: usize,
        params: *mut c_void,
    );
    fn cuLaunchHostFunc_v2(
        stream: CUstream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
        sync_mode: c_uint,
    );
    fn cuLogsRegisterCallback(
        callback: unsafe extern "C" fn(*mut c_void, u32, *const c_char, usize),
        data: *mut c_void,
        handle: *mut *mut c_void,
    );
    fn cuGraphConditionalHandleCreate(
        handle: *mut u64,
        graph: CUgraph,
        context: CUcontext,
        default: c_uint,
        flags: c_uint,
    );
}

/// Whether a driver library is on this machine. Loads it at the first call.
pub(crate) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        // SAFETY: loading a library runs its initialisers; those of NVIDIA's driver are made for it.
        unsafe { sys::is_culib_present() }
    })
}

/// Looks a function up in the driver's library; `None` if there is no library, or it has no function of that name.
///
/// # Safety
///
/// The function has type `F`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    if !is_present() {
        return None;
    }
    // SAFETY: the library is present.
    let library = unsafe { sys::culib() };
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

/// The error of a failed call, with CUDA's own name for its code. A driver may know codes that no header lists: those
/// have no name.
#[cold]
pub(crate) fn error(call: &'static str, code: u32) -> CudaError {
    let name = name(code).unwrap_or("unknown error");
    CudaError { call, name, code }
}

/// `cuGetErrorName`: CUDA's name for a code. It is not among the functions above, since their errors need it.
fn name(code: u32) -> Option<&'static str> {
    type GetErrorName = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;
    static FOUND: OnceLock<Option<GetErrorName>> = OnceLock::new();
    const NAME: &str = "cuGetErrorName";
    if code == 600 {
        return Some("CUDA_ERROR_NOT_READY"); // said again and again to those who wait
    }
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = (*FOUND.get_or_init(|| unsafe { find(NAME) }))?;
    let mut name = ptr::null();
    // SAFETY: `name` is valid for the write; CUDA takes any number.
    let mut call = || unsafe { get(code, &mut name) };
    #[cfg(feature = "fault-injection")]
    let mut call = || super::faults::call(NAME, &mut call);
    if call() != 0 || name.is_null() {
        return None;
    }
    // SAFETY: on success CUDA points to a NUL-terminated string in the library, which is never unloaded.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// Makes one driver call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what CUDA asks of the
        // arguments passed through; out-parameters point to locals.
        unsafe { $crate::driver::functions::$function($($argument),*) }
    };
}
pub(super) use call;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_nobody_knows_are_errors_with_their_number() {
        let error = error("cuGraphLaunch", 123_456);
        assert_eq!(error.to_string(), "cuGraphLaunch failed: unknown error (123456)");
    }

    #[test]
    fn functions_that_the_library_lacks_are_errors() {
        // SAFETY: the type does not matter, since no library has a function of this name.
        let found = unsafe { find::<unsafe extern "C" fn() -> u32>("cuNobodyHasThis") };
        assert!(found.is_none());
    }

    #[test]
    fn every_function_is_declared_once() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
    }
}
