//! Driver calls about texture and surface objects.

use super::CUdeviceptr;
use super::array::CUarray;
use super::functions::call;
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ptr;

pub(crate) use sys::{
    CUaddress_mode as AddressMode, CUarray_format as TexelFormat, CUfilter_mode as FilterMode, CUsurfObject,
    CUtexObject,
};

/// The memory of a texture or a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TexelMemory {
    /// Memory with addresses.
    Addressed {
        address: CUdeviceptr,
        format: TexelFormat,
        channels: u32,
        /// The texels of a row; without rows, of all memory.
        width: usize,
        /// The number of rows, which follow each other, if there are rows.
        rows: Option<usize>,
        texel_bytes: usize,
    },
    Array(CUarray),
}

impl TexelMemory {
    fn description(&self) -> sys::CUDA_RESOURCE_DESC {
        let (kind, res) = match *self {
            TexelMemory::Array(array) => (
                sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
                sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                    array: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 { hArray: array },
                },
            ),
            TexelMemory::Addressed {
                address,
                format,
                channels,
                width,
                rows: None,
                texel_bytes,
            } => (
                sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
                sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                    linear: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
                        devPtr: address,
                        format,
                        numChannels: channels,
                        sizeInBytes: width * texel_bytes,
                    },
                },
            ),
            TexelMemory::Addressed {
                address,
                format,
                channels,
                width,
                rows: Some(rows),
                texel_bytes,
            } => (
                sys::CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
                sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                    pitch2D: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
                        devPtr: address,
                        format,
                        numChannels: channels,
                        width,
                        height: rows,
                        pitchInBytes: width * texel_bytes,
                    },
                },
            ),
        };
        sys::CUDA_RESOURCE_DESC {
            resType: kind,
            res,
            flags: 0,
        }
    }
}

/// The way in which a texture is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureMode {
    /// For x, y and z.
    pub(crate) address: [AddressMode; 3],
    pub(crate) filter: FilterMode,
    pub(crate) normalized_coordinates: bool,
    pub(crate) integers: bool,
}

/// `cuTexObjectCreate`
pub(crate) unsafe fn create(memory: &TexelMemory, mode: &TextureMode) -> Result<CUtexObject, CudaError> {
    const READ_AS_INTEGER: u32 = 1; // `CU_TRSF_READ_AS_INTEGER`
    const NORMALIZED_COORDINATES: u32 = 2; // `CU_TRSF_NORMALIZED_COORDINATES`
    let resource = memory.description();
    let mut flags = 0;
    if mode.integers {
        flags |= READ_AS_INTEGER;
    }
    if mode.normalized_coordinates {
        flags |= NORMALIZED_COORDINATES;
    }
    let description = sys::CUDA_TEXTURE_DESC {
        addressMode: mode.address,
        filterMode: mode.filter,
        flags,
        maxAnisotropy: 0,
        mipmapFilterMode: FilterMode::CU_TR_FILTER_MODE_POINT,
        mipmapLevelBias: 0.0,
        minMipmapLevelClamp: 0.0,
        maxMipmapLevelClamp: 0.0,
        borderColor: [0.0; 4],
        reserved: [0; 12],
    };
    let mut texture = 0;
    call!(cuTexObjectCreate(&mut texture, &resource, &description, ptr::null()))?;
    Ok(texture)
}

/// `cuTexObjectDestroy`
pub(crate) unsafe fn destroy(texture: CUtexObject) -> Result<(), CudaError> {
    call!(cuTexObjectDestroy(texture))
}

/// `cuSurfObjectCreate`; the array has `CUDA_ARRAY3D_SURFACE_LDST`
pub(crate) unsafe fn create_surface(array: CUarray) -> Result<CUsurfObject, CudaError> {
    let resource = TexelMemory::Array(array).description();
    let mut surface = 0;
    call!(cuSurfObjectCreate(&mut surface, &resource))?;
    Ok(surface)
}

/// `cuSurfObjectDestroy`
pub(crate) unsafe fn destroy_surface(surface: CUsurfObject) -> Result<(), CudaError> {
    call!(cuSurfObjectDestroy(surface))
}
