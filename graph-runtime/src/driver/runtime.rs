//! CUDA's runtime library, libcudart: one `unsafe fn` for each call that builds or launches a graph, with the name and
//! the arguments of the driver's beside which it stands ([`GraphApi`](super::api::GraphApi) chooses).
//!
//! Handles of graphs, nodes, streams and events are the driver's: each library takes those of the other
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__DRIVER.html>). Kernels are not: the runtime takes a
//! `CUkernel`, which [`interop`](super::interop) loads, and no `CUfunction`. Where the driver's calls are told a
//! context, the runtime uses the current one, so each of these functions also asks its caller for that (D11 of
//! `docs/safety.md`).

mod functions;

use self::functions::call;
use super::attribute::NodeAttribute;
use super::conditional::{ConditionalHandle, ConditionalType, NodeParams};
use super::copy::{Copy3d, CopySide};
use super::edge::programmatic;
use super::graph::{InstantiateError, InstantiateParams, KernelNodeParams, MemsetNodeParams, UpdateError, UpdateInfo};
use super::{CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUkernel, CUstream, graph};
use crate::error::CudaError;
use std::ffi::{CStr, c_void};
use std::ptr;

#[cfg(feature = "fault-injection")]
pub(super) use functions::NAMES;
pub(crate) use functions::present;

/// `struct cudaKernelNodeParams`
#[repr(C)]
struct KernelNode {
    kernel: CUkernel,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
}

impl KernelNode {
    /// `None` if the runtime does not take the kernel.
    fn new(params: &KernelNodeParams) -> Option<Self> {
        takes(params.kern).then_some(Self {
            kernel: params.kern,
            grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
            block: [params.blockDimX, params.blockDimY, params.blockDimZ],
            shared: params.sharedMemBytes,
            arguments: params.kernelParams,
            extra: params.extra,
        })
    }
}

/// Whether the runtime takes a kernel, of which this is the handle for it: null for functions that others have loaded.
pub(crate) fn takes(kernel: CUkernel) -> bool {
    !kernel.is_null()
}

/// `struct cudaPitchedPtr`
#[repr(C)]
struct PitchedPointer {
    pointer: *mut c_void,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `struct cudaMemcpy3DParms`
#[repr(C)]
struct CopyNode {
    from_array: *mut c_void,
    from_position: [usize; 3],
    from: PitchedPointer,
    to_array: *mut c_void,
    to_position: [usize; 3],
    to: PitchedPointer,
    /// Width, height, depth. The width is in bytes or, if an array takes part, in its texels.
    extent: [usize; 3],
    /// `enum cudaMemcpyKind`
    kind: u32,
}

impl CopyNode {
    fn new(copy: &Copy3d) -> Self {
        let [width, height, depth] = copy.sides;
        let (mut has_array, null) = (false, ptr::null_mut());
        // The array, the pointer with its pitch, and whether that is the host's.
        let mut parts = |side: CopySide| match side {
            CopySide::Host(pointer, pitch) => (null, pointer, pitch, 1),
            CopySide::Device(address, pitch) => (null, ptr::without_provenance_mut(address as usize), pitch, 0),
            CopySide::Array(array) => {
                has_array = true;
                (array.cast(), null, 0, 0)
            }
        };
        let (from_array, from, from_pitch, from_host) = parts(copy.from);
        let (to_array, to, to_pitch, to_host) = parts(copy.to);
        let width = if has_array { width / copy.texel } else { width };
        let side = |pointer, pitch| PitchedPointer {
            pointer,
            pitch,
            width,
            height,
        };
        Self {
            from_array,
            from_position: [0; 3],
            from: side(from, from_pitch),
            to_array,
            to_position: [0; 3],
            to: side(to, to_pitch),
            extent: [width, height, depth],
            // 0: host to host, 1: host to device, 2: device to host, 3: device to device.
            kind: 3 - 2 * from_host - to_host,
        }
    }
}

/// `struct cudaHostNodeParams`
#[repr(C)]
struct HostNode {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

/// `cudaGraphCreate`
pub(crate) unsafe fn create() -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cudaGraphCreate(&mut graph, 0))?;
    Ok(graph)
}

/// `cudaGraphDestroy`
pub(crate) unsafe fn destroy(graph: CUgraph) -> Result<(), CudaError> {
    call!(cudaGraphDestroy(graph))
}

/// `cudaGraphAddKernelNode`; the driver's call for a kernel that the runtime does not take
pub(crate) unsafe fn add_kernel_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    params: &KernelNodeParams,
) -> Result<CUgraphNode, CudaError> {
    let Some(params) = KernelNode::new(params) else {
        // SAFETY: by the caller's promise.
        return unsafe { graph::add_kernel_node(graph, after, params) };
    };
    let mut node = ptr::null_mut();
    call!(cudaGraphAddKernelNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &params
    ))?;
    Ok(node)
}

