//! Views of a graph's device memory, its own or shared.

use crate::devices::launch_event::LaunchEvent;
use crate::error::{Error, Result, Site};
use crate::in_flight::launches::Access;
use crate::in_flight::uses::{Claim, ClaimKind, Uses};
use crate::ownership::block::Piece;
use crate::ownership::device_memory::KernelMemory;
use crate::shape::place::{OnDevice, Place, Selected, select};
use crate::shape::rows::Rows;
use crate::shape::table::{Table, unpadded};
use crate::shape::{ArrayOf, Element};
use bytemuck::allocation::{try_zeroed_box, try_zeroed_vec};
use std::marker::PhantomData;
use std::ops::{Deref, RangeBounds};

/// A borrowed view of a graph's device memory, to be read. While it lives, the graph cannot be launched.
pub struct DeviceRef<'g, S: ?Sized> {
    memory: &'g KernelMemory,
    /// The current uses of the memory, if it is shared.
    uses: Option<&'g Uses<LaunchEvent>>,
    part: Selected,
    site: Site,
    shape: PhantomData<fn(&S)>,
}

impl<'g, S: ?Sized> DeviceRef<'g, S> {
    /// A view of a graph's own memory. The caller has checked that the part is in it and that no launch is in flight.
    pub(crate) fn new(memory: &'g KernelMemory, part: Selected, site: Site) -> Self {
        Self {
            memory,
            uses: None,
            part,
            site,
            shape: PhantomData,
        }
    }

    /// A view of shared memory. The caller has checked that the part is in the piece.
    pub(crate) fn shared(piece: &'g Piece<KernelMemory>, part: Selected, site: Site) -> Self {
        let start = piece.start + part.start;
        Self {
            uses: Some(piece.block.uses()),
            ..Self::new(&piece.block, Selected { start, ..part }, site)
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.part.bytes
    }

    /// The element `index` of the outermost dimension.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if there is none.
    pub fn row(&self, index: usize) -> Result<DeviceRef<'g, S::Row>>
    where
        S: Rows,
    {
        self.part(|all| all.row(index))
    }

    /// The elements `range` of the outermost dimension.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if some of them are not there.
    pub fn rows(&self, range: impl RangeBounds<usize>) -> Result<DeviceRef<'g, S::Several>>
    where
        S: Rows,
    {
        self.part(|all| all.rows(range))
    }

    fn part<P: ?Sized>(&self, f: impl FnOnce(Place<S, OnDevice>) -> Place<P, OnDevice>) -> Result<DeviceRef<'g, P>> {
        let part = select(self.bytes(), self.part.lengths, || self.site.clone(), f)?;
        let start = self.part.start + part.start;
        Ok(DeviceRef {
            uses: self.uses,
            ..DeviceRef::new(self.memory, Selected { start, ..part }, self.site.clone())
        })
    }

    fn check(&self, given: usize) -> Result<()> {
        if given == self.bytes() {
            return Ok(());
        }
        Err(Error::Length {
            site: self.site.clone(),
            expected: self.bytes(),
            given,
        })
    }

