//! Host memory outside graphs.

use crate::ownership::block::Piece;
use crate::ownership::host_memory::HostMemory;
use crate::shape::table::{Table, TableMut, TableRef, bytes_of, padded, unpadded};
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
    /// The contents of `piece`, as its shape.
    pub(super) pointer: NonNull<S>,
    /// The only handle to its block.
    pub(super) piece: Piece<HostMemory>,
}

// SAFETY: the buffer owns its `S`, as a `Box` does.
unsafe impl<S: ?Sized + Send> Send for HostBuffer<S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Sync> Sync for HostBuffer<S> {}

impl<S: Element> HostBuffer<S> {
    /// Makes a buffer of memory that has the size and alignment of `S`.
    pub(crate) fn sized(memory: HostMemory) -> Self {
        Self {
            pointer: memory.pointer().cast(),
            piece: whole(memory, NO_LENGTHS),
        }
    }
}

impl<T: Element> HostBuffer<[T]> {
    /// Makes a buffer of memory that has the size and alignment of `len` elements.
    pub(crate) fn slice(memory: HostMemory, len: usize) -> Self {
        Self {
            pointer: NonNull::slice_from_raw_parts(memory.pointer().cast(), len),
            piece: whole(memory, NO_LENGTHS),
        }
    }
}

impl<T: Element, const D: usize> HostBuffer<Table<T, D>> {
    /// Makes a buffer of memory that has the size and alignment of a table of these lengths.
    pub(crate) fn table(memory: HostMemory, lengths: [usize; D]) -> Self {
        Self {
            pointer: Table::at(memory.pointer(), bytes_of::<T>(&lengths)),
            piece: whole(memory, padded(lengths)),
        }
    }

    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.piece.lengths)
    }

    /// A view of the contents, with their lengths, to read.
    pub fn view(&self) -> TableRef<'_, T, D> {
        TableRef::new(self.as_flattened(), &self.piece.lengths)
    }

    /// A view of the contents, with their lengths, to read and write.
    pub fn view_mut(&mut self) -> TableMut<'_, T, D> {
        let lengths = self.piece.lengths;
        TableMut::new(self.as_flattened_mut(), &lengths)
    }
}

fn whole(memory: HostMemory, lengths: Lengths) -> Piece<HostMemory> {
    let bytes = memory.bytes();
    Piece::new(memory, bytes, lengths)
}

impl<S: ?Sized> HostBuffer<S> {
    /// Makes a buffer of the only handle to a block. `pointer` points to all of it, as its shape.
    pub(super) fn unique(pointer: NonNull<S>, piece: Piece<HostMemory>) -> Self {
        Self { pointer, piece }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.piece.bytes
    }
}

impl<S: ?Sized> Deref for HostBuffer<S> {
    type Target = S;

    fn deref(&self) -> &S {
        // SAFETY: only `sized`, `slice` and `table` make such pointers, of zeroed memory with the size and alignment of
        // `S`. Any bytes are a valid `S: Pod`, also those that graphs have written. The memory lives as long as `self`,
        // and only `self` leads to it.
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
