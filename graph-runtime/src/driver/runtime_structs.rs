//! The structs of CUDA's runtime library, libcudart, whose calls are rows of `graph_api`.
//!
//! Handles of graphs, nodes, streams and events are the driver's: each library takes those of the other
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__DRIVER.html>). Kernels are not: the runtime takes a
//! `CUkernel`, which [`interop`](super::interop) loads, and no `CUfunction`. Where the driver's calls are told a
//! context, the runtime uses the current one, so each of its calls also asks its caller for that (D11 of
//! `docs/safety.md`).

use super::CUkernel;
use super::copy::{Copy3d, CopySide};
use super::graph::KernelNodeParams;
use std::ffi::c_void;
use std::ptr;

/// `struct cudaKernelNodeParams`
#[repr(C)]
pub(super) struct KernelNode {
    kernel: CUkernel,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
}

impl KernelNode {
    /// The parameters of a kernel that the runtime takes.
    pub(super) fn new(params: &KernelNodeParams) -> Self {
        Self {
            kernel: params.kern,
            grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
            block: [params.blockDimX, params.blockDimY, params.blockDimZ],
            shared: params.sharedMemBytes,
            arguments: params.kernelParams,
            extra: params.extra,
        }
    }
}

/// `struct cudaPitchedPtr`
#[repr(C)]
struct PitchedPointer {
    pointer: *mut c_void,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `struct cudaMemcpy3DParms`
#[repr(C)]
pub(super) struct CopyNode {
    from_array: *mut c_void,
    from_position: [usize; 3],
    from: PitchedPointer,
    to_array: *mut c_void,
    to_position: [usize; 3],
    to: PitchedPointer,
    /// Width, height, depth. The width is in bytes or, if an array takes part, in its texels.
    extent: [usize; 3],
    /// `enum cudaMemcpyKind`
    kind: u32,
}

impl CopyNode {
    pub(super) fn new(copy: &Copy3d) -> Self {
        let [width, height, depth] = copy.sides;
        let (mut has_array, null) = (false, ptr::null_mut());
        // The array, the pointer with its pitch, and whether that is the host's.
        let mut parts = |side: CopySide| match side {
            CopySide::Host(pointer, pitch) => (null, pointer, pitch, 1),
            CopySide::Device(address, pitch) => (null, ptr::without_provenance_mut(address as usize), pitch, 0),
            CopySide::Array(array) => {
                has_array = true;
                (array.cast(), null, 0, 0)
            }
        };
        let (from_array, from, from_pitch, from_host) = parts(copy.from);
        let (to_array, to, to_pitch, to_host) = parts(copy.to);
        let width = if has_array { width / copy.texel } else { width };
        let side = |pointer, pitch| PitchedPointer {
            pointer,
            pitch,
            width,
            height,
        };
        Self {
            from_array,
            from_position: [0; 3],
            from: side(from, from_pitch),
            to_array,
            to_position: [0; 3],
            to: side(to, to_pitch),
            extent: [width, height, depth],
            // 0: host to host, 1: host to device, 2: device to host, 3: device to device.
            kind: 3 - 2 * from_host - to_host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::graph::{InstantiateParams, MemsetNodeParams, UpdateInfo};
    use crate::driver::host_function::HostNode;
    use std::mem::{offset_of, size_of};

    /// `xtask/cudart.cpp` has the same numbers, and compares them with CUDA's headers.
    #[test]
    fn structs_are_those_of_the_header() {
        assert_eq!(size_of::<KernelNode>(), 56);
        assert_eq!(offset_of!(KernelNode, grid), 8);
        assert_eq!(offset_of!(KernelNode, block), 20);
        assert_eq!(offset_of!(KernelNode, shared), 32);
        assert_eq!(offset_of!(KernelNode, arguments), 40);
        assert_eq!(offset_of!(KernelNode, extra), 48);
        assert_eq!(size_of::<CopyNode>(), 160);
        assert_eq!(offset_of!(CopyNode, from_position), 8);
        assert_eq!(offset_of!(CopyNode, from), 32);
        assert_eq!(offset_of!(CopyNode, to_array), 64);
        assert_eq!(offset_of!(CopyNode, to_position), 72);
        assert_eq!(offset_of!(CopyNode, to), 96);
        assert_eq!(offset_of!(CopyNode, extent), 128);
        assert_eq!(offset_of!(CopyNode, kind), 152);
        assert_eq!(offset_of!(PitchedPointer, pitch), 8);
        assert_eq!(offset_of!(PitchedPointer, width), 16);
        assert_eq!(offset_of!(PitchedPointer, height), 24);
        assert_eq!(size_of::<HostNode>(), 16);
        assert_eq!(offset_of!(HostNode, data), 8);
        assert_eq!(size_of::<MemsetNodeParams>(), 40);
        assert_eq!(offset_of!(MemsetNodeParams, value), 16);
        assert_eq!(offset_of!(MemsetNodeParams, elementSize), 20);
        assert_eq!(offset_of!(MemsetNodeParams, width), 24);
        assert_eq!(size_of::<InstantiateParams>(), 32);
        assert_eq!(size_of::<UpdateInfo>(), 24);
    }
}