/// `cudaGraphAddMemcpyNode`
pub(crate) unsafe fn add_memcpy_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    copy: &Copy3d,
    _context: CUcontext,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddMemcpyNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &CopyNode::new(copy)
    ))?;
    Ok(node)
}

/// `cudaGraphAddMemsetNode`; `struct cudaMemsetParams` is the driver's
pub(crate) unsafe fn add_memset_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    params: &MemsetNodeParams,
    _context: CUcontext,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddMemsetNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        params
    ))?;
    Ok(node)
}

/// `cudaGraphAddEmptyNode`
pub(crate) unsafe fn add_empty_node(graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()))?;
    Ok(node)
}

/// `cudaGraphAddChildGraphNode`: the node has a copy of `child`
pub(crate) unsafe fn add_child_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    child: CUgraph,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddChildGraphNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        child
    ))?;
    Ok(node)
}

/// `cudaGraphChildGraphNodeGetGraph`
pub(crate) unsafe fn child(node: CUgraphNode) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cudaGraphChildGraphNodeGetGraph(node, &mut graph))?;
    Ok(graph)
}

/// `cudaGraphAddHostNode`
pub(crate) unsafe fn add_host_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddHostNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &HostNode { function, data }
    ))?;
    Ok(node)
}

/// `cudaGraphAddEventRecordNode`
pub(crate) unsafe fn add_record_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    event: CUevent,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddEventRecordNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        event
    ))?;
    Ok(node)
}

/// `cudaGraphAddEventWaitNode`
pub(crate) unsafe fn add_wait_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    event: CUevent,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cudaGraphAddEventWaitNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        event
    ))?;
    Ok(node)
}

/// `cudaGraphConditionalHandleCreate`, without a default value
pub(crate) unsafe fn create_handle(graph: CUgraph, _context: CUcontext) -> Result<ConditionalHandle, CudaError> {
    let mut handle = 0;
    call!(cudaGraphConditionalHandleCreate(&mut handle, graph, 0, 0))?;
    Ok(handle)
}

/// `cudaGraphAddNode` of a conditional node with `size` bodies, which it returns. `struct cudaGraphNodeParams` is the
/// driver's, but has no context
pub(crate) unsafe fn add_conditional_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    handle: ConditionalHandle,
    kind: ConditionalType,
    size: usize,
    _context: CUcontext,
) -> Result<(CUgraphNode, Vec<CUgraph>), CudaError> {
    let mut params = NodeParams::new(handle, kind, size, ptr::null_mut());
    let mut node = ptr::null_mut();
    call!(cudaGraphAddNode(
        &mut node,
        graph,
        after.as_ptr(),
        ptr::null(), // no edge data: plain edges
        after.len(),
        &mut params
    ))?;
    // SAFETY: the call has succeeded.
    Ok((node, unsafe { params.bodies() }))
}

/// `cudaGraphAddDependencies` of programmatic edges from each of `before` to `node`
pub(crate) unsafe fn add_programmatic(
    graph: CUgraph,
    before: &[CUgraphNode],
    node: CUgraphNode,
) -> Result<(), CudaError> {
    let (to, data) = programmatic(before, node);
    call!(cudaGraphAddDependencies(
        graph,
        before.as_ptr(),
        to.as_ptr(),
        data.as_ptr(),
        before.len()
    ))
}

/// `cudaGraphKernelNodeSetAttribute`: the attributes and their values are the driver's
pub(crate) unsafe fn set_attribute(node: CUgraphNode, attribute: NodeAttribute) -> Result<(), CudaError> {
    let (attribute, value) = attribute.parts();
    call!(cudaGraphKernelNodeSetAttribute(node, attribute, &value))
}

/// `cudaGraphInstantiateWithParams`
pub(crate) unsafe fn instantiate(graph: CUgraph, flags: u64) -> Result<CUgraphExec, InstantiateError> {
    let mut exec = ptr::null_mut();
    let mut params = InstantiateParams::new(flags);
    match call!(cudaGraphInstantiateWithParams(&mut exec, graph, &mut params)) {
        Ok(()) => Ok(exec),
        Err(error) => Err(params.failed(error)),
    }
}

/// `cudaGraphExecUpdate`: later launches of `exec` run the nodes of `graph`, which has the same shape
pub(crate) unsafe fn update(exec: CUgraphExec, graph: CUgraph) -> Result<(), UpdateError> {
    let mut info = UpdateInfo::new();
    call!(cudaGraphExecUpdate(exec, graph, &mut info)).map_err(|error| info.failed(error))
}

/// `cudaGraphExecDestroy`
pub(crate) unsafe fn destroy_executable(exec: CUgraphExec) -> Result<(), CudaError> {
    call!(cudaGraphExecDestroy(exec))
}

