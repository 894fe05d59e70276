//! Driver calls that read a graph which others made, and that change its edges. They make no object, so there is
//! nothing that a failure could leak: they are not among the calls that tests let fail.

use super::edge::EdgeData;
use super::error::driver_calls;
use super::host_function::HostNode;
use super::read_node::{
    Addresses, AttributeValue, Conditional, CopyWords, Operation, ReadCopy, ReadFill, ReadLaunch, ReadNode, UPDATABLE,
};
use super::types::{CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUmemorytype};
use super::{
    CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph, CUgraphExec, CUgraphNode, CUkernel, CUmodule,
    MISSING,
};
use super::{KernelNodeParams, MemsetNodeParams, graph as kinds};
use crate::error::CudaError;
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::{mem, ptr, slice};

driver_calls! {
    NAMES;
    fn get_edges(graph: CUgraph, ends: (*mut CUgraphNode, *mut CUgraphNode), data: *mut EdgeData, count: &mut usize)
        = cuGraphGetEdges_v2(
            graph: CUgraph, from: *mut CUgraphNode = ends.0, to: *mut CUgraphNode = ends.1, data: *mut EdgeData,
            count: *mut usize,
        ), newer;
    /// Before CUDA 12.3.
    fn get_plain_edges(graph: CUgraph, ends: (*mut CUgraphNode, *mut CUgraphNode), count: &mut usize)
        = cuGraphGetEdges(
            graph: CUgraph, from: *mut CUgraphNode = ends.0, to: *mut CUgraphNode = ends.1, count: *mut usize,
        ), newer;
    fn remove_edges(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode], data: &[EdgeData])
        = cuGraphRemoveDependencies_v2(
            graph: CUgraph, from: *const CUgraphNode = from.as_ptr(), to: *const CUgraphNode = to.as_ptr(),
            data: *const EdgeData = data.as_ptr(), count: usize = from.len(),
        ), newer;
    fn add_edges(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode], data: &[EdgeData])
        = cuGraphAddDependencies_v2(
            graph: CUgraph, from: *const CUgraphNode = from.as_ptr(), to: *const CUgraphNode = to.as_ptr(),
            data: *const EdgeData = data.as_ptr(), count: usize = from.len(),
        ), newer;
    fn get_kernel(node: CUgraphNode, params: &mut KernelNodeParams)
        = cuGraphKernelNodeGetParams_v2(node: CUgraphNode, params: *mut KernelNodeParams as *mut sys::CUDA_KERNEL_NODE_PARAMS = params);
    fn get_copy(node: CUgraphNode, params: &mut CopyWords)
        = cuGraphMemcpyNodeGetParams(
            node: CUgraphNode, params: *mut CopyWords as *mut sys::CUDA_MEMCPY3D = params,
        );
    fn get_fill(node: CUgraphNode, params: &mut MemsetNodeParams)
        = cuGraphMemsetNodeGetParams(node: CUgraphNode, params: *mut MemsetNodeParams as *mut sys::CUDA_MEMSET_NODE_PARAMS = params);
    fn get_host(node: CUgraphNode, params: *mut HostNode)
        = cuGraphHostNodeGetParams(node: CUgraphNode, params: *mut HostNode as *mut sys::CUDA_HOST_NODE_PARAMS);
    fn get_recorded(node: CUgraphNode) -> event: CUevent
        = cuGraphEventRecordNodeGetEvent(node: CUgraphNode, event: *mut CUevent = &mut event);
    fn get_awaited(node: CUgraphNode) -> event: CUevent
        = cuGraphEventWaitNodeGetEvent(node: CUgraphNode, event: *mut CUevent = &mut event);
    fn get_allocation(node: CUgraphNode, params: &mut AllocationParams)
        = cuGraphMemAllocNodeGetParams(node: CUgraphNode, params: *mut AllocationParams), newer;
    fn get_freed(node: CUgraphNode) -> address: CUdeviceptr
        = cuGraphMemFreeNodeGetParams(node: CUgraphNode, address: *mut CUdeviceptr = &mut address);
    fn get_batch(node: CUgraphNode, params: &mut BatchParams)
        = cuGraphBatchMemOpNodeGetParams(node: CUgraphNode, params: *mut BatchParams), newer;
    /// The parameters of a node of any kind, since CUDA 13.2. Those of a conditional node name its bodies.
    fn get_any(node: CUgraphNode, params: &mut AnyParams)
        = cuGraphNodeGetParams(node: CUgraphNode, params: *mut AnyParams), newer;
    /// The id by which tools know a node, since CUDA 13.1. The id of its graph is the upper half.
    fn tools_id(node: CUgraphNode) -> id: u64
        = cuGraphNodeGetToolsId(node: CUgraphNode, id: *mut u64 = &mut id), newer;
    fn graph_id(graph: CUgraph) -> id: u32
        = cuGraphGetId(graph: CUgraph, id: *mut u32 = &mut id), newer;
    fn executable_id(exec: CUgraphExec) -> id: u32
        = cuGraphExecGetId(exec: CUgraphExec, id: *mut u32 = &mut id), newer;
    /// The attributes of a kernel node have numbers, and values of 64 bytes.
    pub(super) fn get_attribute(node: CUgraphNode, attribute: c_uint, value: &mut AttributeValue)
        = cuGraphKernelNodeGetAttribute(node: CUgraphNode, attribute: c_uint, value: *mut AttributeValue), newer;
    fn get_child(node: CUgraphNode) -> graph: CUgraph
        = cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph = &mut graph);
    fn get_name(function: CUfunction) -> name: *mut c_char
        = cuFuncGetName(name: *mut *mut c_char = &mut name, function: CUfunction), newer;
    fn module_of(function: CUfunction) -> module: CUmodule
        = cuFuncGetModule(module: *mut CUmodule = &mut module, function: CUfunction);
    fn function_of(kernel: CUkernel) -> function: CUfunction
        = cuKernelGetFunction(function: *mut CUfunction = &mut function, kernel: CUkernel), newer;
    fn get_property(address: CUdeviceptr, asked: c_uint) -> value: c_uint
        = cuPointerGetAttribute(
            value: *mut c_void = (&raw mut value).cast(), asked: c_uint as sys::CUpointer_attribute,
            address: CUdeviceptr,
        );
    fn get_range(address: CUdeviceptr, bytes: &mut usize) -> first: CUdeviceptr
        = cuMemGetAddressRange_v2(
            first: *mut CUdeviceptr = &mut first, bytes: *mut usize, address: CUdeviceptr,
        );
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`: the properties of the pool, and what follows them.
#[derive(Default)]
#[repr(C)]
struct AllocationParams {
    pool: [u64; 11],
    accesses: [u64; 2],
    bytes: u64,
    address: u64,
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`
#[repr(C)]
pub(super) struct BatchParams {
    pub(super) context: *mut c_void,
    pub(super) count: c_uint,
    pub(super) operations: *mut Operation,
    pub(super) flags: c_uint,
}

