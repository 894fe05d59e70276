//! Memory of the host that a device can reach.

use crate::devices::Backend;
use crate::devices::cuda::Cuda;
use crate::error::{At, Error, Result, Site};
use crate::shape::part::Layout;
use std::alloc::{alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

/// The least alignment of host memory in bytes. (CUDA aligns it by itself, to 512 bytes or a page, but does not promise
/// that.)
const HOST_ALIGNMENT: usize = 64;

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
        let Layout { bytes, align, .. } = layout;
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
        let Layout { bytes, align, .. } = layout;
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
