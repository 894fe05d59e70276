//! Driver calls about capturing streams, and about what was captured.

use super::call::call;
use super::{CUgraph, CUgraphNode, CUstream};
use crate::error::CudaError;
use cudarc::driver::sys::CUstreamCaptureMode;
use std::ptr;

/// `CU_GRAPH_NODE_TYPE_GRAPH`
pub(crate) const CHILD_GRAPH: u32 = 4;
/// `CU_GRAPH_NODE_TYPE_MEM_ALLOC`
pub(crate) const MEMORY_ALLOC: u32 = 10;
/// `CU_GRAPH_NODE_TYPE_MEM_FREE`
pub(crate) const MEMORY_FREE: u32 = 11;

/// `cuStreamBeginCapture_v2`, thread-local: of the calls that CUDA forbids during a capture it forbids only this thread's
pub(crate) unsafe fn begin_capture(stream: CUstream) -> Result<(), CudaError> {
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    call!(cuStreamBeginCapture_v2(stream, mode))
}

/// `cuStreamEndCapture`
pub(crate) unsafe fn end_capture(stream: CUstream) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cuStreamEndCapture(stream, &mut graph))?;
    Ok(graph)
}

/// `cuGraphGetNodes`
pub(crate) unsafe fn graph_nodes(graph: CUgraph) -> Result<Vec<CUgraphNode>, CudaError> {
    let mut count = 0;
    call!(cuGraphGetNodes(graph, ptr::null_mut(), &mut count))?;
    if count == 0 {
        return Ok(Vec::new()); // room for no nodes is an invalid value
    }
    let mut nodes = vec![ptr::null_mut(); count];
    call!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count))?;
    nodes.truncate(count);
    Ok(nodes)
}

/// `cuGraphNodeGetType`, as a number: a driver may know types that the bindings do not
pub(crate) unsafe fn node_type(node: CUgraphNode) -> Result<u32, CudaError> {
    let mut kind = 0_u32;
    call!(cuGraphNodeGetType(node, (&raw mut kind).cast()))?;
    Ok(kind)
}

/// `cuGraphChildGraphNodeGetGraph`
pub(crate) unsafe fn child_graph(node: CUgraphNode) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cuGraphChildGraphNodeGetGraph(node, &mut graph))?;
    Ok(graph)
}

/// `cuGraphAddChildGraphNode`: the node has a copy of `child`
pub(crate) unsafe fn add_child_graph_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    child: CUgraph,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddChildGraphNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        child
    ))?;
    Ok(node)
}