/// `CUgraphNodeParams`, as words. Those of a conditional node: its type; then the handle, the kind and the number of
/// bodies, and their list.
type AnyParams = [u64; 32];

/// The attributes that kernel nodes have, by their numbers in `CUlaunchAttributeID`.
const ATTRIBUTES: [c_uint; 13] = [1, 2, 4, 5, 8, 9, 10, 11, UPDATABLE, 14, 16, 17, 18];

/// An edge, and its data.
pub(crate) type ReadEdge = (CUgraphNode, CUgraphNode, EdgeData);

/// The ids of a node in its graph and, if they are told, in the executable graph.
type NodeIds = (u64, Option<u64>);

/// Lists the ids by which tools know nodes: in their graph and, if they are nodes of `graph` itself, in the executable
/// graph, which may be null. `None` before CUDA 13.1.
///
/// # Safety
///
/// The graphs and the nodes live, and the executable graph was instantiated from `graph`.
pub(crate) unsafe fn tool_ids(
    graph: CUgraph,
    exec: CUgraphExec,
    nodes: impl Iterator<Item = CUgraphNode>,
) -> Result<Option<Vec<NodeIds>>, CudaError> {
    const IN_GRAPH: u64 = 0xFFFF_FFFF;
    // SAFETY: by the caller's promise.
    let graph = match unsafe { graph_id(graph) } {
        Ok(id) => u64::from(id),
        Err(error) if error.code() == MISSING => return Ok(None),
        Err(error) => return Err(error),
    };
    // SAFETY: as above.
    let exec = (!exec.is_null()).then(|| unsafe { executable_id(exec) }).transpose()?;
    let ids = nodes.map(|node| {
        // SAFETY: as above.
        let id = unsafe { tools_id(node) }?;
        // A node has the number in the executable graph that it has in the graph.
        let exec = exec.filter(|_| id >> 32 == graph);
        Ok((id, exec.map(|exec| u64::from(exec) << 32 | id & IN_GRAPH)))
    });
    ids.collect::<Result<_, _>>().map(Some)
}

