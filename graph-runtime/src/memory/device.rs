//! Device memory outside graphs.

use super::view::DeviceRef;
use crate::backend::block::{Piece, Shareable, SharedMemory, sealed};
use crate::backend::device::cuda_memory::CudarcSlice;
use crate::backend::memory::DeviceMemory;
use crate::backend::uses::ClaimKind;
use crate::error::{Result, Site};
use crate::shape::place::{OnDevice, Place, select};
use crate::shape::rows::Rows;
use crate::shape::table::{Table, unpadded};
use crate::shape::{Element, Lengths, NO_LENGTHS};
use cudarc::driver::CudaSlice;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Device memory of shape `S`, outside any graph, or shared by several. It is zeroed when allocated.
///
/// A clone is another handle to the same memory, which lives as long as any handle, or any graph that uses it. Copies
/// in and out wait for the launches that use the memory, and launches for copies.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder};
///
/// let device = Device::emulator();
/// let weights = device.alloc::<[f32; 4]>()?;
///
/// let mut builder = GraphBuilder::new(&device, "Train");
/// let mut w = builder.shared("w", &weights, true);   // this graph writes it
/// builder.memset("set", &mut w, 2.0_f32);
/// let mut train = builder.build()?;
///
/// let mut builder = GraphBuilder::new(&device, "Infer");
/// let w = builder.shared("w", &weights, false);      // this one only reads
/// let mut out = builder.host::<[f32; 4]>("out");
/// builder.memcpy("download", &w, &mut out);
/// let mut infer = builder.build()?;
///
/// train.launch()?;
/// infer.launch()?;                                   // after `train`, whatever streams they run on
/// assert_eq!(infer.host(&out)?, &[2.0; 4]);
/// assert_eq!(*weights.read()?, [2.0; 4]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
pub struct DeviceBuffer<S: ?Sized> {
    piece: Piece<DeviceMemory>,
    shape: PhantomData<fn(&S)>,
}

impl<S: ?Sized> DeviceBuffer<S> {
    /// Memory of a shape that is no table.
    pub(crate) fn new(memory: DeviceMemory, bytes: usize) -> Self {
        Self::with_lengths(memory, bytes, NO_LENGTHS)
    }

    /// Memory of a shape that does not tell these lengths.
    pub(crate) fn with_lengths(memory: DeviceMemory, bytes: usize, lengths: Lengths) -> Self {
        Self::of(Piece::new(memory, bytes, lengths))
    }

    fn of(piece: Piece<DeviceMemory>) -> Self {
        Self {
            piece,
            shape: PhantomData,
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.piece.bytes
    }

    /// The element `index` of the outermost dimension, as a handle of its own.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) where there is none.
    pub fn row(&self, index: usize) -> Result<DeviceBuffer<S::Row>>
    where
        S: Rows,
    {
        self.part(|all| all.row(index))
    }

    /// The elements `range` of the outermost dimension, as a handle of its own. Uses of parts that do not overlap need
    /// no order.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) where they are not all there.
    pub fn rows(&self, range: impl RangeBounds<usize>) -> Result<DeviceBuffer<S::Several>>
    where
        S: Rows,
    {
        self.part(|all| all.rows(range))
    }

    fn part<P: ?Sized>(&self, f: impl FnOnce(Place<S, OnDevice>) -> Place<P, OnDevice>) -> Result<DeviceBuffer<P>> {
        let part = select(self.bytes(), self.piece.lengths, Site::buffer, f)?;
        Ok(DeviceBuffer::of(self.piece.part(&part)))
    }

    fn view(&self) -> DeviceRef<'_, S> {
        DeviceRef::shared(&self.piece, 0, self.piece.bytes, Site::buffer()).with_lengths(self.piece.lengths)
    }
}

impl<S: Element> DeviceBuffer<S> {
    /// A copy of the contents.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) where the copy, or any work before it, failed.
    /// [`Error::InUse`](crate::Error::InUse) while a guard lends the memory to write, and in functions that a launch of
    /// a graph with this memory calls.
    pub fn read(&self) -> Result<Box<S>> {
        self.view().read()
    }

    /// Replaces the contents.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn copy_from(&self, value: &S) -> Result<()> {
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

impl<T, const D: usize> DeviceBuffer<Table<T, D>> {
    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.piece.lengths)
    }
}

/// Copies in and out of memory whose elements the host has in slices.
macro_rules! flat {
    ($([$($generics:tt)*] $shape:ty;)*) => {$(
        impl<$($generics)*> DeviceBuffer<$shape> {
            /// A copy of the contents: all elements, row by row.
            ///
            /// # Errors
            /// As [`DeviceBuffer::read`].
            pub fn read_vec(&self) -> Result<Vec<T>> {
                self.view().read_vec()
            }

            /// Replaces the contents: all elements, row by row.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length) for a slice of another length, and as
            /// [`DeviceBuffer::read_vec`].
            pub fn copy_from(&self, slice: &[T]) -> Result<()> {
                self.view().write(bytemuck::cast_slice(slice))
            }

            /// Copies the contents out: all elements, row by row.
            ///
            /// # Errors
            /// As [`DeviceBuffer::copy_from`].
            pub fn copy_to(&self, slice: &mut [T]) -> Result<()> {
                self.view().copy_to(slice)
            }
        }
    )*};
}
flat! {
    [T: Element] [T];
    [T: Element, const D: usize] Table<T, D>;
}

impl<T: Element> DeviceBuffer<[T]> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes().checked_div(size_of::<T>()).unwrap_or(0)
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory as a slice of cudarc's, to read it there. While the slice lives, graphs that write the memory do not
    /// launch. Writing to the memory, or dropping it, later waits for what was queued on the slice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) on the emulator; [`Error::Cuda`](crate::Error::Cuda) where the
    /// driver refuses; [`Error::InUse`](crate::Error::InUse) as [`DeviceBuffer::read`].
    pub fn as_cudarc(&self) -> Result<CudarcSlice<'_, T>> {
        let claim = || self.piece.hold(false, ClaimKind::Guard, Site::buffer);
        self.piece.block.cudarc(self.piece.start, self.len(), claim)
    }
}

/// Takes the slice over, once all work on it is done, and keeps it alive.
impl<T: Element> From<CudaSlice<T>> for DeviceBuffer<[T]> {
    fn from(slice: CudaSlice<T>) -> Self {
        let bytes = slice.num_bytes();
        Self::new(DeviceMemory::from_cudarc(slice), bytes)
    }
}

/// Another handle to the same memory.
impl<S: ?Sized> Clone for DeviceBuffer<S> {
    fn clone(&self) -> Self {
        Self::of(self.piece.clone())
    }
}

/// Another handle to the same memory, for what takes `impl Into<DeviceBuffer<S>>`.
impl<S: ?Sized> From<&DeviceBuffer<S>> for DeviceBuffer<S> {
    fn from(buffer: &DeviceBuffer<S>) -> Self {
        buffer.clone()
    }
}

impl<S: ?Sized> sealed::Shareable for DeviceBuffer<S> {
    fn handle(&self) -> sealed::SharedHandle {
        sealed::SharedHandle(SharedMemory::Device(self.piece.clone()))
    }
}

impl<S: ?Sized> Shareable for DeviceBuffer<S> {
    type Shape = S;
    type Memory = OnDevice;
}

impl<S: ?Sized> fmt::Debug for DeviceBuffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({} bytes)", self.bytes())
    }
}