    /// Claims the memory if it is shared, and waits for conflicting launches.
    fn hold(&self, write: bool) -> Result<Option<Claim<'g, LaunchEvent>>> {
        let access = Access::new(self.part.start, self.part.start + self.bytes(), write);
        let held = self.uses.map(|uses| uses.hold(access, ClaimKind::Call));
        held.transpose().map_err(|refused| refused.at(self.site.clone()))
    }

    fn get(&self, bytes: &mut [u8]) -> Result<()> {
        self.check(bytes.len())?;
        let _held = self.hold(false)?;
        self.memory.read(self.part.start, bytes, || self.site.clone())
    }

    /// A copy of the elements, whose size divides that of the memory.
    fn elements<T: Element>(&self) -> Result<Vec<T>> {
        let len = self.bytes().checked_div(size_of::<T>()).unwrap_or(0);
        let mut values = try_zeroed_vec(len).map_err(|()| self.out_of_memory())?;
        self.get(bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// The error of a copy for which the host has too little memory.
    #[cold]
    fn out_of_memory(&self) -> Error {
        Error::OutOfMemory {
            site: self.site.clone(),
            bytes: self.bytes(),
        }
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check(bytes.len())?;
        let _held = self.hold(true)?;
        self.memory.write(self.part.start, bytes, || self.site.clone())
    }
}

impl<S: Element> DeviceRef<'_, S> {
    /// Returns a copy of the contents. Blocks until it is made.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the copy failed; [`Error::InUse`] as [`DeviceBuffer::read`](crate::DeviceBuffer::read);
    /// [`Error::OutOfMemory`] if the host has too little memory for the copy.
    pub fn read(&self) -> Result<Box<S>> {
        let mut value = try_zeroed_box().map_err(|()| self.out_of_memory())?;
        self.copy_to(&mut *value)?;
        Ok(value)
    }

    /// Returns a copy of the contents: all elements `T`, row by row. Blocks until it is made.
    ///
    /// # Errors
    /// As [`DeviceRef::read`].
    pub fn read_vec<T: Element>(&self) -> Result<Vec<T>>
    where
        S: ArrayOf<T>,
    {
        self.elements()
    }

    /// Copies the contents to `value`. Blocks until the copy is made.
    ///
    /// # Errors
    /// As [`DeviceRef::read`].
    pub fn copy_to(&self, value: &mut S) -> Result<()> {
        self.get(bytemuck::bytes_of_mut(value))
    }
}

impl<T, const D: usize> DeviceRef<'_, Table<T, D>> {
    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.part.lengths)
    }
}

/// Copies in and out of memory whose elements the host has in slices.
macro_rules! flat {
    ($([$($generics:tt)*] $shape:ty;)*) => {$(
        impl<$($generics)*> DeviceRef<'_, $shape> {
            /// Returns a copy of the contents: all elements, row by row. Blocks until it is made.
            ///
            /// # Errors
            /// [`Error::Cuda`] if the copy failed; [`Error::InUse`] as
            /// [`DeviceBuffer::read`](crate::DeviceBuffer::read); [`Error::OutOfMemory`] if the host has too little
            /// memory for the copy.
            pub fn read_vec(&self) -> Result<Vec<T>> {
                self.elements()
            }

            /// Copies the contents to `slice`, which has as many elements as the memory. Blocks until the copy is made.
            ///
            /// # Errors
            /// [`Error::Length`] if the lengths differ, and as [`DeviceRef::read_vec`].
            pub fn copy_to(&self, slice: &mut [T]) -> Result<()> {
                self.get(bytemuck::cast_slice_mut(slice))
            }
        }

        impl<$($generics)*> DeviceMut<'_, $shape> {
            /// Replaces the contents. `slice` has all elements, row by row. Blocks until the copy is made.
            ///
            /// # Errors
            /// [`Error::Length`] if the lengths differ; [`Error::Cuda`] if the copy failed; [`Error::InUse`] as
            /// [`DeviceBuffer::read`](crate::DeviceBuffer::read).
            pub fn copy_from(&mut self, slice: &[T]) -> Result<()> {
                self.0.write(bytemuck::cast_slice(slice))
            }
        }
    )*};
}
flat! {
    [T: Element] [T];
    [T: Element, const D: usize] Table<T, D>;
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

    /// Replaces the contents by all elements, row by row. Blocks until the copy is made.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements, and as [`DeviceMut::copy_from`].
    pub fn copy_from_slice<T: Element>(&mut self, elements: &[T]) -> Result<()>
    where
        S: ArrayOf<T>,
    {
        self.0.write(bytemuck::cast_slice(elements))
    }
}

impl<S: ?Sized + Rows> DeviceMut<'_, S> {
    /// The element `index` of the outermost dimension, to write.
    ///
    /// # Errors
    /// As [`DeviceRef::row`].
    pub fn row_mut(&mut self, index: usize) -> Result<DeviceMut<'_, S::Row>> {
        self.0.row(index).map(DeviceMut)
    }

    /// The elements `range` of the outermost dimension, to write.
    ///
    /// # Errors
    /// As [`DeviceRef::rows`].
    pub fn rows_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceMut<'_, S::Several>> {
        self.0.rows(range).map(DeviceMut)
    }
}
