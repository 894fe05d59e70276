//! Adding nodes to a graph as [`reading`](super::reading) has read them from another one.

use super::edge::EdgeData;
use super::error::driver_calls;
use super::host_function::HostNode;
use super::read_node::{AttributeValue, CopyWords, ReadLaunch, ReadNode};
use super::reading::{BatchParams, change_edges, get_attribute};
use super::{CUcontext, CUgraph, CUgraphNode, GraphApi, KernelNodeParams, MemsetNodeParams, context};
use crate::error::CudaError;
use std::ffi::{c_uint, c_void};
use std::ptr;

driver_calls! {
    NAMES;
    fn add_copy(graph: CUgraph, params: &CopyWords, context: CUcontext) -> node: CUgraphNode
        = cuGraphAddMemcpyNode(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = ptr::null(),
            count: usize = 0, params: *const CopyWords as *const sys::CUDA_MEMCPY3D, context: CUcontext,
        );
    fn add_batch(graph: CUgraph, params: &BatchParams) -> node: CUgraphNode
        = cuGraphAddBatchMemOpNode(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = ptr::null(),
            count: usize = 0, params: *const BatchParams,
        ), newer;
    fn set_attribute(node: CUgraphNode, attribute: c_uint, value: &AttributeValue)
        = cuGraphKernelNodeSetAttribute(node: CUgraphNode, attribute: c_uint, value: *const AttributeValue), newer;
}

/// A graph that is being made. It is destroyed with this, unless it is [finished](Self::finish).
#[derive(Debug)]
pub(crate) struct NewGraph {
    graph: CUgraph,
    nodes: Vec<CUgraphNode>,
}

/// The reason why a node cannot be added to another graph.
pub(crate) type Refusal = &'static str;

impl NewGraph {
    /// An empty graph.
    pub(crate) fn new() -> Result<Self, CudaError> {
        // SAFETY: the call asks for nothing.
        let graph = unsafe { GraphApi::Driver.create() }?;
        Ok(Self {
            graph,
            nodes: Vec::new(),
        })
    }

    /// Adds a node without edges, or says why no other graph can have it. A child graph is copied from `child`.
    ///
    /// # Safety
    ///
    /// The handles of the node live, and its context is current. If its arguments are not known, the node that was read
    /// lives, too, and nobody has changed it.
    pub(crate) unsafe fn add(
        &mut self,
        node: &ReadNode,
        child: Option<&NewGraph>,
    ) -> Result<Result<(), Refusal>, CudaError> {
        let graph = self.graph;
        let api = GraphApi::Driver;
        // SAFETY: the call asks for nothing.
        let current = unsafe { context::current() }?;
        let event = |&event: &usize| ptr::with_exposed_provenance_mut(event);
        // SAFETY: by the caller's promise, in all calls below. The graph lives, and nodes without others before them
        // can always be added.
        let added = match node {
            // SAFETY: as above.
            ReadNode::Kernel(launch) => match unsafe { kernel(graph, launch) }? {
                Ok(node) => node,
                Err(reason) => return Ok(Err(reason)),
            },
            // SAFETY: as above.
            ReadNode::Copy(copy) => unsafe { add_copy(graph, &copy.words, current) }?,
            ReadNode::Fill(fill) => {
                let params = MemsetNodeParams {
                    dst: fill.params[0],
                    pitch: fill.params[1] as usize,
                    value: fill.value.0,
                    elementSize: fill.value.1,
                    width: fill.sides[0],
                    height: fill.sides[1],
                };
                // SAFETY: as above.
                unsafe { api.add_memset_node(graph, &[], &params, current) }?
            }
            ReadNode::Host(function, data) => {
                let params = HostNode {
                    function: *function,
                    data: ptr::with_exposed_provenance_mut(*data),
                };
                // SAFETY: as above.
                unsafe { api.add_host_node(graph, &[], &params) }?
            }
            ReadNode::Child => {
                let Some(child) = child else {
                    return Ok(Err("its child graph is not known"));
                };
                // SAFETY: as above; the node gets a copy of the child.
                unsafe { api.add_child_node(graph, &[], child.graph) }?
            }
            // SAFETY: as above.
            ReadNode::Empty => unsafe { api.add_empty_node(graph, &[]) }?,
            // SAFETY: as above.
            ReadNode::Wait(awaited) => unsafe { api.add_wait_node(graph, &[], event(awaited)) }?,
            // SAFETY: as above.
            ReadNode::Record(recorded) => unsafe { api.add_record_node(graph, &[], event(recorded)) }?,
            ReadNode::Batch(operations, flags, context) => {
                let mut operations = operations.clone();
                let params = BatchParams {
                    context: ptr::with_exposed_provenance_mut(*context),
                    count: operations.len() as c_uint,
                    operations: operations.as_mut_ptr(),
                    flags: *flags,
                };
                // SAFETY: as above; the driver copies the operations.
                unsafe { add_batch(graph, &params) }?
            }
            ReadNode::Allocation(_) | ReadNode::Free(_) => {
                return Ok(Err("another graph gets the memory of an allocation at another address"));
            }
            ReadNode::Conditional(_) => {
                return Ok(Err(
                    "its condition belongs to the graph that was read, and kernels set it by its number",
                ));
            }
            ReadNode::Other => return Ok(Err("the driver does not tell what such a node does")),
        };
        self.nodes.push(added);
        Ok(Ok(()))
    }

