//! Edges with data, which came with CUDA 12.3. The driver, and cudarc's bindings, may be older. So the type is declared
//! here, and the call is looked up in the library.

use super::call::{check, error};
use super::conditional::find;
use super::{CUgraph, CUgraphNode};
use crate::error::CudaError;
use cudarc::driver::sys;

/// `CUgraphEdgeData`
#[derive(Clone, Copy)]
#[repr(C)]
struct EdgeData {
    from_port: u8,
    to_port: u8,
    kind: u8,
    reserved: [u8; 5],
}

/// A programmatic edge: from the port `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC` (1), and of the type
/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC` (1).
const PROGRAMMATIC: EdgeData = EdgeData {
    from_port: 1,
    to_port: 0,
    kind: 1,
    reserved: [0; 5],
};

type AddDependencies =
    unsafe extern "C" fn(CUgraph, *const CUgraphNode, *const CUgraphNode, *const EdgeData, usize) -> sys::CUresult;

/// `cuGraphAddDependencies_v2` of programmatic edges from each of `before` to `node`
pub(crate) unsafe fn add_programmatic(
    graph: CUgraph,
    before: &[CUgraphNode],
    node: CUgraphNode,
) -> Result<(), CudaError> {
    const NAME: &str = "cuGraphAddDependencies_v2";
    // SAFETY: whoever has a graph has loaded the library; the type is that of CUDA's header.
    let Some(add) = (unsafe { find::<AddDependencies>(NAME) }) else {
        return Err(error(NAME, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED));
    };
    let (to, data) = (vec![node; before.len()], vec![PROGRAMMATIC; before.len()]);
    // SAFETY: the caller promised what CUDA asks of the handles; all three lists have as many entries as said.
    let added = unsafe { add(graph, before.as_ptr(), to.as_ptr(), data.as_ptr(), before.len()) };
    check(NAME, added)
}
