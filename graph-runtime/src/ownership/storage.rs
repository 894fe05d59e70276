//! The memory of a graph, resource by resource.

use crate::devices::Backend;
use crate::devices::cuda_array::CudaArray;
use crate::error::{At, Error, Result, Site};
use crate::ownership::block::SharedMemory;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::host_memory::HostMemory;
use crate::ownership::mapped_memory::MappedMemory;
use graph_plan::Memory;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The memory of a resource of a graph. A clone is another handle to the same memory.
#[derive(Clone)]
pub(crate) enum Storage {
    Host(Arc<HostMemory>),
    Device(Arc<KernelMemory>),
    /// Memory that others may use as well.
    Shared(SharedMemory),
    /// Host memory that kernels and the host access at any time.
    Mapped(Arc<MappedMemory>),
    /// A CUDA array. (On the emulator, arrays are device memory: their texels follow each other, row after row.)
    Array(Arc<CudaArray>),
    /// A part of the graph's arena, which may overlap other parts.
    Scratch(Scratch),
    /// A variable of a kernel's module, which the module owns.
    Module,
}

impl Storage {
    /// Device memory, and the offset at which the resource starts in it. CUDA arrays are none: they have no address.
    pub(crate) fn device(&self) -> Option<(&KernelMemory, usize)> {
        match self {
            Storage::Device(memory) => Some((memory, 0)),
            Storage::Shared(SharedMemory::Device(piece)) => Some((&piece.block, piece.start)),
            Storage::Scratch(scratch) => Some((&scratch.memory, scratch.start)),
            Storage::Mapped(memory) => Some((memory.as_device(), 0)),
            Storage::Host(_) | Storage::Shared(SharedMemory::Host(_)) | Storage::Array(_) | Storage::Module => None,
        }
    }

    /// The first byte of host memory.
    pub(crate) fn host(&self) -> Option<NonNull<u8>> {
        match self {
            Storage::Host(memory) => Some(memory.pointer()),
            // SAFETY: pieces lie within their block.
            Storage::Shared(SharedMemory::Host(piece)) => Some(unsafe { piece.block.pointer().add(piece.start) }),
            Storage::Device(_) | Storage::Shared(SharedMemory::Device(_)) => None,
            Storage::Mapped(_) | Storage::Array(_) | Storage::Scratch(_) | Storage::Module => None,
        }
    }

    /// The first byte. In device memory, this is an address without provenance; for a variable of a module and for a
    /// CUDA array it is null.
    pub(crate) fn first(&self) -> *mut u8 {
        match (self.host(), self.device()) {
            (Some(host), _) => host.as_ptr(),
            (None, Some((memory, start))) => ptr::without_provenance_mut(memory.address() as usize + start),
            (None, None) => ptr::null_mut(),
        }
    }

    /// The size in bytes; 0 for a variable of a module and for a CUDA array.
    #[cfg(feature = "emulator")]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Storage::Host(memory) => memory.bytes(),
            Storage::Device(memory) => memory.bytes(),
            Storage::Shared(memory) => memory.bytes(),
            Storage::Scratch(scratch) => scratch.bytes,
            Storage::Mapped(memory) => memory.as_device().bytes(),
            Storage::Array(_) | Storage::Module => 0,
        }
    }
}

/// Memory for one scratch resource.
#[derive(Clone)]
pub(crate) struct Scratch {
    /// The arena, or the memory of a pool that it is in. On the emulator, a piece of it with its own addresses, so that
    /// a kernel that leaves its buffer is caught.
    memory: Arc<KernelMemory>,
    start: usize,
    #[cfg_attr(not(feature = "emulator"), expect(dead_code, reason = "only the emulator asks"))]
    bytes: usize,
}

