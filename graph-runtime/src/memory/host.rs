//! Host memory outside graphs.

use crate::in_flight::uses::Terms;
use crate::memory::shared_host::SharedHost;
use crate::ownership::block::Piece;
use crate::ownership::host_memory::HostMemory;
use crate::shape::table::{Table, TableMut, TableRef, bytes_of, padded};
use crate::shape::{Element, Extent, Lengths, NO_LENGTHS};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Host memory of shape `S`, outside any graph: zeroed when allocated, and page-locked on CUDA. It dereferences to `S`.
/// [`Device::alloc_host`](crate::Device::alloc_host) and
/// [`Device::alloc_host_slice`](crate::Device::alloc_host_slice) make one.
///
/// It is the only handle to its memory, so it can be borrowed like a `Box`. [`HostBuffer::share`] turns it into handles
/// that graphs can share.
pub struct HostBuffer<S: ?Sized> {
    /// The only handle to its block, and to all of that.
    handle: SharedHost<S>,
}

// SAFETY: the buffer owns its `S`, as a `Box` does.
unsafe impl<S: ?Sized + Send> Send for HostBuffer<S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Sync> Sync for HostBuffer<S> {}

impl<S: Element> HostBuffer<S> {
    /// Makes a buffer of memory that has the size and alignment of `S`.
    pub(crate) fn sized(memory: HostMemory) -> Self {
        Self::whole(memory.pointer().cast(), memory, NO_LENGTHS)
    }
}

impl<T: Element> HostBuffer<[T]> {
    /// Makes a buffer of memory that has the size and alignment of `len` elements.
    pub(crate) fn slice(memory: HostMemory, len: usize) -> Self {
        let pointer = NonNull::slice_from_raw_parts(memory.pointer().cast(), len);
        Self::whole(pointer, memory, NO_LENGTHS)
    }
}

impl<T: Element, const D: usize> HostBuffer<Table<T, D>> {
    /// Makes a buffer of memory that has the size and alignment of a table of these lengths.
    pub(crate) fn table(memory: HostMemory, lengths: [usize; D]) -> Self {
        let pointer = Table::at(memory.pointer(), bytes_of::<T>(&lengths));
        Self::whole(pointer, memory, padded(lengths))
    }

    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        self.handle.lengths()
    }

    /// A view of the contents, with their lengths, to read.
    pub fn view(&self) -> TableRef<'_, T, D> {
        TableRef::new(self.as_flattened(), &padded(self.lengths()))
    }

    /// A view of the contents, with their lengths, to read and write.
    pub fn view_mut(&mut self) -> TableMut<'_, T, D> {
        let lengths = padded(self.lengths());
        TableMut::new(self.as_flattened_mut(), &lengths)
    }
}

impl<S: ?Sized> HostBuffer<S> {
    /// Makes a buffer of memory that has the size and alignment of the shape to which `pointer` points.
    fn whole(pointer: NonNull<S>, memory: HostMemory, lengths: Lengths) -> Self {
        let bytes = memory.bytes();
        let piece = Piece::new(memory, bytes, lengths, Terms::Owned);
        Self {
            handle: SharedHost::new(pointer, piece),
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.handle.bytes()
    }

    /// Turns the buffer into a handle that can be cloned and given to graphs.
    pub fn share(self) -> SharedHost<S> {
        self.handle
    }
}

impl<S: ?Sized> SharedHost<S> {
    /// Turns the only handle back into a buffer, which needs no guards. Waits for launches.
    ///
    /// # Errors
    /// Returns the handle if there are others (graphs hold handles, too), if it refers to a part of the memory only, or
    /// if waiting failed.
    pub fn into_unique(mut self) -> Result<HostBuffer<S>, Self> {
        match self.is_unique() {
            true => Ok(HostBuffer { handle: self }),
            false => Err(self),
        }
    }
}

impl<S: ?Sized> From<HostBuffer<S>> for SharedHost<S> {
    fn from(buffer: HostBuffer<S>) -> Self {
        buffer.share()
    }
}

impl<S: ?Sized> Deref for HostBuffer<S> {
    type Target = S;

    fn deref(&self) -> &S {
        // SAFETY: only `sized`, `slice` and `table` make such pointers, of zeroed memory with the size and alignment of
        // `S`. Any bytes are a valid `S: Pod`, also those that graphs have written. The memory lives as long as `self`,
        // and only `self` leads to it.
        unsafe { self.handle.pointer().as_ref() }
    }
}

impl<S: ?Sized> DerefMut for HostBuffer<S> {
    fn deref_mut(&mut self) -> &mut S {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { self.handle.pointer().as_mut() }
    }
}

impl<S: ?Sized> fmt::Debug for HostBuffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({} bytes)", self.bytes())
    }
}
