//! Copies of rows of memory and of arrays.

use super::types::{CUarray, CUmemorytype};
use std::ffi::c_void;
use std::ptr;

pub(crate) use super::types::CUDA_MEMCPY3D as CopyParams;

/// A copy. Each of the two libraries has a struct of its own for it.
#[derive(Clone, Copy)]
pub(crate) struct Copy3d {
    pub(crate) from: CopySide,
    pub(crate) to: CopySide,
    /// The bytes of a row, the rows of a plane, and the planes, or layers of an array.
    pub(crate) sides: [usize; 3],
    /// The bytes of a texel, if an array takes part.
    #[cfg_attr(not(feature = "cudart"), expect(dead_code, reason = "the driver counts bytes"))]
    pub(crate) texel: usize,
}

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) enum CopySide {
    /// Memory of the host, with the bytes from one row to the next.
    Host(*mut c_void, usize),
    /// Memory of the device, with the bytes from one row to the next.
    Device(u64, usize),
    Array(CUarray),
}

impl CopySide {
    /// The kind of memory, the host's pointer, the device's address, the array, and the pitch.
    fn parts(self) -> (CUmemorytype, *mut c_void, u64, CUarray, usize) {
        let (pointer, array) = (ptr::null_mut(), ptr::null_mut());
        match self {
            CopySide::Host(pointer, pitch) => (CUmemorytype::CU_MEMORYTYPE_HOST, pointer, 0, array, pitch),
            CopySide::Device(address, pitch) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, pointer, address, array, pitch),
            CopySide::Array(array) => (CUmemorytype::CU_MEMORYTYPE_ARRAY, pointer, 0, array, 0),
        }
    }
}

impl Copy3d {
    /// The driver's parameters.
    pub(crate) fn of_driver(&self) -> CopyParams {
        let (source, source_host, source_device, source_array, source_pitch) = self.from.parts();
        let (target, target_host, target_device, target_array, target_pitch) = self.to.parts();
        let [width, height, depth] = self.sides;
        CopyParams {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: source,
            srcHost: source_host,
            srcDevice: source_device,
            srcArray: source_array,
            reserved0: ptr::null_mut(),
            srcPitch: source_pitch,
            srcHeight: height,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: target,
            dstHost: target_host,
            dstDevice: target_device,
            dstArray: target_array,
            reserved1: ptr::null_mut(),
            dstPitch: target_pitch,
            dstHeight: height,
            WidthInBytes: width,
            Height: height,
            Depth: depth,
        }
    }
}
