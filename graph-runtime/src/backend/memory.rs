//! Memory of either kind of device: it is allocated zeroed, freed when dropped, and copied to and from slices.

use crate::backend::device::cuda::Cuda;
use crate::backend::device::cuda_memory::{CudaMemory, CudarcSlice};
use crate::backend::device::event::LaunchEvent;
use crate::backend::device::{Allocation, Backend};
use crate::backend::uses::Claim;
use crate::error::{At, CudaError, Error, Result, Site};
use crate::shape::part::Layout;
use cudarc::driver::{CudaSlice, DevicePtr};
use std::alloc::{alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

/// The least alignment of host memory in bytes. (CUDA aligns it by itself, to 512 bytes or a page, but does not promise
/// that.)
const HOST_ALIGNMENT: usize = 64;

/// Zeroed device memory.
pub(crate) enum DeviceMemory {
    Cuda(CudaMemory),
    Emulator(Allocation),
}

impl DeviceMemory {
    /// Allocates `bytes` bytes, or 1 instead of 0, so that every resource has an address. The name appears in the
    /// emulator's messages.
    pub(crate) fn zeroed(backend: &Backend, name: &str, bytes: usize, site: impl Fn() -> Site) -> Result<Self> {
        match backend {
            Backend::Cuda(cuda) => CudaMemory::zeroed(cuda, bytes.max(1)).at(site).map(Self::Cuda),
            Backend::Emulator(device) => device.allocate(name, bytes.max(1), site).map(Self::Emulator),
        }
    }

    /// Takes over a slice of cudarc's: see [`CudaMemory::from_cudarc`].
    pub(crate) fn from_cudarc<T: Send + Sync + 'static>(slice: CudaSlice<T>) -> Self {
        Self::Cuda(CudaMemory::from_cudarc(slice))
    }

    /// Borrows the memory of a slice of cudarc's, whose bytes this does not own.
    ///
    /// # Safety
    ///
    /// As for [`CudaMemory::borrowed`].
    pub(crate) unsafe fn borrowed<T>(cuda: &Arc<Cuda>, slice: &impl DevicePtr<T>) -> Result<Self, CudaError> {
        // SAFETY: by the caller's promise.
        unsafe { CudaMemory::borrowed(cuda, slice) }.map(Self::Cuda)
    }

    /// Borrows the `bytes` bytes at an address.
    ///
    /// # Safety
    ///
    /// As for [`CudaMemory::at`].
    pub(crate) unsafe fn at(backend: &Backend, address: u64, bytes: usize) -> Result<Self> {
        match backend {
            // SAFETY: by the caller's promise.
            Backend::Cuda(cuda) => unsafe { CudaMemory::at(cuda, address, bytes) }
                .at(Site::buffer)
                .map(Self::Cuda),
            Backend::Emulator(_) => Err(Error::Unsupported {
                site: Site::buffer(),
                message: "the CPU emulator has no memory at addresses of CUDA",
            }),
        }
    }

    /// Memory of CUDA that `keeper` keeps.
    ///
    /// # Safety
    ///
    /// As for [`CudaMemory::within`].
    pub(crate) unsafe fn kept(
        cuda: &Arc<Cuda>,
        address: u64,
        bytes: usize,
        keeper: Box<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: by the caller's promise.
        Self::Cuda(unsafe { CudaMemory::within(cuda, address, bytes, keeper) })
    }

    /// Lends the memory from the byte `start` on as a slice of cudarc's with `len` elements, under a claim to read that
    /// lasts as long as the slice.
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::as_cudarc`](crate::DeviceBuffer::as_cudarc).
    pub(crate) unsafe fn cudarc<'a, T: 'static>(
        &'a self,
        start: usize,
        len: usize,
        claim: impl FnOnce() -> Result<Claim<'a, LaunchEvent>>,
    ) -> Result<CudarcSlice<'a, T>> {
        match self {
            // SAFETY: by the caller's promise.
            Self::Cuda(memory) => unsafe { memory.cudarc(start, len, claim()?) }.at(Site::buffer),
            Self::Emulator(_) => Err(Error::Unsupported {
                site: Site::buffer(),
                message: "memory of the CPU emulator is no CUDA memory",
            }),
        }
    }

    /// The address of the first byte, as kernels see it.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Cuda(memory) => memory.address(),
            Self::Emulator(allocation) => allocation.address(),
        }
    }

    /// The address of the first byte in the allocation that owns it. Pieces that share the byte have this address in
    /// common.
    #[cfg(feature = "emulator")]
    pub(crate) fn home(&self) -> u64 {
        match self {
            Self::Cuda(memory) => memory.address(),
            Self::Emulator(allocation) => allocation.home(),
        }
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Cuda(memory) => memory.bytes(),
            Self::Emulator(allocation) => allocation.len(),
        }
    }

    /// Whether graphs on `backend` can use it.
    pub(crate) fn is_usable_on(&self, backend: &Backend) -> bool {
        match (self, backend) {
            (Self::Cuda(memory), Backend::Cuda(cuda)) => memory.context() == cuda.raw(),
            (Self::Emulator(allocation), Backend::Emulator(device)) => device.owns(allocation),
            (Self::Cuda(_), Backend::Emulator(_)) | (Self::Emulator(_), Backend::Cuda(_)) => false,
        }
    }

    /// Waits for work that was queued on the memory as a slice of cudarc's and must come before a launch.
    pub(crate) fn settle(&self, write: bool) -> Result<(), CudaError> {
        match self {
            Self::Cuda(memory) => memory.settle(write),
            Self::Emulator(_) => Ok(()),
        }
    }

    /// Zeroes all bytes. The caller has checked that nothing touches them.
    pub(crate) fn clear(&self, site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.clear().at(site),
            Self::Emulator(allocation) => {
                const ZEROS: [u8; 4096] = [0; 4096];
                let len = allocation.len();
                (0..len).step_by(ZEROS.len()).try_for_each(|start| {
                    let zeros = &ZEROS[..ZEROS.len().min(len - start)];
                    let written = allocation.write(start, zeros);
                    written.map_err(|_| Error::OutOfBounds { site: site() })
                })
            }
        }
    }

    /// Copies bytes out. The caller has checked that they are in bounds and that nothing writes them.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8], site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.read(offset, to).at(site),
            Self::Emulator(allocation) => allocation
                .read(offset, to)
                .map_err(|_| Error::OutOfBounds { site: site() }),
        }
    }

    /// Copies bytes in. The caller has checked that they are in bounds and that nothing touches them.
    pub(crate) fn write(&self, offset: usize, from: &[u8], site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.write(offset, from).at(site),
            Self::Emulator(allocation) => allocation
                .write(offset, from)
                .map_err(|_| Error::OutOfBounds { site: site() }),
        }
    }
}

/// Host memory that the device can reach: zeroed and page-locked for CUDA, or lent by somebody.
///
/// It lends no reference itself. Whoever makes references from the pointer must know which others exist.
pub(crate) struct HostMemory {
    pointer: NonNull<u8>,
    bytes: usize,
    owner: HostOwner,
}

enum HostOwner {
    /// The context, and the start of the allocation; the memory's first byte may come later, for its alignment.
    Cuda(Arc<Cuda>, NonNull<u8>),
    Heap(std::alloc::Layout),
    /// Somebody who lends it to graphs in this context, or on an emulator.
    Lender(Option<Arc<Cuda>>),
}

// SAFETY: the memory is owned, or lent to whoever has this; any thread may use and free it, and `&HostMemory` gives no
// access but a raw pointer.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn zeroed(backend: &Backend, layout: Layout, site: impl Fn() -> Site) -> Result<Self> {
        let Layout { bytes, align } = layout;
        match backend {
            Backend::Cuda(cuda) => Self::page_locked(cuda, layout, site),
            Backend::Emulator(device) => {
                device.check()?;
                let failed = || Error::OutOfMemory { site: site(), bytes };
                let layout = std::alloc::Layout::from_size_align(bytes.max(1), align.max(HOST_ALIGNMENT))
                    .map_err(|_| failed())?;
                // SAFETY: the layout has at least one byte.
                let pointer = unsafe { alloc_zeroed(layout) };
                Ok(Self {
                    pointer: NonNull::new(pointer).ok_or_else(failed)?,
                    bytes,
                    owner: HostOwner::Heap(layout),
                })
            }
        }
    }

    /// Borrows the `bytes` bytes from `pointer` on.
    ///
    /// # Safety
    ///
    /// They are initialised, and nobody else does what conflicts with uses of this memory until nothing uses it any
    /// more.
    pub(crate) unsafe fn borrowed(backend: &Backend, pointer: NonNull<u8>, bytes: usize) -> Self {
        Self {
            pointer,
            bytes,
            owner: HostOwner::Lender(match backend {
                Backend::Cuda(cuda) => Some(cuda.clone()),
                Backend::Emulator(_) => None,
            }),
        }
    }

    /// Allocates page-locked memory, and aligns it by hand if the type needs more than [`HOST_ALIGNMENT`].
    fn page_locked(cuda: &Arc<Cuda>, layout: Layout, site: impl Fn() -> Site) -> Result<Self> {
        let Layout { bytes, align } = layout;
        let slack = if align > HOST_ALIGNMENT { align } else { 0 };
        let whole = cuda.host_alloc(bytes.max(1).saturating_add(slack)).at(&site)?;
        let mut memory = Self {
            pointer: whole,
            bytes,
            owner: HostOwner::Cuda(cuda.clone(), whole),
        };
        let offset = whole.align_offset(align);
        if offset > slack {
            return Err(Error::Unsupported {
                site: site(),
                message: "the driver has not aligned page-locked memory as this type needs it",
            });
        }
        // SAFETY: `slack` more bytes than `bytes` were allocated, and initialised.
        memory.pointer = unsafe { whole.add(offset) };
        Ok(memory)
    }

    /// Whether graphs on `backend` can use it. All emulators can use each other's host memory.
    pub(crate) fn is_usable_on(&self, backend: &Backend) -> bool {
        match (&self.owner, backend) {
            (HostOwner::Cuda(owner, _) | HostOwner::Lender(Some(owner)), Backend::Cuda(cuda)) => {
                owner.raw() == cuda.raw()
            }
            (HostOwner::Heap(_) | HostOwner::Lender(None), Backend::Emulator(_)) => true,
            (HostOwner::Cuda(..) | HostOwner::Lender(Some(_)), Backend::Emulator(_))
            | (HostOwner::Heap(_) | HostOwner::Lender(None), Backend::Cuda(_)) => false,
        }
    }

    /// The first byte. All bytes are initialised, and stay where they are while `self` lives.
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Zeroes all bytes.
    ///
    /// # Safety
    ///
    /// Nobody else touches the memory meanwhile, and there are no references into it.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: `bytes` bytes from the pointer on are allocated; the rest is the caller's promise.
        unsafe { self.pointer.write_bytes(0, self.bytes) };
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match &self.owner {
            HostOwner::Cuda(cuda, whole) => cuda.host_free(*whole),
            // SAFETY: the pointer was allocated with this layout and is freed only here.
            HostOwner::Heap(layout) => unsafe { dealloc(self.pointer.as_ptr(), *layout) },
            HostOwner::Lender(_) => {}
        }
    }
}
