//! Memory with a shape: buffers outside graphs, and views of a graph's device memory.

use crate::backend::CudarcSlice;
use crate::backend::cuda::Memory;
use crate::backend::{DeviceMemory, HostMemory};
use crate::error::{At, Error, Result, Site};
use crate::shape::Element;
use bytemuck::allocation::{zeroed_box, zeroed_vec};
use cudarc::driver::CudaSlice;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Device memory of shape `S`, outside any graph. It is zeroed when allocated and freed when dropped.
pub struct DeviceBuffer<S: ?Sized> {
    memory: DeviceMemory,
    bytes: usize,
    shape: PhantomData<fn(&S)>,
}

impl<S: ?Sized> DeviceBuffer<S> {
    pub(crate) fn new(memory: DeviceMemory, bytes: usize) -> Self {
        Self {
            memory,
            bytes,
            shape: PhantomData,
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn view(&self) -> DeviceRef<'_, S> {
        DeviceRef::new(&self.memory, 0, self.bytes, Site::buffer())
    }
}

impl<S: Element> DeviceBuffer<S> {
    /// A copy of the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`] where the copy, or any work before it, failed.
    pub fn read(&self) -> Result<Box<S>> {
        self.view().read()
    }

    /// Replaces the contents.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn copy_from(&mut self, value: &S) -> Result<()> {
        self.view().write(bytemuck::bytes_of(value))
    }

    /// Copies the contents out.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn copy_to(&self, value: &mut S) -> Result<()> {
        self.view().copy_to(value)
    }
}

impl<T: Element> DeviceBuffer<[T]> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.checked_div(size_of::<T>()).unwrap_or(0)
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`] where the copy, or any work before it, failed.
    pub fn read_vec(&self) -> Result<Vec<T>> {
        self.view().read_vec()
    }

    /// Replaces the contents.
    ///
    /// # Errors
    /// [`Error::Length`] for a slice of another length, and as [`DeviceBuffer::read_vec`].
    pub fn copy_from(&mut self, slice: &[T]) -> Result<()> {
        self.view().write(bytemuck::cast_slice(slice))
    }

    /// Copies the contents out.
    ///
    /// # Errors
    /// As [`DeviceBuffer::copy_from`].
    pub fn copy_to(&self, slice: &mut [T]) -> Result<()> {
        self.view().copy_to(slice)
    }

    /// The memory as a slice of cudarc's, to read it there. Writing to the buffer, or dropping it, later waits for what was queued on it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the emulator; [`Error::Cuda`] where the driver refuses.
    pub fn as_cudarc(&self) -> Result<CudarcSlice<'_, T>> {
        match &self.memory {
            DeviceMemory::Cuda(memory) => memory.cudarc(self.len()).at(Site::buffer),
            DeviceMemory::Emulator(_) => Err(Error::Unsupported {
                site: Site::buffer(),
                message: "memory of the CPU emulator is no CUDA memory",
            }),
        }
    }
}

/// Takes the slice over, once all work on it is done, and keeps it alive.
impl<T: Element> From<CudaSlice<T>> for DeviceBuffer<[T]> {
    fn from(slice: CudaSlice<T>) -> Self {
        let bytes = slice.num_bytes();
        Self::new(DeviceMemory::Cuda(Memory::from_cudarc(slice)), bytes)
    }
}

impl<S: ?Sized> fmt::Debug for DeviceBuffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({} bytes)", self.bytes)
    }
}

/// A borrowed view of a graph's device memory, to read. While it lives the graph cannot be launched.
pub struct DeviceRef<'g, S: ?Sized> {
    memory: &'g DeviceMemory,
    start: usize,
    bytes: usize,
    site: Site,
    shape: PhantomData<fn(&S)>,
}

impl<'g, S: ?Sized> DeviceRef<'g, S> {
    /// The caller has checked that so many bytes are there and that no launch is in flight.
    pub(crate) fn new(memory: &'g DeviceMemory, start: usize, bytes: usize, site: Site) -> Self {
        Self {
            memory,
            start,
            bytes,
            site,
            shape: PhantomData,
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn check(&self, given: usize) -> Result<()> {
        if given == self.bytes {
            return Ok(());
        }
        Err(Error::Length {
            site: self.site.clone(),
            expected: self.bytes,
            given,
        })
    }

    fn get(&self, bytes: &mut [u8]) -> Result<()> {
        self.check(bytes.len())?;
        self.memory.read(self.start, bytes, || self.site.clone())
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check(bytes.len())?;
        self.memory.write(self.start, bytes, || self.site.clone())
    }
}

impl<S: Element> DeviceRef<'_, S> {
    /// A copy of the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`] where the copy failed.
    pub fn read(&self) -> Result<Box<S>> {
        let mut value = zeroed_box();
        self.copy_to(&mut *value)?;
        Ok(value)
    }

    /// Copies the contents out.
    ///
    /// # Errors
    /// As [`DeviceRef::read`].
    pub fn copy_to(&self, value: &mut S) -> Result<()> {
        self.get(bytemuck::bytes_of_mut(value))
    }
}

