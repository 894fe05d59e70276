//! Device memory of cudarc's, lent to graphs or taken over, and buffers as its type.

use crate::devices::Backend;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::cudarc_slice::CudarcSlice;
use crate::error::{At, Error, Result, Site};
use crate::in_flight::uses::{ClaimKind, Terms};
use crate::memory::DeviceBuffer;
use crate::memory::scope::{Lend, Loan, Scope, lend, sealed};
use crate::ownership::block::{Piece, SharedMemory};
use crate::ownership::device_memory::KernelMemory;
use crate::shape::{Element, NO_LENGTHS};
use cudarc::driver::{CudaSlice, CudaView, CudaViewMut, DevicePtr};

impl Scope<'_> {
    /// Lends a slice of cudarc's, or a view of one.
    fn device<T: Element>(&self, slice: &impl DevicePtr<T>, write: bool) -> Result<DeviceBuffer<[T]>> {
        let cuda = match &self.backend {
            Backend::Cuda(cuda) if cuda.raw() == slice.stream().context().cu_ctx() => cuda,
            Backend::Cuda(_) | Backend::Emulator(_) => return Err(Error::ForeignMemory { site: Site::lent() }),
        };
        let bytes = slice.num_bytes();
        // SAFETY: the slice is borrowed for `'env`. Before that ends, `end` has taken the memory back: nothing uses it
        // from then on (fact 6 of `Uses`).
        let memory = unsafe { CudaMemory::borrowed(cuda, slice) }.at(Site::lent)?;
        let piece = Piece::new(KernelMemory::Cuda(memory), bytes, NO_LENGTHS, Terms::Lent { write });
        self.loans.borrow_mut().push(Loan {
            memory: SharedMemory::Device(piece.clone()),
            page_lock: None,
        });
        Ok(DeviceBuffer::of(piece))
    }
}

lend! {
    [T: Element] &'env CudaSlice<T> => DeviceBuffer<[T]>: |slice, scope| scope.device(slice, false);
    [T: Element] &'env mut CudaSlice<T> => DeviceBuffer<[T]>: |slice, scope| scope.device(slice, true);
    [T: Element] CudaView<'env, T> => DeviceBuffer<[T]>: |view, scope| scope.device(&view, false);
    [T: Element] CudaViewMut<'env, T> => DeviceBuffer<[T]>: |view, scope| scope.device(&view, true);
}

impl<T: Element> DeviceBuffer<[T]> {
    /// Waits for launches that write the memory, and lends it as a slice of cudarc's, to be read there. While the slice
    /// lives, graphs that write the memory do not launch. Later writes to the memory, and dropping it, wait for work
    /// that was queued with the slice.
    ///
    /// It is `unsafe`, since they wait for work of the memory's own context only, and cudarc's safe functions also copy
    /// from a slice in other contexts, and in graphs that cudarc captures. [`DeviceBuffer::read_vec`] and graphs copy
    /// without `unsafe`.
    ///
    /// ```compile_fail,E0133
    /// # use graph_runtime::Device;
    /// let buffer = Device::cuda(0)?.alloc_slice::<f32>(4)?;
    /// let lent = buffer.as_cudarc()?;     // error: call to unsafe function
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// All work with the slice, and with its address,
    /// * only reads the memory;
    /// * is queued on streams of the slice's own [context](CudaSlice::context), none of which is being captured;
    /// * is queued before the returned [`CudarcSlice`] is dropped.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) on the emulator; [`Error::Cuda`](crate::Error::Cuda) if the
    /// driver refuses; [`Error::InUse`](crate::Error::InUse) as [`DeviceBuffer::read`].
    pub unsafe fn as_cudarc(&self) -> Result<CudarcSlice<'_, T>> {
        let claim = || self.piece.hold(false, ClaimKind::Guard, Site::buffer);
        // SAFETY: by the caller's promise.
        unsafe { self.piece.block.cudarc(self.piece.start, self.len(), claim) }
    }
}

/// Takes over a slice of cudarc's, and keeps it alive. Waits for all work of its context first.
impl<T: Element> From<CudaSlice<T>> for DeviceBuffer<[T]> {
    fn from(slice: CudaSlice<T>) -> Self {
        let bytes = slice.num_bytes();
        Self::new(KernelMemory::Cuda(CudaMemory::from_cudarc(slice)), bytes, NO_LENGTHS)
    }
}