    /// Adds edges between nodes, which are numbered in the order of [`Self::add`].
    ///
    /// # Safety
    ///
    /// The edges form no circle, and each is there once.
    pub(crate) unsafe fn add_edges(&mut self, edges: &[(usize, usize, EdgeData)]) -> Result<(), CudaError> {
        let edges: Vec<_> = edges
            .iter()
            .map(|&(from, to, data)| (self.nodes[from], self.nodes[to], data))
            .collect();
        // SAFETY: by the caller's promise; the nodes are of this graph.
        unsafe { change_edges(self.graph, &[], &edges) }
    }

    /// The graph, which the caller destroys.
    pub(crate) fn finish(mut self) -> CUgraph {
        std::mem::replace(&mut self.graph, ptr::null_mut())
    }
}

impl Drop for NewGraph {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: `new` made the graph, and nobody else has it.
            let _ = unsafe { GraphApi::Driver.destroy(self.graph) };
        }
    }
}

/// Adds a kernel node, with the attributes that its own do not have by themselves.
///
/// # Safety
///
/// The graph and the handles live; so does the node that was read if its arguments are not known.
unsafe fn kernel(graph: CUgraph, launch: &ReadLaunch) -> Result<Result<CUgraphNode, Refusal>, CudaError> {
    if launch.is_updatable() {
        return Ok(Err("kernels change it while the graph runs"));
    }
    let mut arguments = launch.arguments.clone().unwrap_or_default();
    let mut list: Vec<*mut c_void> = arguments.iter_mut().map(|bytes| bytes.as_mut_ptr().cast()).collect();
    // The number of arguments may be unknown: then the lists of the node that was read are handed on.
    let [list, extra] = match launch.lists {
        _ if launch.arguments.is_some() => [list.as_mut_ptr(), ptr::null_mut()],
        [0, 0] => return Ok(Err("the driver does not tell its arguments")),
        lists => lists.map(ptr::with_exposed_provenance_mut),
    };
    let [function, kernel, context] = launch.handles;
    let params = KernelNodeParams {
        func: ptr::with_exposed_provenance_mut(function),
        gridDimX: launch.grid[0],
        gridDimY: launch.grid[1],
        gridDimZ: launch.grid[2],
        blockDimX: launch.block[0],
        blockDimY: launch.block[1],
        blockDimZ: launch.block[2],
        sharedMemBytes: launch.shared,
        kernelParams: list,
        extra,
        kern: ptr::with_exposed_provenance_mut(kernel),
        ctx: ptr::with_exposed_provenance_mut(context),
    };
    // SAFETY: by the caller's promise; the list has an address for each parameter, with all its bytes, or is that of
    // the node that was read, which lives then. The driver copies the arguments. With the driver's interface, the node
    // may have a function or a kernel.
    let node = unsafe { GraphApi::Driver.add_kernel_node(graph, &[], &params) }?;
    for (attribute, value) in &launch.attributes {
        let mut own = AttributeValue::default();
        // SAFETY: the node was just added.
        if unsafe { get_attribute(node, *attribute, &mut own) }.is_ok() && own != *value {
            // SAFETY: as above; another node has the attribute with this value.
            unsafe { set_attribute(node, *attribute, value) }?;
        }
    }
    Ok(Ok(node))
}
