//! Host memory that graphs share, and the guards that lend it.

use crate::devices::launch_event::LaunchEvent;
use crate::error::{Result, Site};
use crate::in_flight::uses::{Claim, ClaimKind};
use crate::ownership::block::Piece;
use crate::ownership::host_memory::HostMemory;
use crate::shape::place::{OnHost, Place, select};
use crate::shape::table::{Table, TableMut, TableRef, unpadded};
use crate::shape::{Element, Extent, Lengths};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Host memory of shape `S` that several graphs can use. [`HostBuffer::share`](crate::HostBuffer::share) makes it.
///
/// It is a counted handle: a clone refers to the same memory, which lives as long as any handle, or any graph that uses
/// it. [`SharedHost::read`] and [`SharedHost::write`] lend the memory by guards:
///
/// * they wait for conflicting launches in flight;
/// * while a guard lives, conflicting graphs do not launch, but return [`Error::InUse`](crate::Error::InUse), and
///   conflicting guards are refused in the same way. Uses conflict if one of them writes: many guards may read at the
///   same time, and graphs that only read may run meanwhile.
///
/// ```
/// use graph_runtime::{Device, Error, GraphBuilder};
///
/// let device = Device::emulator();
/// let numbers = device.alloc_host::<[f32; 4]>()?.share();
/// let mut builder = GraphBuilder::new(&device, "Upload");
/// let input = builder.shared("input", &numbers, false);
/// let mut data = builder.device::<[f32; 4]>("data");
/// builder.memcpy("upload", &input, &mut data);
/// let mut graph = builder.build()?;
///
/// let mut guard = numbers.write()?;
/// guard.fill(21.0);
/// assert!(matches!(graph.launch(), Err(Error::InUse { .. })));
/// drop(guard);
/// graph.launch()?;
/// assert_eq!(*graph.device(&data)?.read()?, [21.0; 4]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// A guard does not outlive the handle that made it:
///
/// ```compile_fail,E0505
/// # let numbers = graph_runtime::Device::emulator().alloc_host::<[f32; 4]>()?.share();
/// let guard = numbers.read()?;
/// drop(numbers);                      // error: cannot move out of `numbers` because it is borrowed
/// println!("{guard:?}");
/// # Ok::<(), graph_runtime::Error>(())
/// ```
pub struct SharedHost<S: ?Sized> {
    /// The contents of `piece`, as its shape.
    pointer: NonNull<S>,
    piece: Piece<HostMemory>,
}

// SAFETY: the handle lends `&S` and `&mut S` on whatever thread it is on, as an `Arc<RwLock<S>>` does.
unsafe impl<S: ?Sized + Send + Sync> Send for SharedHost<S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Send + Sync> Sync for SharedHost<S> {}

impl<S: ?Sized> SharedHost<S> {
    /// Makes a handle. `pointer` points to the bytes of `piece`, as their shape.
    pub(super) fn new(pointer: NonNull<S>, piece: Piece<HostMemory>) -> Self {
        Self { pointer, piece }
    }

    /// A pointer to the memory, as its shape.
    pub(crate) fn pointer(&self) -> NonNull<S> {
        self.pointer
    }

    /// Waits for launches that write the memory, and lends it to read.
    ///
    /// # Errors
    /// [`Error::InUse`](crate::Error::InUse) while a guard lends it to write; in a host function, also while another
    /// thread or a launch writes it, since waiting there could be for the function itself. (If CUDA cannot tell within
    /// 100 ms whether a launch has ended, it has not.) [`Error::Cuda`](crate::Error::Cuda) if earlier work failed.
    pub fn read(&self) -> Result<HostRef<'_, S>> {
        HostRef::at(self.pointer, &self.piece, self.piece.lengths, false, Site::buffer)
    }

    /// Waits for launches that use the memory, and lends it to read and write.
    ///
    /// # Errors
    /// [`Error::InUse`](crate::Error::InUse) while another guard lends it, and as [`SharedHost::read`];
    /// [`Error::Cuda`](crate::Error::Cuda) if earlier work failed.
    pub fn write(&self) -> Result<HostMut<'_, S>> {
        HostMut::at(self.pointer, &self.piece, self.piece.lengths, Site::buffer)
    }

    /// Whether this is the only handle to the memory, and to all of it. Waits for launches; false if that fails.
    pub(super) fn is_unique(&mut self) -> bool {
        // If nobody else can claim the memory any more, graphs that have dropped it may have launches in flight.
        self.piece.bytes == self.piece.block.bytes()
            && Arc::get_mut(&mut self.piece.block).is_some()
            && self.piece.hold(true, ClaimKind::Call, Site::buffer).is_ok()
    }

    fn part<P>(&self, f: impl FnOnce(Place<S, OnHost>) -> Place<P, OnHost>) -> Result<SharedHost<P>>
    where
        P: ?Sized + Extent,
    {
        let part = select(self.bytes(), self.piece.lengths, Site::buffer, f)?;
        let piece = self.piece.part(&part);
        Ok(SharedHost::new(P::at(first(&piece), piece.bytes), piece))
    }
}