/// `cudaGraphDebugDotPrint`; the flags are the driver's
pub(crate) unsafe fn print(graph: CUgraph, path: &CStr, flags: u32) -> Result<(), CudaError> {
    call!(cudaGraphDebugDotPrint(graph, path.as_ptr(), flags))
}

/// `cudaGraphUpload`
pub(crate) unsafe fn upload(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError> {
    call!(cudaGraphUpload(exec, stream))
}

/// `cudaGraphLaunch`
#[inline]
pub(crate) unsafe fn launch(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError> {
    call!(cudaGraphLaunch(exec, stream))
}

/// `cudaGraphExecKernelNodeSetParams`; the driver's call for a kernel that the runtime does not take
pub(crate) unsafe fn set_kernel_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: &KernelNodeParams,
) -> Result<(), CudaError> {
    match KernelNode::new(params) {
        Some(params) => call!(cudaGraphExecKernelNodeSetParams(exec, node, &params)),
        // SAFETY: by the caller's promise.
        None => unsafe { graph::set_kernel_node(exec, node, params) },
    }
}

/// `cudaGraphExecMemsetNodeSetParams`
pub(crate) unsafe fn set_memset_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: &MemsetNodeParams,
    _context: CUcontext,
) -> Result<(), CudaError> {
    call!(cudaGraphExecMemsetNodeSetParams(exec, node, params))
}

/// `cudaGraphExecMemcpyNodeSetParams`
pub(crate) unsafe fn set_memcpy_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    copy: &Copy3d,
    _context: CUcontext,
) -> Result<(), CudaError> {
    call!(cudaGraphExecMemcpyNodeSetParams(exec, node, &CopyNode::new(copy)))
}

/// `cudaGraphExecHostNodeSetParams`
pub(crate) unsafe fn set_host_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<(), CudaError> {
    call!(cudaGraphExecHostNodeSetParams(exec, node, &HostNode { function, data }))
}

/// `cudaGraphMemsetNodeSetParams`: changes the graph itself, not an executable one
pub(crate) unsafe fn move_memset_node(node: CUgraphNode, params: &MemsetNodeParams) -> Result<(), CudaError> {
    call!(cudaGraphMemsetNodeSetParams(node, params))
}

/// `cudaGraphMemcpyNodeSetParams`: changes the graph itself, not an executable one
pub(crate) unsafe fn move_memcpy_node(node: CUgraphNode, copy: &Copy3d) -> Result<(), CudaError> {
    call!(cudaGraphMemcpyNodeSetParams(node, &CopyNode::new(copy)))
}

/// `cudaGraphNodeSetEnabled`
pub(crate) unsafe fn set_node_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: bool) -> Result<(), CudaError> {
    call!(cudaGraphNodeSetEnabled(exec, node, u32::from(enabled)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// `xtask/cudart.cpp` has the same numbers, and compares them with CUDA's headers.
    #[test]
    fn structs_are_those_of_the_header() {
        assert_eq!(size_of::<KernelNode>(), 56);
        assert_eq!(offset_of!(KernelNode, grid), 8);
        assert_eq!(offset_of!(KernelNode, block), 20);
        assert_eq!(offset_of!(KernelNode, shared), 32);
        assert_eq!(offset_of!(KernelNode, arguments), 40);
        assert_eq!(offset_of!(KernelNode, extra), 48);
        assert_eq!(size_of::<CopyNode>(), 160);
        assert_eq!(offset_of!(CopyNode, from_position), 8);
        assert_eq!(offset_of!(CopyNode, from), 32);
        assert_eq!(offset_of!(CopyNode, to_array), 64);
        assert_eq!(offset_of!(CopyNode, to_position), 72);
        assert_eq!(offset_of!(CopyNode, to), 96);
        assert_eq!(offset_of!(CopyNode, extent), 128);
        assert_eq!(offset_of!(CopyNode, kind), 152);
        assert_eq!(offset_of!(PitchedPointer, pitch), 8);
        assert_eq!(offset_of!(PitchedPointer, width), 16);
        assert_eq!(offset_of!(PitchedPointer, height), 24);
        assert_eq!(size_of::<HostNode>(), 16);
        assert_eq!(offset_of!(HostNode, data), 8);
        assert_eq!(size_of::<MemsetNodeParams>(), 40);
        assert_eq!(offset_of!(MemsetNodeParams, value), 16);
        assert_eq!(offset_of!(MemsetNodeParams, elementSize), 20);
        assert_eq!(offset_of!(MemsetNodeParams, width), 24);
        assert_eq!(size_of::<InstantiateParams>(), 32);
        assert_eq!(size_of::<UpdateInfo>(), 24);
    }
}
