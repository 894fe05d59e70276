//! The stream of a `capture`, and memory of its graph, for cudarc's wrappers of libraries.

use crate::program::capture::CaptureStream;
use crate::program::pointer::{Pointer, PointerMut};
use crate::shape::ArrayOf;
use crate::shape::place::OnDevice;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

impl<'n, K> CaptureStream<'n, K> {
    /// The stream as cudarc's type, which cudarc's wrappers of libraries take.
    ///
    /// # Safety
    ///
    /// Every launch of the graph repeats the work that is queued on the stream, after this closure has ended. So this
    /// work may touch only memory that the node declares, as it declares it, and memory that lives as long as the graph
    /// and that nothing else uses. (cudarc's functions for streams are safe since their work runs at once; captured
    /// work does not.) The stream is used no longer than the graph lives.
    pub unsafe fn cudarc(&self) -> &'n Arc<CudaStream> {
        self.object()
    }

    /// Declared memory as a type with cudarc's traits for device memory, to be read by cudarc's wrappers of libraries.
    ///
    /// # Safety
    ///
    /// The slice is used on this stream only. (cudarc's functions would also copy it on other streams, while the graph
    /// runs.) It gives access to the stream, for which the rules of [`CaptureStream::cudarc`] hold.
    pub unsafe fn slice<T, S: ?Sized + ArrayOf<T>>(&self, memory: &Pointer<'n, S, OnDevice>) -> CaptureSlice<'n, T> {
        CaptureSlice {
            address: memory.address(),
            len: memory.count(),
            stream: self.object(),
            element: PhantomData,
        }
    }

    /// Declared memory as a type with cudarc's traits for device memory, to be read and written.
    ///
    /// # Safety
    ///
    /// As for [`CaptureStream::slice`].
    pub unsafe fn slice_mut<T, S: ?Sized + ArrayOf<T>>(
        &self,
        memory: &PointerMut<'n, S, OnDevice>,
    ) -> CaptureSliceMut<'n, T> {
        // SAFETY: by the caller's promise.
        CaptureSliceMut(unsafe { self.slice(memory) })
    }
}

/// Memory of a graph for cudarc's wrappers of libraries, within a `capture`, to be read: see [`CaptureStream::slice`].
pub struct CaptureSlice<'n, T> {
    address: CUdeviceptr,
    len: usize,
    stream: &'n Arc<CudaStream>,
    element: PhantomData<fn(&T)>,
}

/// Memory of a graph for cudarc's wrappers of libraries, within a `capture`, to be read and written: see
/// [`CaptureStream::slice_mut`].
pub struct CaptureSliceMut<'n, T>(CaptureSlice<'n, T>);

impl<T> DeviceSlice<T> for CaptureSlice<'_, T> {
    fn len(&self) -> usize {
        self.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.stream
    }
}

/// Gives the address without events: the order of the graph's nodes replaces them.
impl<T> DevicePtr<T> for CaptureSlice<'_, T> {
    fn device_ptr<'a>(&'a self, _stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Sync(None))
    }
}

impl<T> DeviceSlice<T> for CaptureSliceMut<'_, T> {
    fn len(&self) -> usize {
        self.0.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.0.stream
    }
}

impl<T> DevicePtr<T> for CaptureSliceMut<'_, T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        self.0.device_ptr(stream)
    }
}

impl<T> DevicePtrMut<T> for CaptureSliceMut<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, _stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.0.address, SyncOnDrop::Sync(None))
    }
}

impl<T> fmt::Debug for CaptureSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaptureSlice({:#x}, {})", self.address, self.len)
    }
}

impl<T> fmt::Debug for CaptureSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
