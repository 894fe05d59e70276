//! Views of a graph's device memory, its own or shared.

use crate::backend::block::Piece;
use crate::backend::device::event::LaunchEvent;
use crate::backend::launches::Access;
use crate::backend::memory::DeviceMemory;
use crate::backend::uses::{Claim, ClaimKind, Uses};
use crate::error::{Error, Result, Site};
use crate::shape::Element;
use bytemuck::allocation::{zeroed_box, zeroed_vec};
use std::marker::PhantomData;
use std::ops::Deref;

/// A borrowed view of a graph's device memory, to be read. While it lives, the graph cannot be launched.
pub struct DeviceRef<'g, S: ?Sized> {
    memory: &'g DeviceMemory,
    /// The current uses of the memory, if it is shared.
    uses: Option<&'g Uses<LaunchEvent>>,
    start: usize,
    bytes: usize,
    site: Site,
    shape: PhantomData<fn(&S)>,
}

impl<'g, S: ?Sized> DeviceRef<'g, S> {
    /// A view of a graph's own memory. The caller has checked that the bytes are in it and that no launch is in flight.
    pub(crate) fn new(memory: &'g DeviceMemory, start: usize, bytes: usize, site: Site) -> Self {
        Self {
            memory,
            uses: None,
            start,
            bytes,
            site,
            shape: PhantomData,
        }
    }

    /// A view of shared memory. The caller has checked that the bytes are in the piece.
    pub(crate) fn shared(piece: &'g Piece<DeviceMemory>, start: usize, bytes: usize, site: Site) -> Self {
        Self {
            uses: Some(piece.block.uses()),
            ..Self::new(&piece.block, piece.start + start, bytes, site)
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

    /// Claims the memory if it is shared, and waits for conflicting launches.
    fn hold(&self, write: bool) -> Result<Option<Claim<'g, LaunchEvent>>> {
        let access = Access::new(self.start, self.start + self.bytes, write);
        let held = self.uses.map(|uses| uses.hold(access, ClaimKind::Call));
        held.transpose().map_err(|refused| refused.at(self.site.clone()))
    }

    fn get(&self, bytes: &mut [u8]) -> Result<()> {
        self.check(bytes.len())?;
        let _held = self.hold(false)?;
        self.memory.read(self.start, bytes, || self.site.clone())
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check(bytes.len())?;
        let _held = self.hold(true)?;
        self.memory.write(self.start, bytes, || self.site.clone())
    }
}

impl<S: Element> DeviceRef<'_, S> {
    /// Returns a copy of the contents. Blocks until it is made.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the copy failed; [`Error::InUse`] as [`DeviceBuffer::read`](crate::DeviceBuffer::read).
    pub fn read(&self) -> Result<Box<S>> {
        let mut value = zeroed_box();
        self.copy_to(&mut *value)?;
        Ok(value)
    }

    /// Copies the contents to `value`. Blocks until the copy is made.
    ///
    /// # Errors
    /// As [`DeviceRef::read`].
    pub fn copy_to(&self, value: &mut S) -> Result<()> {
        self.get(bytemuck::bytes_of_mut(value))
    }
}

impl<T: Element> DeviceRef<'_, [T]> {
    /// Returns a copy of the contents. Blocks until it is made.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the copy failed; [`Error::InUse`] as [`DeviceBuffer::read`](crate::DeviceBuffer::read).
    pub fn read_vec(&self) -> Result<Vec<T>> {
        let mut values = zeroed_vec(self.bytes.checked_div(size_of::<T>()).unwrap_or(0));
        self.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies the contents to `slice`, which must have the length of the memory. Blocks until the copy is made.
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ, and as [`DeviceRef::read_vec`].
    pub fn copy_to(&self, slice: &mut [T]) -> Result<()> {
        self.get(bytemuck::cast_slice_mut(slice))
    }
}

/// A borrowed view of a graph's device memory, to be read and written. While it lives, the graph cannot be launched.
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
    /// Replaces the contents. Blocks until the copy is made.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the copy failed; [`Error::InUse`] as [`DeviceBuffer::read`](crate::DeviceBuffer::read).
    pub fn copy_from(&mut self, value: &S) -> Result<()> {
        self.0.write(bytemuck::bytes_of(value))
    }
}

impl<T: Element> DeviceMut<'_, [T]> {
    /// Replaces the contents. `slice` must have the length of the memory. Blocks until the copy is made.
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ; [`Error::Cuda`] if the copy failed; [`Error::InUse`] as
    /// [`DeviceBuffer::read`](crate::DeviceBuffer::read).
    pub fn copy_from(&mut self, slice: &[T]) -> Result<()> {
        self.0.write(bytemuck::cast_slice(slice))
    }
}
