//! A graph as the driver has it, as text: the same for two graphs that differ only in where their memory is.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one fact makes the calls of a function sound: the graph lives"
)]

use graph_runtime::RawGraph;
use graph_runtime::cudarc::driver::sys::{self, CUgraph, CUgraphNode, CUkernelNodeAttrID as Attribute};
use std::ffi::CStr;
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::ptr;

/// The value that a call writes.
fn written<T>(call: impl FnOnce(*mut T) -> sys::CUresult) -> T {
    let mut value = MaybeUninit::zeroed();
    let result = call(value.as_mut_ptr());
    assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
    // SAFETY: the call has written it.
    unsafe { value.assume_init() }
}

/// Describes a graph: a line for each node, in the order in which they were added, and indented those of a child graph.
/// Memory that lies elsewhere and functions that were loaded again make no difference. The bodies of conditional nodes
/// are left out, since CUDA does not tell them.
pub(crate) fn describe(graph: &RawGraph) -> String {
    let mut text = String::new();
    // SAFETY: the graph lives.
    unsafe { of_graph(&mut text, graph.graph, "") };
    text
}

unsafe fn of_graph(text: &mut String, graph: CUgraph, indent: &str) {
    // SAFETY: the graph lives, by the caller's promise, and so do its nodes; pointers are those of local memory.
    unsafe {
        let count: usize = written(|count| sys::cuGraphGetNodes(graph, ptr::null_mut(), count));
        let mut nodes: Vec<CUgraphNode> = vec![ptr::null_mut(); count];
        if count > 0 {
            let mut count = count;
            let result = sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count);
            assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
        }
        for (index, &node) in nodes.iter().enumerate() {
            let after = dependencies(node).into_iter().map(|(before, early)| {
                let before = nodes.iter().position(|&node| node == before);
                (before.expect("a node of the graph"), early)
            });
            let mut after: Vec<(usize, bool)> = after.collect();
            after.sort_unstable();
            let _ = write!(text, "{indent}{index}: after {after:?}: ");
            of_node(text, node, indent);
        }
    }
}

/// The nodes before a node, and whether their edges are programmatic.
unsafe fn dependencies(node: CUgraphNode) -> Vec<(CUgraphNode, bool)> {
    // SAFETY: as in `of_graph`.
    unsafe {
        let none = ptr::null_mut;
        let mut count = written(|count| sys::cuGraphNodeGetDependencies_v2(node, ptr::null_mut(), none(), count));
        let mut nodes = vec![ptr::null_mut(); count];
        let mut data = vec![std::mem::zeroed::<sys::CUgraphEdgeData>(); count];
        if count > 0 {
            let result = sys::cuGraphNodeGetDependencies_v2(node, nodes.as_mut_ptr(), data.as_mut_ptr(), &mut count);
            assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
        }
        let early = data.iter().map(|edge| edge.type_ != 0);
        nodes.into_iter().zip(early).collect()
    }
}

unsafe fn of_node(text: &mut String, node: CUgraphNode, indent: &str) {
    use sys::CUgraphNodeType as Type;
    // SAFETY: as in `of_graph`; the parameters are asked for by the node's type.
    unsafe {
        match written(|kind| sys::cuGraphNodeGetType(node, kind)) {
            Type::CU_GRAPH_NODE_TYPE_KERNEL => of_kernel(text, node),
            Type::CU_GRAPH_NODE_TYPE_MEMCPY => {
                let copy: sys::CUDA_MEMCPY3D = written(|params| sys::cuGraphMemcpyNodeGetParams(node, params));
                let pitches = (copy.Height > 1).then_some((copy.srcPitch, copy.dstPitch));
                let size = (copy.WidthInBytes, copy.Height, copy.Depth);
                let _ = writeln!(
                    text,
                    "copy {:?} to {:?}, {size:?}, pitches {pitches:?}",
                    copy.srcMemoryType, copy.dstMemoryType
                );
            }
            Type::CU_GRAPH_NODE_TYPE_MEMSET => {
                let set: sys::CUDA_MEMSET_NODE_PARAMS = written(|params| sys::cuGraphMemsetNodeGetParams(node, params));
                let size = (set.elementSize, set.width, set.height);
                let _ = writeln!(text, "set to {}, {size:?}", set.value);
            }
            Type::CU_GRAPH_NODE_TYPE_GRAPH => {
                let _ = writeln!(text, "a graph");
                let child = written(|child| sys::cuGraphChildGraphNodeGetGraph(node, child));
                of_graph(text, child, &format!("{indent}    "));
            }
            other => {
                let _ = writeln!(text, "{other:?}");
            }
        }
    }
}

unsafe fn of_kernel(text: &mut String, node: CUgraphNode) {
    // SAFETY: as in `of_graph`; the node is a kernel.
    unsafe {
        let launch: sys::CUDA_KERNEL_NODE_PARAMS = written(|params| sys::cuGraphKernelNodeGetParams_v2(node, params));
        let name = written(|name| match launch.func.is_null() {
            true => sys::cuKernelGetName(name, launch.kern),
            false => sys::cuFuncGetName(name, launch.func),
        });
        let attribute = |attribute| written(|value| sys::cuGraphKernelNodeGetAttribute(node, attribute, value));
        let priority = attribute(Attribute::CU_LAUNCH_ATTRIBUTE_PRIORITY).priority;
        let cluster = attribute(Attribute::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
        let cooperative = attribute(Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative;
        let _ = writeln!(
            text,
            "kernel {:?}, grid {:?}, block {:?}, shared {}, priority {priority}, cluster {:?}, cooperative {cooperative}",
            CStr::from_ptr(name),
            (launch.gridDimX, launch.gridDimY, launch.gridDimZ),
            (launch.blockDimX, launch.blockDimY, launch.blockDimZ),
            launch.sharedMemBytes,
            (cluster.x, cluster.y, cluster.z),
        );
    }
}
