//! Calls of the driver as a library makes them: in captures, and for nodes that are added by hand.

use graph_runtime::cudarc::driver::{result, sys};
use graph_runtime::{BoxError, CaptureMode, CaptureOptions, OnDevice, Pointer, PointerMut, RawNode, Result};

/// A recording without runs before it.
pub(crate) const ONCE: CaptureOptions = CaptureOptions {
    mode: CaptureMode::ThreadLocal,
    warm_up: 0,
};

/// Queues a copy of all of `from`. The callers declare to read the one and to write the other, which is as long.
pub(crate) fn copy<T: ?Sized>(
    stream: sys::CUstream,
    from: &Pointer<'_, T, OnDevice>,
    to: &PointerMut<'_, T, OnDevice>,
) -> Result<(), BoxError> {
    // SAFETY: by the declaration of the callers.
    Ok(unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream) }?)
}

/// Adds a node that sets so many elements of `size` bytes. The callers declare to write them.
pub(crate) fn set_by_node<K>(
    node: &RawNode<'_, K>,
    after: &[sys::CUgraphNode],
    to: sys::CUdeviceptr,
    value: u32,
    [size, width]: [usize; 2],
) -> Result<sys::CUgraphNode, BoxError> {
    let params = sys::CUDA_MEMSET_NODE_PARAMS {
        dst: to,
        pitch: 0,
        value,
        elementSize: size as u32,
        width,
        height: 1,
    };
    let (graph, context) = (node.graph(), node.context().cu_ctx());
    let mut added = std::ptr::null_mut();
    // SAFETY: graph and nodes are what the closure was given; the memory is what the callers declare.
    unsafe { sys::cuGraphAddMemsetNode(&mut added, graph, after.as_ptr(), after.len(), &params, context) }.result()?;
    Ok(added)
}
