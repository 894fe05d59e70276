//! Driver calls about texture and surface objects.

use super::CUdeviceptr;
use super::cuda_array::CUarray;
use super::error::driver_calls;
use super::types::{CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUresourcetype, Linear, Pitch2d, Resource};
use std::ffi::c_void;
use std::ptr;

pub(crate) use super::types::{
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
    fn description(&self) -> CUDA_RESOURCE_DESC {
        let (kind, res) = match *self {
            TexelMemory::Array(array) => (CUresourcetype::CU_RESOURCE_TYPE_ARRAY, Resource { array }),
            TexelMemory::Addressed {
                address,
                format,
                channels,
                width,
                rows: None,
                texel_bytes,
            } => (
                CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
                Resource {
                    linear: Linear {
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
                CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
                Resource {
                    pitch2D: Pitch2d {
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
        CUDA_RESOURCE_DESC {
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

impl TextureMode {
    fn description(&self) -> CUDA_TEXTURE_DESC {
        const READ_AS_INTEGER: u32 = 1; // `CU_TRSF_READ_AS_INTEGER`
        const NORMALIZED_COORDINATES: u32 = 2; // `CU_TRSF_NORMALIZED_COORDINATES`
        let mut flags = 0;
        if self.integers {
            flags |= READ_AS_INTEGER;
        }
        if self.normalized_coordinates {
            flags |= NORMALIZED_COORDINATES;
        }
        CUDA_TEXTURE_DESC {
            addressMode: self.address,
            filterMode: self.filter,
            flags,
            maxAnisotropy: 0,
            mipmapFilterMode: FilterMode::CU_TR_FILTER_MODE_POINT,
            mipmapLevelBias: 0.0,
            minMipmapLevelClamp: 0.0,
            maxMipmapLevelClamp: 0.0,
            borderColor: [0.0; 4],
            reserved: [0; 12],
        }
    }
}

driver_calls! {
    NAMES;
    pub(crate) fn create(memory: &TexelMemory, mode: &TextureMode) -> texture: CUtexObject
        = cuTexObjectCreate(
            texture: *mut CUtexObject = &mut texture,
            resource: *const CUDA_RESOURCE_DESC as *const sys::CUDA_RESOURCE_DESC = &memory.description(),
            description: *const CUDA_TEXTURE_DESC as *const sys::CUDA_TEXTURE_DESC = &mode.description(),
            view: *const c_void as *const sys::CUDA_RESOURCE_VIEW_DESC = ptr::null(),
        );
    pub(crate) fn destroy(texture: CUtexObject) = cuTexObjectDestroy;
    /// The array has `CUDA_ARRAY3D_SURFACE_LDST`.
    pub(crate) fn create_surface(array: CUarray) -> surface: CUsurfObject
        = cuSurfObjectCreate(
            surface: *mut CUsurfObject = &mut surface,
            resource: *const CUDA_RESOURCE_DESC as *const sys::CUDA_RESOURCE_DESC = &TexelMemory::Array(array).description(),
        );
    pub(crate) fn destroy_surface(surface: CUsurfObject) = cuSurfObjectDestroy;
}
