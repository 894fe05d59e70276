//! Driver calls that read a graph which others made, and that change its edges. They make no object, so there is
//! nothing that a failure could leak: they are not among the calls that tests let fail.

use super::edge::EdgeData;
use super::error::driver_calls;
use super::{CUdeviceptr, CUfunction, CUgraph, CUgraphNode, CUkernel, KernelNodeParams, MISSING, MemsetNodeParams};
use crate::error::CudaError;
use std::ffi::{CStr, c_char, c_void};
use std::{mem, ptr};

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
    pub(crate) fn child(node: CUgraphNode) -> graph: CUgraph
        = cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph = &mut graph);
    fn get_name(function: CUfunction) -> name: *mut c_char
        = cuFuncGetName(name: *mut *mut c_char = &mut name, function: CUfunction), newer;
    fn function_of(kernel: CUkernel) -> function: CUfunction
        = cuKernelGetFunction(function: *mut CUfunction = &mut function, kernel: CUkernel), newer;
    fn get_range(address: CUdeviceptr, bytes: &mut usize) -> first: CUdeviceptr
        = cuMemGetAddressRange_v2(
            first: *mut CUdeviceptr = &mut first, bytes: *mut usize, address: CUdeviceptr,
        );
}

/// `CUDA_MEMCPY3D_v2`, whose enums the driver writes, as words.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct CopyWords {
    from: CopyEnd,
    to: CopyEnd,
    width: u64,
    height: u64,
    depth: u64,
}

/// An end of a copy.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct CopyEnd {
    /// Bytes, rows, layers and levels before the first.
    offsets: [u64; 4],
    /// `CUmemorytype`, and four bytes without meaning.
    kind: u64,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: u64,
    height: u64,
}

/// Addresses from the first one up to the one after the last.
type Addresses = std::ops::Range<u64>;

impl CopyEnd {
    /// The addresses that the copy touches, as one range from the first row to the last; `None` for arrays.
    fn addresses(&self, [width, height, depth]: [u64; 3]) -> Option<Addresses> {
        const HOST: u32 = 1;
        const ARRAY: u32 = 3;
        let base = match self.kind as u32 {
            ARRAY => return None,
            HOST => self.host,
            _ => self.device,
        };
        let [x, y, z, _] = self.offsets;
        let layer = self.pitch.checked_mul(self.height)?;
        let start = base
            .checked_add(x)?
            .checked_add(y.checked_mul(self.pitch)?)?
            .checked_add(z.checked_mul(layer)?)?;
        let rows = height.max(1) - 1;
        let layers = depth.max(1) - 1;
        let last = rows
            .checked_mul(self.pitch)?
            .checked_add(layers.checked_mul(layer)?)?
            .checked_add(width)?;
        Some(start..start.checked_add(last)?)
    }
}

/// A copy: the addresses that it reads, those that it writes, and whether each is one range without gaps.
pub(crate) struct ReadCopy {
    pub(crate) from: Option<Addresses>,
    pub(crate) to: Option<Addresses>,
    pub(crate) is_dense: bool,
}

/// A launch of a kernel.
pub(crate) struct ReadLaunch {
    /// The name that it has in its module, if the driver tells it (CUDA 12.3).
    pub(crate) name: Option<String>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// The bytes of each argument, if the driver tells the sizes (CUDA 12.4), and the arguments are a list.
    pub(crate) arguments: Option<Vec<Vec<u8>>>,
}

/// An edge, and whether it is programmatic.
pub(crate) type ReadEdge = (CUgraphNode, CUgraphNode, bool);

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
    Ok(edges
        .map(|((from, to), data)| (from, to, data.is_programmatic()))
        .collect())
}

/// Removes plain edges of a graph, then adds others.
///
/// # Safety
///
/// The graph lives, has the nodes and the edges to remove, and has none of those to add.
pub(crate) unsafe fn change_edges(
    graph: CUgraph,
    removed: &[(CUgraphNode, CUgraphNode)],
    added: &[(CUgraphNode, CUgraphNode)],
) -> Result<(), CudaError> {
    type Calls = unsafe fn(CUgraph, &[CUgraphNode], &[CUgraphNode], &[EdgeData]) -> Result<(), CudaError>;
    let calls: [(Calls, _); 2] = [(remove_edges, removed), (add_edges, added)];
    for (call, edges) in calls.into_iter().filter(|(_, edges)| !edges.is_empty()) {
        let (from, to): (Vec<CUgraphNode>, Vec<CUgraphNode>) = edges.iter().copied().unzip();
        // SAFETY: by the caller's promise; the lists have the same length.
        unsafe { call(graph, &from, &to, &vec![EdgeData::PLAIN; edges.len()]) }?;
    }
    Ok(())
}

/// Reads the launch of a kernel node.
///
/// # Safety
///
/// The node lives, and is a kernel's.
pub(crate) unsafe fn launch(node: CUgraphNode) -> Result<ReadLaunch, CudaError> {
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
        // SAFETY: as above.
        let sizes = unsafe { super::module::function_parameters(function) };
        // SAFETY: the driver's list has an address for each parameter, with as many bytes as the parameter.
        arguments = sizes.and_then(|sizes| unsafe { copied(params.kernelParams, &sizes) });
    }
    Ok(ReadLaunch {
        name,
        grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
        block: [params.blockDimX, params.blockDimY, params.blockDimZ],
        shared: params.sharedMemBytes,
        arguments,
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
    let list = unsafe { std::slice::from_raw_parts(list, sizes.len()) };
    let copy = |(address, &size): (&*mut c_void, &usize)| {
        if address.is_null() {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), size) }.to_vec())
    };
    list.iter().zip(sizes).map(copy).collect()
}

/// Reads a copy.
///
/// # Safety
///
/// The node lives, and is a copy's.
pub(crate) unsafe fn copy(node: CUgraphNode) -> Result<ReadCopy, CudaError> {
    let mut words = CopyWords::default();
    // SAFETY: by the caller's promise.
    unsafe { get_copy(node, &mut words) }?;
    let extent = [words.width, words.height, words.depth];
    Ok(ReadCopy {
        from: words.from.addresses(extent),
        to: words.to.addresses(extent),
        is_dense: words.height <= 1 && words.depth <= 1,
    })
}

/// The addresses that a fill writes, and whether these are one range without gaps.
///
/// # Safety
///
/// The node lives, and is a fill's.
pub(crate) unsafe fn fill(node: CUgraphNode) -> Result<(Addresses, bool), CudaError> {
    // SAFETY: all fields are numbers, for which zeros are values.
    let mut params: MemsetNodeParams = unsafe { mem::zeroed() };
    // SAFETY: by the caller's promise.
    unsafe { get_fill(node, &mut params) }?;
    let row = (params.width as u64).saturating_mul(u64::from(params.elementSize));
    let rows = (params.height as u64).max(1);
    let bytes = (params.pitch as u64).saturating_mul(rows - 1).saturating_add(row);
    Ok((params.dst..params.dst.saturating_add(bytes), rows == 1))
}

/// The allocation that an address is in, if the driver knows it.
///
/// # Safety
///
/// A context is current.
pub(crate) unsafe fn allocation(address: u64) -> Option<Addresses> {
    let mut bytes = 0;
    // SAFETY: by the caller's promise; any address may be asked for.
    let first = unsafe { get_range(address, &mut bytes) }.ok()?;
    Some(first..first.checked_add(bytes as u64)?)
}
