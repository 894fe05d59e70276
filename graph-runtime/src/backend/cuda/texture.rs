//! The texture and surface objects of a graph: one for each argument of a kernel node that is one.

use crate::devices::cuda::Cuda;
use crate::devices::cuda_array::format;
use crate::driver::cuda_array::CUarray;
use crate::driver::texel_object::{AddressMode, CUsurfObject, CUtexObject, FilterMode, TexelMemory, TextureMode};
use crate::driver::{self, CUdeviceptr};
use crate::error::CudaError;
use crate::kernel::KernelFacts;
use crate::kernel::texels::{Channel, Geometry};
use crate::kernel::texture::{Addressing, Filter, Texture};
use std::collections::HashMap;
use std::mem;

/// The texture and surface objects of a graph, with the arguments that they are for: a node, and the index of its
/// argument. Objects that no argument has any more are kept until no launch can use them. Dropping this destroys none.
#[derive(Default)]
pub(super) struct Textures {
    current: HashMap<(usize, usize), (Handle, Described)>,
    retired: Vec<Handle>,
}

/// A texture or surface object. It describes memory, and owns none.
#[derive(Clone, Copy)]
enum Handle {
    Texture(CUtexObject),
    Surface(CUsurfObject),
}

impl Handle {
    /// The argument of the kernel.
    fn word(self) -> u64 {
        match self {
            Handle::Texture(texture) => texture,
            Handle::Surface(surface) => surface,
        }
    }
}

/// The memory of a texture or a surface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Described {
    /// Memory of this many bytes at an address.
    Bytes(CUdeviceptr, usize),
    Array(CUarray),
}

impl Textures {
    /// The handle of the object for an argument of a node that is a texture or a surface of `memory`; `None` if it is
    /// neither. An argument has one form, that of its kernel, so its object is made again only for other memory.
    ///
    /// # Safety
    ///
    /// The context is current. The memory is there as long as a launch may use the object.
    pub(super) unsafe fn handle(
        &mut self,
        cuda: &Cuda,
        argument: (usize, usize),
        facts: &KernelFacts,
        memory: Described,
    ) -> Result<Option<u64>, CudaError> {
        if let Some((handle, _)) = self.current.get(&argument).filter(|known| known.1 == memory) {
            return Ok(Some(handle.word()));
        }
        let handle = match (facts.texture(argument.1), facts.surface(argument.1), memory) {
            (Some(form), _, memory) => {
                announce!(cuda, trace, argument = argument.1, "cuTexObjectCreate")?;
                // SAFETY: by the caller's promise.
                let texture = unsafe { driver::texel_object::create(&described(form, memory), &mode(form)) };
                Handle::Texture(texture?)
            }
            (None, Some(_), Described::Array(array)) => {
                announce!(cuda, trace, argument = argument.1, "cuSurfObjectCreate")?;
                // SAFETY: by the caller's promise; arrays that kernels take as surfaces were made for it.
                Handle::Surface(unsafe { driver::texel_object::create_surface(array) }?)
            }
            (None, Some(_) | None, _) => return Ok(None), // the plan has refused surfaces of other memory
        };
        let old = self.current.insert(argument, (handle, memory));
        self.retired.extend(old.map(|(old, _)| old));
        Ok(Some(handle.word()))
    }

    /// Destroys the objects that no argument has any more.
    ///
    /// # Safety
    ///
    /// The context is current, and no launch is in flight. The nodes that had these objects have been given others, or
    /// will be before the next launch.
    pub(super) unsafe fn sweep(&mut self) {
        for handle in mem::take(&mut self.retired) {
            // There is nobody to tell of an error.
            let _ = match handle {
                // SAFETY: only `handle` makes objects, and each leaves the list once; nothing uses it, by the caller's
                // promise.
                Handle::Texture(texture) => unsafe { driver::texel_object::destroy(texture) },
                // SAFETY: as above.
                Handle::Surface(surface) => unsafe { driver::texel_object::destroy_surface(surface) },
            };
        }
    }

    /// Destroys all objects.
    ///
    /// # Safety
    ///
    /// The context is current, and no graph that uses them exists any more.
    pub(super) unsafe fn destroy(&mut self) {
        self.retired.extend(self.current.drain().map(|(_, (handle, _))| handle));
        // SAFETY: by the caller's promise.
        unsafe { self.sweep() };
    }
}

fn described(form: &Texture, memory: Described) -> TexelMemory {
    match memory {
        Described::Array(array) => TexelMemory::Array(array),
        Described::Bytes(address, bytes) => {
            let extent = form.texels.extent(bytes);
            TexelMemory::Addressed {
                address,
                format: format(form.texels.channel),
                channels: form.texels.channels.into(),
                width: extent.width,
                rows: (form.texels.geometry != Geometry::Line).then_some(extent.height),
                texel_bytes: form.texels.bytes(),
            }
        }
    }
}

fn mode(form: &Texture) -> TextureMode {
    let address = match form.addressing {
        Addressing::Clamp => AddressMode::CU_TR_ADDRESS_MODE_CLAMP,
        Addressing::Border => AddressMode::CU_TR_ADDRESS_MODE_BORDER,
        Addressing::Wrap => AddressMode::CU_TR_ADDRESS_MODE_WRAP,
        Addressing::Mirror => AddressMode::CU_TR_ADDRESS_MODE_MIRROR,
    };
    // Measured on the H200: a line is read as rows of which there is one, and a filter mixes it with what is above.
    let none = AddressMode::CU_TR_ADDRESS_MODE_CLAMP;
    TextureMode {
        address: match form.texels.geometry {
            Geometry::Line | Geometry::Lines { .. } => [address, none, none],
            Geometry::Plane { .. } | Geometry::Planes { .. } => [address, address, none],
            Geometry::Volume { .. } => [address; 3],
        },
        filter: match form.filter {
            Filter::Nearest => FilterMode::CU_TR_FILTER_MODE_POINT,
            Filter::Linear => FilterMode::CU_TR_FILTER_MODE_LINEAR,
        },
        normalized_coordinates: form.normalized_coordinates,
        // Without this flag, integers of 8 and 16 bits are normalised. For `f32`, it means nothing.
        integers: form.texels.channel != Channel::F32 && !form.normalized_values,
    }
}
