//! The texture objects of a graph: one for each memory and form that a kernel node reads.

use crate::backend::device::cuda::Cuda;
use crate::driver::texture::{AddressMode, CUtexObject, FilterMode, TexelFormat, TextureMemory, TextureMode};
use crate::driver::{self, CUdeviceptr};
use crate::error::CudaError;
use crate::kernel::texture::{Addressing, Channel, Filter, Texture};
use std::collections::HashMap;
use std::mem;

/// The texture objects of a graph, with the arguments that they are for: a node, and the index of its argument. Objects
/// that no argument has any more are kept until no launch can use them. Dropping this destroys none.
#[derive(Default)]
pub(super) struct Textures {
    current: HashMap<(usize, usize), Object>,
    retired: Vec<CUtexObject>,
}

/// A texture object. It describes addresses, and owns no memory.
struct Object {
    handle: CUtexObject,
    address: CUdeviceptr,
    bytes: usize,
}

impl Textures {
    /// The handle of the texture for an argument of a node, of `bytes` bytes at an address. An argument has one form,
    /// that of its kernel, so its object is made again only for another address.
    ///
    /// # Safety
    ///
    /// The context is current. The memory is there as long as a launch may use the texture.
    pub(super) unsafe fn handle(
        &mut self,
        cuda: &Cuda,
        argument: (usize, usize),
        form: &Texture,
        (address, bytes): (CUdeviceptr, usize),
    ) -> Result<CUtexObject, CudaError> {
        if let Some(known) = self
            .current
            .get(&argument)
            .filter(|known| (known.address, known.bytes) == (address, bytes))
        {
            return Ok(known.handle);
        }
        announce!(cuda, trace, bytes, "cuTexObjectCreate")?;
        // SAFETY: by the caller's promise.
        let handle = unsafe { driver::texture::create(&memory(form, address, bytes), &mode(form)) }?;
        let made = Object { handle, address, bytes };
        let old = self.current.insert(argument, made);
        self.retired.extend(old.map(|old| old.handle));
        Ok(handle)
    }

    /// Destroys the objects that no argument has any more.
    ///
    /// # Safety
    ///
    /// The context is current, and no launch is in flight. The nodes that had these objects have been given others, or
    /// will be before the next launch.
    pub(super) unsafe fn sweep(&mut self) {
        for handle in mem::take(&mut self.retired) {
            // SAFETY: only `handle` makes objects, and each leaves the list once; nothing uses it, by the caller's
            // promise. There is nobody to tell of an error.
            let _ = unsafe { driver::texture::destroy(handle) };
        }
    }

    /// Destroys all objects.
    ///
    /// # Safety
    ///
    /// The context is current, and no graph that uses them exists any more.
    pub(super) unsafe fn destroy(&mut self) {
        self.retired
            .extend(self.current.drain().map(|(_, object)| object.handle));
        // SAFETY: by the caller's promise.
        unsafe { self.sweep() };
    }
}

fn memory(form: &Texture, address: CUdeviceptr, bytes: usize) -> TextureMemory {
    let (width, rows) = form.extent(bytes);
    TextureMemory {
        address,
        format: match form.channel {
            Channel::U8 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT8,
            Channel::I8 => TexelFormat::CU_AD_FORMAT_SIGNED_INT8,
            Channel::U16 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT16,
            Channel::I16 => TexelFormat::CU_AD_FORMAT_SIGNED_INT16,
            Channel::U32 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT32,
            Channel::I32 => TexelFormat::CU_AD_FORMAT_SIGNED_INT32,
            Channel::F32 => TexelFormat::CU_AD_FORMAT_FLOAT,
        },
        channels: form.channels.into(),
        width,
        rows,
        texel_bytes: form.texel_bytes(),
    }
}

fn mode(form: &Texture) -> TextureMode {
    TextureMode {
        address: match form.addressing {
            Addressing::Clamp => AddressMode::CU_TR_ADDRESS_MODE_CLAMP,
            Addressing::Border => AddressMode::CU_TR_ADDRESS_MODE_BORDER,
            Addressing::Wrap => AddressMode::CU_TR_ADDRESS_MODE_WRAP,
            Addressing::Mirror => AddressMode::CU_TR_ADDRESS_MODE_MIRROR,
        },
        filter: match form.filter {
            Filter::Nearest => FilterMode::CU_TR_FILTER_MODE_POINT,
            Filter::Linear => FilterMode::CU_TR_FILTER_MODE_LINEAR,
        },
        normalized_coordinates: form.normalized_coordinates,
        // Without this flag, integers of 8 and 16 bits are normalised. For `f32`, it means nothing.
        integers: form.channel != Channel::F32 && !form.normalized_values,
    }
}
