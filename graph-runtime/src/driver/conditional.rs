//! Driver calls about conditional nodes, which came with CUDA 12.3. The driver, and cudarc's bindings, may be older.
//! So the types are declared here, and the calls are looked up in the library.

use super::call::{check, error};
use super::{CUcontext, CUgraph, CUgraphNode};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;

/// `CUgraphConditionalHandle`
pub(crate) type ConditionalHandle = u64;

/// `CUgraphConditionalNodeType`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ConditionalType {
    If = 0,
    While = 1,
    Switch = 2,
}

/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`
const CONDITIONAL: u32 = 13;

/// `CUgraphNodeParams` of a conditional node: 256 bytes.
#[repr(C)]
struct NodeParams {
    kind: u32,
    reserved0: [u32; 3],
    conditional: ConditionalNodeParams,
    rest: [u64; 25],
    reserved2: u64,
}

/// `CUDA_CONDITIONAL_NODE_PARAMS`
#[repr(C)]
struct ConditionalNodeParams {
    handle: ConditionalHandle,
    kind: ConditionalType,
    size: u32,
    graphs: *mut CUgraph,
    context: CUcontext,
}

type HandleCreate = unsafe extern "C" fn(*mut ConditionalHandle, CUgraph, CUcontext, u32, u32) -> sys::CUresult;
type AddNode = unsafe extern "C" fn(
    *mut CUgraphNode,
    CUgraph,
    *const CUgraphNode,
    *const c_void,
    usize,
    *mut NodeParams,
) -> sys::CUresult;

/// Looks a function up in the driver's library; `None` if the driver has no function of that name.
///
/// # Safety
///
/// The library is loaded, and the function has type `F`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: by the caller's promise.
    let library = unsafe { sys::culib() };
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

/// `cuGraphConditionalHandleCreate`, without a default value: a kernel must set it before its node runs
pub(crate) unsafe fn create_handle(graph: CUgraph, context: CUcontext) -> Result<ConditionalHandle, CudaError> {
    const NAME: &str = "cuGraphConditionalHandleCreate";
    // SAFETY: whoever has a graph has loaded the library; the type is that of CUDA's header.
    let Some(create) = (unsafe { find::<HandleCreate>(NAME) }) else {
        return Err(error(NAME, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED));
    };
    let mut handle = 0;
    // SAFETY: the caller promised what CUDA asks of graph and context; the out-parameter points to a local.
    check(NAME, unsafe { create(&mut handle, graph, context, 0, 0) })?;
    Ok(handle)
}

/// `cuGraphAddNode_v2` of a conditional node with `size` bodies, which it returns: graphs that belong to the node
pub(crate) unsafe fn add_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    handle: ConditionalHandle,
    kind: ConditionalType,
    size: usize,
    context: CUcontext,
) -> Result<(CUgraphNode, Vec<CUgraph>), CudaError> {
    const NAME: &str = "cuGraphAddNode_v2";
    // SAFETY: whoever has a graph has loaded the library; the type is that of CUDA's header.
    let Some(add) = (unsafe { find::<AddNode>(NAME) }) else {
        return Err(error(NAME, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED));
    };
    let mut params = NodeParams {
        kind: CONDITIONAL,
        reserved0: [0; 3],
        conditional: ConditionalNodeParams {
            handle,
            kind,
            size: size as u32,
            graphs: ptr::null_mut(),
            context,
        },
        rest: [0; 25],
        reserved2: 0,
    };
    let mut node = ptr::null_mut();
    let (dependencies, count) = (after.as_ptr(), after.len());
    // SAFETY: the caller promised what CUDA asks of the handles; the others point to locals. No edge data means plain
    // edges.
    let added = unsafe { add(&mut node, graph, dependencies, ptr::null(), count, &mut params) };
    check(NAME, added)?;
    // SAFETY: on success CUDA points to `size` graphs, which stay there as long as the node; they are copied at once.
    let bodies = unsafe { std::slice::from_raw_parts(params.conditional.graphs, size) };
    Ok((node, bodies.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn parameters_lie_where_cuda_reads_them() {
        assert_eq!(size_of::<NodeParams>(), 256);
        assert_eq!(offset_of!(NodeParams, conditional), 16);
        assert_eq!(offset_of!(NodeParams, reserved2), 248);
        assert_eq!(offset_of!(ConditionalNodeParams, graphs), 16);
        assert_eq!(size_of::<ConditionalNodeParams>(), 32);
    }
}