/// The address of the first byte of a piece.
fn first(piece: &Piece<HostMemory>) -> NonNull<u8> {
    // SAFETY: pieces lie within their block.
    unsafe { piece.block.pointer().add(piece.start) }
}

impl<T, const D: usize> SharedHost<Table<T, D>> {
    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.piece.lengths)
    }
}

impl<T: Element> SharedHost<[T]> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.pointer.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Makes another handle to the same memory.
impl<S: ?Sized> Clone for SharedHost<S> {
    fn clone(&self) -> Self {
        Self::new(self.pointer, self.piece.clone())
    }
}

shared_handle!(SharedHost, Host, OnHost);

/// A guard that lends shared host memory to read until it is dropped: see [`SharedHost::read`].
pub struct HostRef<'b, S: ?Sized> {
    /// A pointer, since a reference would have to be valid even after the claim ends, when the guard is dropped.
    pointer: NonNull<S>,
    /// The lengths that `S` does not tell.
    lengths: Lengths,
    #[expect(dead_code, reason = "it keeps others off until it is dropped")]
    claim: Claim<'b, LaunchEvent>,
    marker: PhantomData<&'b S>,
}

/// A guard that lends shared host memory to read and write until it is dropped: see [`SharedHost::write`].
pub struct HostMut<'b, S: ?Sized> {
    /// A guard whose claim is to write.
    guard: HostRef<'b, S>,
    marker: PhantomData<&'b mut S>,
}

impl<'b, S: ?Sized> HostRef<'b, S> {
    /// Lends a piece, which is an `S` of these lengths at `pointer`, under a claim to read or also to `write`.
    fn at(
        pointer: NonNull<S>,
        piece: &'b Piece<HostMemory>,
        lengths: Lengths,
        write: bool,
        site: impl FnOnce() -> Site,
    ) -> Result<Self> {
        Ok(Self {
            pointer,
            lengths,
            claim: piece.hold(write, ClaimKind::Guard, site)?,
            marker: PhantomData,
        })
    }

    /// Lends a piece, which the caller has checked to be an `S` of these lengths.
    pub(crate) fn of(piece: &'b Piece<HostMemory>, lengths: Lengths, site: impl FnOnce() -> Site) -> Result<Self>
    where
        S: Extent,
    {
        Self::at(S::at(first(piece), piece.bytes), piece, lengths, false, site)
    }
}

impl<'b, S: ?Sized> HostMut<'b, S> {
    fn at(
        pointer: NonNull<S>,
        piece: &'b Piece<HostMemory>,
        lengths: Lengths,
        site: impl FnOnce() -> Site,
    ) -> Result<Self> {
        let guard = HostRef::at(pointer, piece, lengths, true, site)?;
        let marker = PhantomData;
        Ok(Self { guard, marker })
    }

    /// Lends a piece, which the caller has checked to be an `S` of these lengths.
    pub(crate) fn of(piece: &'b Piece<HostMemory>, lengths: Lengths, site: impl FnOnce() -> Site) -> Result<Self>
    where
        S: Extent,
    {
        Self::at(S::at(first(piece), piece.bytes), piece, lengths, site)
    }
}

// SAFETY: the guard lends `&S`; claims may be dropped on any thread.
unsafe impl<S: ?Sized + Sync> Send for HostRef<'_, S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Sync> Sync for HostRef<'_, S> {}
// SAFETY: the guard lends `&mut S`; claims may be dropped on any thread.
unsafe impl<S: ?Sized + Send> Send for HostMut<'_, S> {}
// SAFETY: as above.
unsafe impl<S: ?Sized + Sync> Sync for HostMut<'_, S> {}

impl<S: ?Sized> Deref for HostRef<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        // SAFETY: the memory has the size and alignment of this shape, and any bytes are a value of it
        // (`HostBuffer::sized`, `slice`, `table`). Nobody writes it while the claim lives (facts 1 and 3 of `Uses`),
        // and it outlives the claim, which borrows the block.
        unsafe { self.pointer.as_ref() }
    }
}

impl<S: ?Sized> Deref for HostMut<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.guard
    }
}

impl<S: ?Sized> DerefMut for HostMut<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        // SAFETY: as for `HostRef`; the claim is to write, so nobody else touches the memory, and `self` is borrowed
        // exclusively.
        unsafe { self.guard.pointer.as_mut() }
    }
}

impl<T, const D: usize> HostRef<'_, Table<T, D>> {
    /// A view of the contents, with their lengths, to read.
    pub fn view(&self) -> TableRef<'_, T, D> {
        TableRef::new(self.as_flattened(), &self.lengths)
    }
}

impl<T, const D: usize> HostMut<'_, Table<T, D>> {
    /// A view of the contents, with their lengths, to read.
    pub fn view(&self) -> TableRef<'_, T, D> {
        self.guard.view()
    }

    /// A view of the contents, with their lengths, to read and write.
    pub fn view_mut(&mut self) -> TableMut<'_, T, D> {
        let lengths = self.guard.lengths;
        TableMut::new(self.as_flattened_mut(), &lengths)
    }
}

impl<S: ?Sized + fmt::Debug> fmt::Debug for HostRef<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<S: ?Sized + fmt::Debug> fmt::Debug for HostMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
