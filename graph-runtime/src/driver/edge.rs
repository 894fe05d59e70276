//! Edges with data, which came with CUDA 12.3. cudarc's bindings may be older, so the type is declared here.

use super::CUgraphNode;

/// `CUgraphEdgeData`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct EdgeData {
    from_port: u8,
    to_port: u8,
    kind: u8,
    reserved: [u8; 5],
}

impl EdgeData {
    /// A plain edge.
    pub(crate) const PLAIN: Self = Self {
        from_port: 0,
        to_port: 0,
        kind: 0,
        reserved: [0; 5],
    };

    /// A programmatic edge: from the port `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC` (1), and of the type
    /// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC` (1).
    pub(crate) const PROGRAMMATIC: Self = Self {
        from_port: 1,
        to_port: 0,
        kind: 1,
        reserved: [0; 5],
    };

    /// Whether the edge is programmatic.
    pub(crate) fn is_programmatic(self) -> bool {
        self.kind == Self::PROGRAMMATIC.kind
    }
}

/// The ends of programmatic edges from each of `before` to `node`, and their data.
pub(super) fn programmatic(before: &[CUgraphNode], node: CUgraphNode) -> (Vec<CUgraphNode>, Vec<EdgeData>) {
    (vec![node; before.len()], vec![EdgeData::PROGRAMMATIC; before.len()])
}
