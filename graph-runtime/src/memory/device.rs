//! Device memory outside graphs.

use super::view::DeviceRef;
use crate::error::{Error, Result, Site};
use crate::in_flight::uses::Terms;
use crate::ownership::block::Piece;
use crate::ownership::device_memory::KernelMemory;
use crate::shape::place::{OnDevice, Place, Selected, select};
use crate::shape::rows::Tabular;
use crate::shape::table::{Table, bytes_of, padded, unpadded};
use crate::shape::{ArrayOf, Element, Lengths};
use std::marker::PhantomData;

/// Device memory of shape `S`, outside any graph; several graphs can share it. It is zeroed when allocated:
/// [`Device::alloc`](crate::Device::alloc), [`Device::alloc_slice`](crate::Device::alloc_slice).
///
/// It is a counted handle: a clone refers to the same memory, which lives as long as any handle, or any graph that uses
/// it. Copies in and out block until conflicting launches have ended, and launches wait for copies.
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
    pub(super) piece: Piece<KernelMemory>,
    shape: PhantomData<fn(&S)>,
}

impl<S: ?Sized> DeviceBuffer<S> {
    /// Memory of a shape that does not tell these lengths.
    pub(crate) fn new(memory: KernelMemory, bytes: usize, lengths: Lengths) -> Self {
        Self::of(Piece::new(memory, bytes, lengths, Terms::Owned))
    }

    /// A handle to a piece whose shape is `S`.
    pub(super) fn of(piece: Piece<KernelMemory>) -> Self {
        Self {
            piece,
            shape: PhantomData,
        }
    }

    fn part<P: ?Sized>(&self, f: impl FnOnce(Place<S, OnDevice>) -> Place<P, OnDevice>) -> Result<DeviceBuffer<P>> {
        let part = select(self.bytes(), self.piece.lengths, Site::buffer, f)?;
        Ok(DeviceBuffer::of(self.piece.part(&part)))
    }

    fn view(&self) -> DeviceRef<'_, S> {
        let Piece { bytes, lengths, .. } = self.piece;
        let whole = Selected {
            start: 0,
            bytes,
            lengths,
        };
        DeviceRef::shared(&self.piece, whole, Site::buffer())
    }
}

impl<S: Element> DeviceBuffer<S> {
    /// Waits for launches that write the memory, and returns a copy of the contents.
    ///
    /// # Errors
    /// * [`Error::Cuda`](crate::Error::Cuda) if the copy, or any work before it, failed;
    /// * [`Error::InUse`](crate::Error::InUse) if the call writes the memory while a
    ///   [`CudarcSlice`](crate::CudarcSlice) lends it; in a host function, also while another thread or a launch uses
    ///   it;
    /// * [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the host has too little memory for the copy.
    pub fn read(&self) -> Result<Box<S>> {
        self.view().read()
    }

    /// Waits for launches that write the memory, and returns a copy of the contents: all elements `T`, row by row.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn read_vec<T: Element>(&self) -> Result<Vec<T>>
    where
        S: ArrayOf<T>,
    {
        self.view().read_vec()
    }

    /// Waits for launches that use the memory, and replaces the contents.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn copy_from(&self, value: &S) -> Result<()> {
        self.view().write(bytemuck::bytes_of(value))
    }

    /// Waits for launches that use the memory, and replaces the contents by all elements, row by row.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if there are more or fewer elements, and as [`DeviceBuffer::read`].
    pub fn copy_from_slice<T: Element>(&self, elements: &[T]) -> Result<()>
    where
        S: ArrayOf<T>,
    {
        self.view().write(bytemuck::cast_slice(elements))
    }

    /// Waits for launches that write the memory, and copies the contents to `value`.
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
            /// Waits for launches that write the memory, and returns a copy of the contents: all elements, row by row.
            ///
            /// # Errors
            /// As [`DeviceBuffer::read`].
            pub fn read_vec(&self) -> Result<Vec<T>> {
                self.view().read_vec()
            }

            /// Waits for launches that use the memory, and replaces the contents. `slice` has all elements, row by row.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length) if the lengths differ, and as [`DeviceBuffer::read_vec`].
            pub fn copy_from(&self, slice: &[T]) -> Result<()> {
                self.view().write(bytemuck::cast_slice(slice))
            }

            /// Waits for launches that write the memory, and copies the contents to `slice`, which has as many elements
            /// as the memory.
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
    /// Returns a handle to the same memory as elements of another type: the parts of an arena have the types that their
    /// users say.
    ///
    /// ```
    /// use graph_runtime::Device;
    ///
    /// let arena = Device::emulator().alloc_slice::<u8>(4096)?;
    /// let weights = arena.rows(0..1024)?.cast::<f32>()?;
    /// let matrix = arena.rows(1024..)?.cast::<[f32; 64]>()?;
    /// assert_eq!((weights.len(), matrix.len()), (256, 12));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the memory does not begin at a multiple of the alignment of `E`, or does not end after
    /// a whole element.
    pub fn cast<E: Element>(&self) -> Result<DeviceBuffer<[E]>> {
        let Piece {
            ref block,
            start,
            bytes,
            ..
        } = self.piece;
        let refused = |message| Error::Unsupported {
            site: Site::buffer(),
            message,
        };
        if !(block.address() + start as u64).is_multiple_of(align_of::<E>() as u64) {
            return Err(refused(
                "does not begin where such elements may be: begin at a multiple of their alignment",
            ));
        }
        if bytes.checked_rem(size_of::<E>()) != Some(0) {
            return Err(refused(
                "has no whole number of such elements: by `rows`, select a multiple of their size, which is not 0",
            ));
        }
        Ok(DeviceBuffer::of(self.piece.clone()))
    }

    /// Returns a handle to the same memory as a table of these lengths, outermost first: a tensor of a checkpoint has
    /// the dimensions that its header says.
    ///
    /// ```
    /// use graph_runtime::Device;
    ///
    /// let arena = Device::emulator().alloc_slice::<u8>(4096)?;
    /// let matrix = arena.rows(..512)?.cast::<f32>()?.table([8, 16])?;
    /// assert_eq!(matrix.lengths(), [8, 16]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a table of these lengths has more or fewer elements.
    pub fn table<const D: usize>(&self, lengths: [usize; D]) -> Result<DeviceBuffer<Table<T, D>>>
    where
        Table<T, D>: Tabular,
    {
        if bytes_of::<T>(&lengths) != self.bytes() {
            return Err(Error::Unsupported {
                site: Site::buffer(),
                message: "has more or fewer elements than a table of these lengths",
            });
        }
        Ok(DeviceBuffer::of(Piece {
            lengths: padded(lengths),
            ..self.piece.clone()
        }))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes().checked_div(size_of::<T>()).unwrap_or(0)
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

shared_handle!(DeviceBuffer, Device, OnDevice);

/// Makes another handle to the same memory.
impl<S: ?Sized> Clone for DeviceBuffer<S> {
    fn clone(&self) -> Self {
        Self::of(self.piece.clone())
    }
}