impl Scratch {
    /// The `bytes` bytes of `arena` from `offset` on. The caller has checked that they are in it. The name appears in
    /// the emulator's messages.
    pub(crate) fn new(
        arena: &Arc<KernelMemory>,
        name: &str,
        offset: usize,
        bytes: usize,
        site: impl Fn() -> Site,
    ) -> Result<Self> {
        let (memory, start) = match &**arena {
            KernelMemory::Cuda(_) => (arena.clone(), offset),
            KernelMemory::Emulator(whole) => {
                let piece = whole.memory().allocate_within(name, whole, offset, bytes);
                let piece = piece.map_err(|_| Error::OutOfBounds { site: site() })?;
                (Arc::new(KernelMemory::Emulator(piece.into())), 0)
            }
        };
        Ok(Self { memory, start, bytes })
    }

    /// Marks the memory as not written, at the start of a launch, for the emulator's check of uninitialized reads. Only
    /// the first call can fail: the host may have no memory to note which bytes are written.
    #[cfg(feature = "emulator")]
    pub(crate) fn forget(&self, site: impl Fn() -> Site) -> Result<()> {
        let KernelMemory::Emulator(piece) = &*self.memory else {
            return Ok(());
        };
        let bytes = piece.len();
        piece
            .forget_contents()
            .map_err(|_| Error::OutOfMemory { site: site(), bytes })
    }
}

/// Allocates every resource that is not shared.
pub(crate) fn allocate(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Vec<Storage>> {
    let Blueprint {
        draft,
        layouts,
        shared,
        arrays,
        ..
    } = blueprint;
    let mut scratch = allocate_scratch(backend, blueprint)?.into_iter();
    let shared = shared.by_resource(layouts.len());
    let resources = draft.resources.iter().zip(*layouts).zip(shared);
    let allocated = resources.enumerate().map(|(index, ((resource, layout), shared))| {
        let site = || Site::graph(&draft.name).at_memory(&resource.name);
        if let (Some(Some(form)), Some(layout), Backend::Cuda(cuda)) = (arrays.get(index), layout, backend) {
            return CudaArray::zeroed(cuda, form, layout.bytes)
                .at(site)
                .map(|array| Storage::Array(Arc::new(array)));
        }
        if let Some(memory) = shared {
            return Ok(Storage::Shared(memory));
        }
        let Some(layout) = layout else {
            return Ok(Storage::Module);
        };
        Ok(match resource.memory {
            // The backend puts the variable here when it has loaded the module.
            Memory::Constant | Memory::Variable => Storage::Module,
            Memory::Scratch => scratch.next().map_or(Storage::Module, Storage::Scratch),
            Memory::Mapped => Storage::Mapped(Arc::new(MappedMemory::zeroed(backend, &resource.name, *layout, site)?)),
            Memory::Host => Storage::Host(Arc::new(HostMemory::zeroed(backend, *layout, site)?)),
            // On CUDA, an array without a form is one that no kernel takes, which is a mistake.
            Memory::Device | Memory::Array => {
                let memory = KernelMemory::zeroed(backend, &resource.name, layout.bytes, site)?;
                Storage::Device(Arc::new(memory))
            }
        })
    });
    allocated.collect()
}

/// Allocates the arena. Returns the part of each scratch resource, in order.
fn allocate_scratch(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Vec<Scratch>> {
    let Blueprint {
        draft, layouts, arena, ..
    } = blueprint;
    if arena.offsets.is_empty() {
        return Ok(Vec::new());
    }
    let site = || Site::graph(&draft.name).at_memory("scratch");
    let whole = match blueprint.shared.pool() {
        Some(pool) => pool.take(arena.bytes, site)?,
        None => Arc::new(KernelMemory::zeroed(backend, "scratch", arena.bytes, site)?),
    };
    let parts = arena.offsets.iter().map(|&(resource, offset)| {
        let name = &draft.resources[resource].name;
        let bytes = layouts[resource].map_or(0, |layout| layout.bytes);
        Scratch::new(&whole, name, offset, bytes, || Site::graph(&draft.name).at_memory(name))
    });
    parts.collect()
}