/// Lists the edges of a graph.
///
/// # Safety
///
/// The graph lives.
pub(crate) unsafe fn edges(graph: CUgraph) -> Result<Vec<ReadEdge>, CudaError> {
    let nowhere = (ptr::null_mut(), ptr::null_mut());
    let mut count = 0;
    // SAFETY: by the caller's promise; without lists, the number alone is written.
    let has_data = match unsafe { get_edges(graph, nowhere, ptr::null_mut(), &mut count) } {
        Ok(()) => true,
        Err(error) if error.code() == MISSING => {
            // SAFETY: as above.
            unsafe { get_plain_edges(graph, nowhere, &mut count) }?;
            false
        }
        Err(error) => return Err(error),
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let (mut from, mut to) = (vec![ptr::null_mut(); count], vec![ptr::null_mut(); count]);
    let mut data = vec![EdgeData::PLAIN; count];
    let lists = (from.as_mut_ptr(), to.as_mut_ptr());
    if has_data {
        // SAFETY: by the caller's promise; each list has room for `count` edges.
        unsafe { get_edges(graph, lists, data.as_mut_ptr(), &mut count) }?;
    } else {
        // SAFETY: as above.
        unsafe { get_plain_edges(graph, lists, &mut count) }?;
    }
    let edges = from.into_iter().zip(to).zip(data).take(count);
    Ok(edges.map(|((from, to), data)| (from, to, data)).collect())
}

/// Removes edges of a graph, then adds others.
///
/// # Safety
///
/// The graph lives, has the nodes and the edges to remove, and has none of those to add.
pub(crate) unsafe fn change_edges(graph: CUgraph, removed: &[ReadEdge], added: &[ReadEdge]) -> Result<(), CudaError> {
    type Calls = unsafe fn(CUgraph, &[CUgraphNode], &[CUgraphNode], &[EdgeData]) -> Result<(), CudaError>;
    let calls: [(Calls, _); 2] = [(remove_edges, removed), (add_edges, added)];
    for (call, edges) in calls.into_iter().filter(|(_, edges)| !edges.is_empty()) {
        let (from, to): (Vec<CUgraphNode>, Vec<CUgraphNode>) = edges.iter().map(|edge| (edge.0, edge.1)).unzip();
        let data: Vec<EdgeData> = edges.iter().map(|edge| edge.2).collect();
        // SAFETY: by the caller's promise; the lists have the same length.
        unsafe { call(graph, &from, &to, &data) }?;
    }
    Ok(())
}

/// Reads a node. The graphs in it come with it: its child graph, or the bodies of a conditional node.
///
/// # Safety
///
/// The node lives.
pub(crate) unsafe fn node(node: CUgraphNode) -> Result<(ReadNode, Vec<CUgraph>), CudaError> {
    // SAFETY: by the caller's promise, in all calls below; each gets a node of the kind that it is for.
    let read = match unsafe { kinds::node_type(node) }? {
        // SAFETY: as above.
        kinds::KERNEL => ReadNode::Kernel(Box::new(unsafe { launch(node) }?)),
        kinds::MEMCPY => {
            let mut words = CopyWords::default();
            // SAFETY: as above.
            unsafe { get_copy(node, &mut words) }?;
            ReadNode::Copy(Box::new(ReadCopy { words }))
        }
        // SAFETY: as above.
        kinds::MEMSET => ReadNode::Fill(unsafe { fill(node) }?),
        kinds::HOST => {
            let mut params = mem::MaybeUninit::uninit();
            // SAFETY: as above.
            unsafe { get_host(node, params.as_mut_ptr()) }?;
            // SAFETY: the call has succeeded, so it has written both; a node has a function.
            let HostNode { function, data } = unsafe { params.assume_init() };
            ReadNode::Host(function, data.expose_provenance())
        }
        // SAFETY: as above.
        kinds::CHILD_GRAPH => return Ok((ReadNode::Child, vec![unsafe { get_child(node) }?])),
        kinds::EMPTY => ReadNode::Empty,
        // SAFETY: as above.
        kinds::WAIT_EVENT => ReadNode::Wait(unsafe { get_awaited(node) }?.expose_provenance()),
        // SAFETY: as above.
        kinds::EVENT_RECORD => ReadNode::Record(unsafe { get_recorded(node) }?.expose_provenance()),
        kinds::MEMORY_ALLOC => {
            let mut params = AllocationParams::default();
            // SAFETY: as above.
            unsafe { get_allocation(node, &mut params) }?;
            let AllocationParams { address, bytes, .. } = params;
            ReadNode::Allocation(address..address.saturating_add(bytes))
        }
        // SAFETY: as above.
        kinds::MEMORY_FREE => ReadNode::Free(unsafe { get_freed(node) }?),
        // SAFETY: as above.
        kinds::BATCH_MEMORY_OPERATION => unsafe { batch(node) }?,
        // SAFETY: as above.
        kinds::CONDITIONAL => return unsafe { conditional(node) },
        _ => ReadNode::Other,
    };
    Ok((read, Vec::new()))
}

/// Reads a conditional node.
///
/// # Safety
///
/// The node lives, and is a conditional one.
unsafe fn conditional(node: CUgraphNode) -> Result<(ReadNode, Vec<CUgraph>), CudaError> {
    let mut words: AnyParams = [0; 32];
    // SAFETY: by the caller's promise.
    match unsafe { get_any(node, &mut words) } {
        Ok(()) => {}
        Err(error) if error.code() == MISSING => return Ok((ReadNode::Conditional(None), Vec::new())),
        Err(error) => return Err(error),
    }
    let kind = match words[3] as u32 {
        0 => Conditional::If,
        1 => Conditional::While,
        2 => Conditional::Switch,
        _ => return Ok((ReadNode::Conditional(None), Vec::new())),
    };
    let bodies: *const CUgraph = ptr::with_exposed_provenance(words[4] as usize);
    let count = (words[3] >> 32) as usize;
    if bodies.is_null() || count == 0 {
        return Ok((ReadNode::Conditional(None), Vec::new()));
    }
    // SAFETY: the driver points to so many graphs, which stay there as long as the node; they are copied at once.
    let bodies = unsafe { slice::from_raw_parts(bodies, count) }.to_vec();
    Ok((ReadNode::Conditional(Some(kind)), bodies))
}

/// Reads a batch of memory operations.
///
/// # Safety
///
/// The node lives, and is a batch's.
unsafe fn batch(node: CUgraphNode) -> Result<ReadNode, CudaError> {
    let mut params = BatchParams {
        context: ptr::null_mut(),
        count: 0,
        operations: ptr::null_mut(),
        flags: 0,
    };
    // SAFETY: by the caller's promise.
    unsafe { get_batch(node, &mut params) }?;
    let operations = if params.operations.is_null() {
        Vec::new()
    } else {
        // SAFETY: the driver points to the node's operations, which are copied at once.
        unsafe { slice::from_raw_parts(params.operations, params.count as usize) }.to_vec()
    };
    let context = params.context.expose_provenance();
    Ok(ReadNode::Batch(operations, params.flags, context))
}

/// Reads the launch of a kernel node.
///
/// # Safety
///
/// The node lives, and is a kernel's.
unsafe fn launch(node: CUgraphNode) -> Result<ReadLaunch, CudaError> {
    // SAFETY: all fields are numbers and raw pointers, for which zeros are values.
    let mut params: KernelNodeParams = unsafe { mem::zeroed() };
    // SAFETY: by the caller's promise.
    unsafe { get_kernel(node, &mut params) }?;
    let mut function = params.func;
    if function.is_null() && !params.kern.is_null() {
        // SAFETY: the node holds the kernel.
        function = unsafe { function_of(params.kern) }?;
    }
    let mut name = None;
    let mut architecture = None;
    let mut arguments = None;
    if !function.is_null() {
        // SAFETY: the node holds the function.
        name = unsafe { get_name(function) }
            .ok()
            .filter(|name| !name.is_null())
            .map(|name| {
                // SAFETY: the driver points to a NUL-terminated string, which lives as long as the function.
                unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
            });
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION;
        // SAFETY: as above.
        let version = unsafe { super::module::function_attribute(function, attribute) };
        architecture = version.ok().and_then(|version| u32::try_from(version).ok());
        // SAFETY: as above.
        let sizes = unsafe { super::module::function_parameters(function) };
        // SAFETY: the driver's list has an address for each parameter, with as many bytes as the parameter.
        arguments = sizes.and_then(|sizes| unsafe { copied(params.kernelParams, &sizes) });
    }
    let mut attributes = Vec::new();
    for attribute in ATTRIBUTES {
        let mut value = AttributeValue::default();
        // A driver refuses attributes that it does not know: the node does not have them.
        // SAFETY: by the caller's promise.
        if unsafe { get_attribute(node, attribute, &mut value) }.is_ok() {
            attributes.push((attribute, value));
        }
    }
    Ok(ReadLaunch {
        name,
        grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
        block: [params.blockDimX, params.blockDimY, params.blockDimZ],
        shared: params.sharedMemBytes,
        architecture,
        arguments,
        lists: [
            params.kernelParams.expose_provenance(),
            params.extra.expose_provenance(),
        ],
        handles: [
            params.func.expose_provenance(),
            params.kern.expose_provenance(),
            params.ctx.expose_provenance(),
        ],
        attributes,
    })
}

/// Copies the arguments of a launch.
///
/// # Safety
///
/// The list is null, or has an address for each of the sizes, where so many bytes can be read.
unsafe fn copied(list: *mut *mut c_void, sizes: &[usize]) -> Option<Vec<Vec<u8>>> {
    if sizes.is_empty() {
        return Some(Vec::new());
    }
    if list.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise.
    let list = unsafe { slice::from_raw_parts(list, sizes.len()) };
    let copy = |(address, &size): (&*mut c_void, &usize)| {
        if address.is_null() {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { slice::from_raw_parts(address.cast::<u8>(), size) }.to_vec())
    };
    list.iter().zip(sizes).map(copy).collect()
}

/// Reads a fill.
///
/// # Safety
///
/// The node lives, and is a fill's.
unsafe fn fill(node: CUgraphNode) -> Result<ReadFill, CudaError> {
    // SAFETY: all fields are numbers, for which zeros are values.
    let mut params: MemsetNodeParams = unsafe { mem::zeroed() };
    // SAFETY: by the caller's promise.
    unsafe { get_fill(node, &mut params) }?;
    Ok(ReadFill {
        params: [params.dst, params.pitch as u64],
        value: (params.value, params.elementSize),
        sides: [params.width, params.height],
    })
}

/// The addresses of a variable of the module of a kernel, if the driver knows it: not those that are `static`.
///
/// # Safety
///
/// The handles of the launch live, and a context is current.
pub(crate) unsafe fn variable(launch: &ReadLaunch, name: &str) -> Option<Addresses> {
    let name = CString::new(name).ok()?;
    let [function, kernel, _] = launch.handles;
    let mut function: CUfunction = ptr::with_exposed_provenance_mut(function);
    if function.is_null() {
        // SAFETY: by the caller's promise; a launch has a function or a kernel.
        function = unsafe { function_of(ptr::with_exposed_provenance_mut(kernel)) }.ok()?;
    }
    // SAFETY: by the caller's promise.
    let module = unsafe { module_of(function) }.ok()?;
    // SAFETY: as above; the function's module is loaded.
    let (address, bytes) = unsafe { super::module::variable(module, &name) }.ok()?;
    Some(address..address.checked_add(bytes as u64)?)
}

/// Whether an address is of the host's memory, which the driver does not move to devices.
///
/// # Safety
///
/// A context is current.
unsafe fn is_of_host(address: u64) -> bool {
    // SAFETY: by the caller's promise; any address may be asked for.
    let is = |asked, value| unsafe { get_property(address, asked) } == Ok(value);
    let host = CUmemorytype::CU_MEMORYTYPE_HOST as c_uint;
    is(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) && is(CU_POINTER_ATTRIBUTE_IS_MANAGED, 0)
}

/// The allocation that an address is in, if the driver knows it, and whether it is of the host's memory.
///
/// # Safety
///
/// A context is current.
pub(crate) unsafe fn allocation(address: u64) -> Option<(Addresses, bool)> {
    let mut bytes = 0;
    // SAFETY: by the caller's promise; any address may be asked for.
    let first = unsafe { get_range(address, &mut bytes) }.ok()?;
    // SAFETY: as above.
    Some((first..first.checked_add(bytes as u64)?, unsafe { is_of_host(address) }))
}
