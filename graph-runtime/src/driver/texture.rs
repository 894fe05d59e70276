//! Driver calls about texture objects.

use super::CUdeviceptr;
use super::functions::call;
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ptr;

pub(crate) use sys::{
    CUaddress_mode as AddressMode, CUarray_format as TexelFormat, CUfilter_mode as FilterMode, CUtexObject,
};

/// The memory of a texture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureMemory {
    pub(crate) address: CUdeviceptr,
    pub(crate) format: TexelFormat,
    pub(crate) channels: u32,
    /// The texels of a row; without rows, of all memory.
    pub(crate) width: usize,
    /// The number of rows, which follow each other, if there are rows.
    pub(crate) rows: Option<usize>,
    pub(crate) texel_bytes: usize,
}

/// The way in which a texture is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureMode {
    pub(crate) address: AddressMode,
    pub(crate) filter: FilterMode,
    pub(crate) normalized_coordinates: bool,
    pub(crate) integers: bool,
}

/// `cuTexObjectCreate`
pub(crate) unsafe fn create(memory: &TextureMemory, mode: &TextureMode) -> Result<CUtexObject, CudaError> {
    const READ_AS_INTEGER: u32 = 1; // `CU_TRSF_READ_AS_INTEGER`
    const NORMALIZED_COORDINATES: u32 = 2; // `CU_TRSF_NORMALIZED_COORDINATES`
    let (kind, res) = match memory.rows {
        None => (
            sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
            sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                linear: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
                    devPtr: memory.address,
                    format: memory.format,
                    numChannels: memory.channels,
                    sizeInBytes: memory.width * memory.texel_bytes,
                },
            },
        ),
        Some(rows) => (
            sys::CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
            sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                pitch2D: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
                    devPtr: memory.address,
                    format: memory.format,
                    numChannels: memory.channels,
                    width: memory.width,
                    height: rows,
                    pitchInBytes: memory.width * memory.texel_bytes,
                },
            },
        ),
    };
    let resource = sys::CUDA_RESOURCE_DESC {
        resType: kind,
        res,
        flags: 0,
    };
    let mut flags = 0;
    if mode.integers {
        flags |= READ_AS_INTEGER;
    }
    if mode.normalized_coordinates {
        flags |= NORMALIZED_COORDINATES;
    }
    let description = sys::CUDA_TEXTURE_DESC {
        addressMode: [mode.address; 3],
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