impl<T: Element> DeviceRef<'_, [T]> {
    /// A copy of the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`] where the copy failed.
    pub fn read_vec(&self) -> Result<Vec<T>> {
        let mut values = zeroed_vec(self.bytes.checked_div(size_of::<T>()).unwrap_or(0));
        self.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies the contents out.
    ///
    /// # Errors
    /// [`Error::Length`] for a slice of another length, and as [`DeviceRef::read_vec`].
    pub fn copy_to(&self, slice: &mut [T]) -> Result<()> {
        self.get(bytemuck::cast_slice_mut(slice))
    }
}

/// A borrowed view of a graph's device memory, to read and write. While it lives the graph cannot be launched.
///
/// It dereferences to [`DeviceRef`] for reading.
pub struct DeviceMut<'g, S: ?Sized>(pub(crate) DeviceRef<'g, S>);

impl<'g, S: ?Sized> Deref for DeviceMut<'g, S> {
    type Target = DeviceRef<'g, S>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<S: Element> DeviceMut<'_, S> {
    /// Replaces the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`] where the copy failed.
    pub fn copy_from(&mut self, value: &S) -> Result<()> {
        self.0.write(bytemuck::bytes_of(value))
    }
}

impl<T: Element> DeviceMut<'_, [T]> {
    /// Replaces the contents.
    ///
    /// # Errors
    /// [`Error::Length`] for a slice of another length; [`Error::Cuda`] where the copy failed.
    pub fn copy_from(&mut self, slice: &[T]) -> Result<()> {
        self.0.write(bytemuck::cast_slice(slice))
    }
}

/// Host memory of shape `S`, outside any graph: zeroed, and page-locked on CUDA. It dereferences to `S`.
pub struct HostBuffer<S: ?Sized> {
    /// What `memory` holds, as its shape.
    pointer: NonNull<S>,
    /// Freed after use, never read again.
    memory: HostMemory,
}

// SAFETY: the buffer owns its `S`, as a `Box` does.
unsafe impl<S: ?Sized + Send> Send for HostBuffer<S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Sync> Sync for HostBuffer<S> {}

impl<S: Element> HostBuffer<S> {
    /// The memory has the size and alignment of `S`.
    pub(crate) fn sized(memory: HostMemory) -> Self {
        Self {
            pointer: memory.pointer().cast(),
            memory,
        }
    }
}

impl<T: Element> HostBuffer<[T]> {
    /// The memory has the size and alignment of `len` elements.
    pub(crate) fn slice(memory: HostMemory, len: usize) -> Self {
        Self {
            pointer: NonNull::slice_from_raw_parts(memory.pointer().cast(), len),
            memory,
        }
    }
}

impl<S: ?Sized> HostBuffer<S> {
    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }
}

impl<S: ?Sized> Deref for HostBuffer<S> {
    type Target = S;

    fn deref(&self) -> &S {
        // SAFETY: `sized` and `slice`, which alone make buffers, got memory of the size and alignment of `S`, zeroed, which is a valid
        // `S: Pod`. It lives as long as `self`, and only `self` leads to it.
        unsafe { self.pointer.as_ref() }
    }
}

impl<S: ?Sized> DerefMut for HostBuffer<S> {
    fn deref_mut(&mut self) -> &mut S {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { self.pointer.as_mut() }
    }
}

impl<S: ?Sized> fmt::Debug for HostBuffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({} bytes)", self.bytes())
    }
}
