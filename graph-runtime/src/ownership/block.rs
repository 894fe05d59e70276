//! Blocks of memory that several owners share, by counted handles.

use crate::devices::Backend;
use crate::devices::adopted::DeviceMemory;
use crate::devices::cuda::twice;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{Error, Result, Site};
use crate::in_flight::launches::Access;
use crate::in_flight::refused::Refused;
use crate::in_flight::uses::{Claim, ClaimKind, Patience, Terms, Uses};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::host_memory::HostMemory;
use crate::shape::place::Selected;
use crate::shape::{Lengths, NO_LENGTHS};
use std::mem::ManuallyDrop;
use std::ops::{Deref, Range};
use std::sync::Arc;

pub(crate) mod sealed {
    /// A handle that has no use outside this crate.
    pub struct SharedHandle(pub(crate) super::SharedMemory);

    pub trait Shareable {
        fn handle(&self) -> SharedHandle;
    }
}

/// A handle to memory that graphs can share: [`DeviceBuffer`](crate::DeviceBuffer) or
/// [`SharedHost`](crate::SharedHost).
pub trait Shareable: sealed::Shareable {
    /// The memory's shape.
    type Shape: ?Sized;
    /// The kind of the memory: [`OnDevice`](crate::OnDevice) or [`OnHost`](crate::OnHost).
    type Memory: crate::shape::place::Memory;
}

/// One allocation and its uses.
pub(crate) struct Block<M> {
    /// Dropped in `drop` only.
    memory: ManuallyDrop<M>,
    uses: Uses<LaunchEvent>,
}

impl<M> Block<M> {
    /// A block of memory that may be used on these terms.
    pub(crate) fn new(memory: M, terms: Terms) -> Self {
        Self {
            memory: ManuallyDrop::new(memory),
            uses: Uses::new(terms),
        }
    }

    pub(crate) fn uses(&self) -> &Uses<LaunchEvent> {
        &self.uses
    }
}

impl<M> Deref for Block<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.memory
    }
}

impl<M> Drop for Block<M> {
    fn drop(&mut self) {
        match twice(|| self.uses.wait()) {
            // SAFETY: `self` is not used again; nothing uses the memory any more (fact 4 of `Uses`).
            Ok(()) => unsafe { ManuallyDrop::drop(&mut self.memory) },
            Err(error) => {
                tracing::warn!(target: "graph_runtime", %error, "shared memory is leaked, since waiting for its launches failed");
            }
        }
    }
}

/// A counted handle to all or part of a block.
pub(crate) struct Piece<M> {
    pub(crate) block: Arc<Block<M>>,
    /// The offset of the first byte in the block.
    pub(crate) start: usize,
    /// The length in bytes.
    pub(crate) bytes: usize,
    /// The lengths that the shape of the handle does not tell.
    pub(crate) lengths: Lengths,
}

impl<M> Piece<M> {
    /// Makes a block of `bytes` bytes that may be used on these terms, and returns a handle to all of it.
    pub(crate) fn new(memory: M, bytes: usize, lengths: Lengths, terms: Terms) -> Self {
        Self {
            block: Arc::new(Block::new(memory, terms)),
            start: 0,
            bytes,
            lengths,
        }
    }

    /// A handle to a part. The caller has checked that it is in this piece.
    pub(crate) fn part(&self, part: &Selected) -> Self {
        debug_assert!(part.start + part.bytes <= self.bytes);
        Self {
            block: self.block.clone(),
            start: self.start + part.start,
            bytes: part.bytes,
            lengths: part.lengths,
        }
    }

    /// An access to all bytes of the piece.
    fn access(&self, write: bool) -> Access {
        Access::new(self.start, self.start + self.bytes, write)
    }

    /// Claims the piece for the host, and waits for launches that conflict.
    pub(crate) fn hold(
        &self,
        write: bool,
        kind: ClaimKind,
        site: impl FnOnce() -> Site,
    ) -> Result<Claim<'_, LaunchEvent>> {
        let held = self.block.uses.hold(self.access(write), kind);
        held.map_err(|refused| refused.at(site()))
    }
}

