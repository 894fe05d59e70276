//! Edges with data, which came with CUDA 12.3. The driver, and cudarc's bindings, may be older. So the type is declared
//! here.

use super::error::driver_calls;
use super::{CUgraph, CUgraphNode};

/// `CUgraphEdgeData`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct EdgeData {
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

/// The ends of programmatic edges from each of `before` to `node`, and their data.
pub(super) fn programmatic(before: &[CUgraphNode], node: CUgraphNode) -> (Vec<CUgraphNode>, Vec<EdgeData>) {
    (vec![node; before.len()], vec![PROGRAMMATIC; before.len()])
}

driver_calls! {
    NAMES;
    pub(super) fn add(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode], data: &[EdgeData])
        = cuGraphAddDependencies_v2(
            graph: CUgraph, from: *const CUgraphNode = from.as_ptr(), to: *const CUgraphNode = to.as_ptr(),
            data: *const EdgeData = data.as_ptr(), count: usize = from.len(),
        ), newer;
}
