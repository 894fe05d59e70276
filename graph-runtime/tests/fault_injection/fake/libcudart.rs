//! CUDA's runtime library, as far as graphs are concerned: each call checks what only the runtime asks for, and makes
//! the driver's call of the same purpose. `FAKE_CUDA_VERSION=13000` makes both of that CUDA version, instead of 12.9;
//! and `FAKE_CUDART_VERSION=11080` makes the runtime of another one than the driver.

use super::*;

/// `struct cudaKernelNodeParams`, and what the driver adds to it.
#[repr(C)]
pub struct KernelNode {
    kernel: Handle,
    dimensions: [u32; 6],
    shared: u32,
    pointers: [Handle; 2],
    rest: [Handle; 2],
}

/// `struct cudaMemcpy3DParms`
#[repr(C)]
pub struct Copy3d {
    /// An array, a position, and a pointer with pitch, width and height; of the source and of the target.
    sides: [[usize; 8]; 2],
    extent: [usize; 3],
    kind: u32,
}

/// The version of the driver, and of this library unless it has another one.
pub(super) fn version() -> c_int {
    variable("FAKE_CUDA_VERSION").unwrap_or(12_090)
}

fn variable(name: &str) -> Option<c_int> {
    std::env::var(name).ok()?.parse().ok()
}

/// The driver's parameters of a kernel node. Nobody may pass a function instead of a kernel.
unsafe fn of_kernel(call: &str, params: *const KernelNode) -> KernelNode {
    // SAFETY: the caller has them there, without `rest`.
    let (kernel, dimensions, shared, pointers) =
        unsafe { ((*params).kernel, (*params).dimensions, (*params).shared, (*params).pointers) };
    let kernel = state().kernel(call, kernel);
    if dimensions.contains(&0) {
        mistake(call, "a dimension is 0");
    }
    KernelNode { kernel, dimensions, shared, pointers, rest: [0; 2] }
}

/// The driver's parameters of a copy: `CUDA_MEMCPY3D`.
unsafe fn of_copy(call: &str, params: *const Copy3d) -> [usize; COPY / 8] {
    // SAFETY: the caller has them there.
    let Copy3d { sides, extent, kind } = unsafe { &*params };
    // If an array takes part, widths are in its texels.
    let arrays = sides.iter().map(|side| side[0]).filter(|array| *array != 0);
    let texel = arrays.map(|array| state().array(call, array).0).next().unwrap_or(1);
    let is_host = |[array, x, y, z, pointer, pitch, width, height]: [usize; 8]| {
        if [x, y, z] != [0; 3] || [width, height] != extent[..2] {
            mistake(call, "this is no copy of rows");
        }
        if array != 0 {
            return false;
        }
        if pitch < extent[0] * texel {
            mistake(call, "rows overlap");
        }
        state().is_page_locked(pointer)
    };
    let [from, to] = sides.map(is_host);
    if *kind != 3 - 2 * u32::from(from) - u32::from(to) {
        mistake(call, &format!("kind {kind} for host {from} to host {to}"));
    }
    let mut params = [0; COPY / 8];
    for (first, is_host, [array, .., pointer, pitch, _, _]) in [(0, from, sides[0]), (11, to, sides[1])] {
        params[first + 4] = if is_host { 1 } else if array != 0 { 3 } else { 2 };
        params[first + if is_host { 5 } else { 6 }] = pointer;
        (params[first + 7], params[first + 9], params[first + 10]) = (array, pitch, extent[1]);
    }
    params[22..].copy_from_slice(extent);
    params[22] *= texel;
    params
}

/// The runtime would make a context of its own, which nobody wants.
fn bound(call: &str) {
    if CURRENT.get() != CONTEXT {
        mistake(call, "no context is current");
    }
}