impl<M> Clone for Piece<M> {
    fn clone(&self) -> Self {
        Self {
            block: self.block.clone(),
            ..*self
        }
    }
}

/// Shared memory of either kind.
#[derive(Clone)]
pub(crate) enum SharedMemory {
    Host(Piece<HostMemory>),
    Device(Piece<KernelMemory>),
}

/// A value of the piece, of whichever kind.
macro_rules! either {
    ($memory:expr, $piece:ident => $value:expr) => {
        match $memory {
            SharedMemory::Host($piece) => $value,
            SharedMemory::Device($piece) => $value,
        }
    };
}

impl SharedMemory {
    pub(crate) fn of(buffer: &impl Shareable) -> Self {
        buffer.handle().0
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        either!(self, piece => piece.bytes)
    }

    /// The lengths that the shape of its handle does not tell.
    pub(crate) fn lengths(&self) -> &Lengths {
        either!(self, piece => &piece.lengths)
    }

    /// The addresses of its bytes, in the memory of the host or of the device. Memory of the host that an emulator has
    /// adopted is at its own addresses, wherever kernels see it.
    pub(crate) fn addresses(&self) -> (graph_plan::Space, Range<u64>) {
        let (space, start) = match self {
            Self::Host(piece) => {
                let first = piece.block.pointer().addr().get();
                (graph_plan::Space::Host, (first + piece.start) as u64)
            }
            Self::Device(piece) => (graph_plan::Space::Device, piece.block.home() + piece.start as u64),
        };
        (space, start..start + self.bytes() as u64)
    }

    /// Whether the two are the same bytes of one block.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.lengths() == other.lengths()
            && self.addresses() == other.addresses()
            && std::ptr::eq(self.uses(), other.uses())
    }

    /// Refuses memory that graphs on `backend` cannot use, or not as a graph does: to read, or also to `write`.
    pub(crate) fn check(&self, backend: &Backend, write: bool, site: impl FnOnce() -> Site) -> Result<()> {
        if !self.is_usable_on(backend) {
            return Err(Error::ForeignMemory { site: site() });
        }
        let checked = self.uses().terms().check(write, ClaimKind::Call);
        checked.map_err(|refused| refused.at(site()))
    }

    /// The owner of adopted memory.
    pub(crate) fn owner(&self) -> Option<&dyn DeviceMemory> {
        match self {
            Self::Host(_) => None,
            Self::Device(piece) => piece.block.owner(),
        }
    }

    /// The number of its block, which all its parts have in common, and no other block that lives.
    pub(crate) fn block(&self) -> usize {
        std::ptr::from_ref(self.uses()).addr()
    }

    /// The uses of its block.
    pub(crate) fn uses(&self) -> &Uses<LaunchEvent> {
        either!(self, piece => &piece.block.uses)
    }

    /// Whether graphs on `backend` can use it.
    pub(crate) fn is_usable_on(&self, backend: &Backend) -> bool {
        either!(self, piece => piece.block.is_usable_on(backend))
    }

    /// All memory of the block from the first of its bytes to the last of another part of the block.
    pub(crate) fn up_to(&self, last: &Self) -> Self {
        let (_, all) = last.addresses();
        let mut joined = self.clone();
        either!(&mut joined, piece => {
            let bytes = (all.end - self.addresses().1.start) as usize;
            (piece.bytes, piece.lengths) = (bytes, NO_LENGTHS);
        });
        joined
    }

    /// Claims the memory for a launch. Waits for work that was queued on it as a slice of cudarc's, since no event is
    /// recorded after that.
    pub(crate) fn claim(&self, write: bool, patience: Patience) -> Result<Claim<'_, LaunchEvent>, Refused> {
        let access = either!(self, piece => piece.access(write));
        let claim = self.uses().claim(access, ClaimKind::Call, patience)?;
        if let Self::Device(piece) = self {
            piece.block.settle(write).map_err(Refused::Cuda)?;
        }
        Ok(claim)
    }
}