macro_rules! api {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            const CALL: &str = stringify!($name);
            if let Some((name, code)) = &*CODE && name == CALL {
                return *code;
            }
            bound(CALL);
            // SAFETY: the caller's arguments are as CUDA asks; this library checks that as far as it can.
            unsafe { $body }
        }
    )*};
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaRuntimeGetVersion(out: *mut c_int) -> u32 {
    // SAFETY: the caller has room for it.
    unsafe { put(out, variable("FAKE_CUDART_VERSION").unwrap_or_else(version)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> u32 {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    let name = match code {
        0 => c"cudaSuccess",
        1 => c"cudaErrorInvalidValue",
        2 => c"cudaErrorMemoryAllocation",
        801 => c"cudaErrorNotSupported",
        900 => c"cudaErrorStreamCaptureUnsupported",
        999 => c"cudaErrorUnknown",
        _ => c"unrecognized error code",
    };
    name.as_ptr()
}

/// Declares functions that do what the driver's of the same purpose do, with the same arguments.
macro_rules! same {
    ($($name:ident = $driver:ident($($argument:ident: $type:ty),*);)*) => {
        api! { $($name($($argument: $type),*) { $driver($($argument),*) })* }
    };
}

/// Some functions have the names of others in CUDA 13.
fn only_in(call: &str, is_13: bool) {
    if is_13 != (version() >= 13_000) {
        mistake(call, "this version of CUDA does not have it, or has it with other parameters");
    }
}

same! {
    cudaGraphCreate = cuGraphCreate(out: *mut Handle, flags: u32);
    cudaGraphDestroy = cuGraphDestroy(graph: Handle);
    cudaGraphAddHostNode = cuGraphAddHostNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void
    );
    cudaGraphAddEmptyNode = cuGraphAddEmptyNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize);
    cudaGraphAddEventRecordNode = cuGraphAddEventRecordNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    );
    cudaGraphAddEventWaitNode = cuGraphAddEventWaitNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    );
    cudaGraphAddChildGraphNode = cuGraphAddChildGraphNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle
    );
    cudaGraphChildGraphNodeGetGraph = cuGraphChildGraphNodeGetGraph(node: Handle, out: *mut Handle);
    cudaGraphKernelNodeSetAttribute = cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: *const [u8; 64]);
    cudaGraphMemsetNodeSetParams = cuGraphMemsetNodeSetParams(node: Handle, params: *const c_void);
    cudaGraphInstantiateWithParams = cuGraphInstantiateWithParams(out: *mut Handle, graph: Handle, params: *mut c_void);
    cudaGraphExecUpdate = cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut c_void);
    cudaGraphExecDestroy = cuGraphExecDestroy(exec: Handle);
    cudaGraphDebugDotPrint = cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32);
    cudaGraphUpload = cuGraphUpload(exec: Handle, stream: Handle);
    cudaGraphLaunch = cuGraphLaunch(exec: Handle, stream: Handle);
    cudaGraphExecHostNodeSetParams = cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: *const c_void);
    cudaGraphNodeSetEnabled = cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32);
}

api! {
    cudaGraphAddKernelNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const KernelNode
    ) {
        let params = of_kernel(CALL, params);
        cuGraphAddKernelNode_v2(out, graph, after, count, (&raw const params).cast())
    }
    cudaGraphAddMemcpyNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const Copy3d) {
        let params = of_copy(CALL, params);
        cuGraphAddMemcpyNode(out, graph, after, count, params.as_ptr().cast(), CONTEXT)
    }
    cudaGraphAddMemsetNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void
    ) {
        cuGraphAddMemsetNode(out, graph, after, count, params, CONTEXT)
    }
    cudaGraphConditionalHandleCreate(out: *mut u64, graph: Handle, default: u32, flags: u32) {
        cuGraphConditionalHandleCreate(out, graph, CONTEXT, default, flags)
    }
    cudaGraphAddNode(
        out: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize, params: *mut u8
    ) {
        only_in(CALL, true);
        cuGraphAddNode_v2(out, graph, after, data, count, params)
    }
    cudaGraphAddNode_v2(
        out: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize, params: *mut u8
    ) {
        only_in(CALL, false);
        cuGraphAddNode_v2(out, graph, after, data, count, params)
    }
    cudaGraphAddDependencies(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        only_in(CALL, true);
        cuGraphAddDependencies_v2(graph, from, to, data, count)
    }
    cudaGraphAddDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        only_in(CALL, false);
        cuGraphAddDependencies_v2(graph, from, to, data, count)
    }
    cudaGraphMemcpyNodeSetParams(node: Handle, params: *const Copy3d) {
        let params = of_copy(CALL, params);
        cuGraphMemcpyNodeSetParams(node, params.as_ptr().cast())
    }
    cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: *const KernelNode) {
        let params = of_kernel(CALL, params);
        cuGraphExecKernelNodeSetParams_v2(exec, node, (&raw const params).cast())
    }
    cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: *const c_void) {
        cuGraphExecMemsetNodeSetParams(exec, node, params, CONTEXT)
    }
    cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: *const Copy3d) {
        let params = of_copy(CALL, params);
        cuGraphExecMemcpyNodeSetParams(exec, node, params.as_ptr().cast(), CONTEXT)
    }
}
