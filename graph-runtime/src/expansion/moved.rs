//! Locals that are moved into a graph that is an expression. The graph owns the handles, lends the memory as if it were
//! its own, and gives the handles back.

use crate::builder::GraphBuilder;
use crate::error::{Error, Result, Site};
use crate::expansion::expression::Slot;
use crate::graph::Graph;
use crate::memory::{DeviceBuffer, DeviceMut, DeviceRef, HostBuffer, HostMut, HostRef, SharedHost};
use crate::ownership::block::SharedMemory;
use crate::shape::place::{OnDevice, OnHost, Place};
use std::fmt;
use std::ops::Deref;

mod sealed {
    use super::{Graph, Place, Result, SharedMemory};

    /// A handle that has no use outside this crate.
    pub struct Handle(pub(super) SharedMemory);

    /// The ways in which a graph uses a local that is moved into it.
    pub trait Movable: Sized {
        /// The memory's shape.
        type Shape: ?Sized;
        /// The kind of the memory: `OnHost` or `OnDevice`.
        type Memory;
        /// The form in which the graph keeps the handle.
        type Kept;
        type Ref<'g>
        where
            Self: 'g;
        type Mut<'g>
        where
            Self: 'g;
        /// Whether nobody else has a handle, so that the graph lends the memory by references.
        const UNIQUE: bool;

        fn keep(self) -> Self::Kept;
        fn handle(kept: &Self::Kept) -> Handle;
        fn give_back(kept: Self::Kept) -> Result<Self>;
        /// Lends the memory to read. `graph` is the graph that `place` belongs to.
        fn lend<'g>(
            kept: &'g Self::Kept,
            place: &Place<Self::Shape, Self::Memory>,
            graph: &'g Graph,
        ) -> Result<Self::Ref<'g>>;
        fn lend_mut<'g>(
            kept: &'g mut Self::Kept,
            place: &Place<Self::Shape, Self::Memory>,
            graph: &'g mut Graph,
        ) -> Result<Self::Mut<'g>>;
    }
}

/// A local that can be moved into a graph that is an expression: a [`DeviceBuffer`] or a [`SharedHost`], or a reference
/// to one, or a [`HostBuffer`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no memory that a graph can capture [unknown-resource]",
    label = "expected a `DeviceBuffer`, a `SharedHost` or a `HostBuffer`",
    note = "memory of the graph itself is declared: `device x: [f32; 1024];`"
)]
pub trait Movable: sealed::Movable {
    /// The resource that the graph makes of it, a `Moved`. If a type is not movable, rustc knows no such type of it,
    /// and reports one mistake only.
    type Moved: MovedSlot<Handle = Self> + From<Moved<Self>>;
}

/// Moves a local into a graph under construction, and declares its memory there.
pub fn move_in<H: Movable>(builder: &mut GraphBuilder, name: &'static str, handle: H) -> H::Moved {
    let kept = handle.keep();
    let memory = H::handle(&kept).0;
    let lengths = *memory.lengths();
    let place = builder.share(name.into(), memory, lengths, true);
    if H::UNIQUE {
        builder.keep_unique(place.span);
    }
    H::Moved::from(Moved::<H> { kept, place })
}

/// A resource of a graph that was moved into it.
pub trait MovedSlot: Slot {
    /// The local that was moved.
    type Handle;
    /// The memory's shape.
    type Shape: ?Sized;
    /// The kind of the memory: `OnHost` or `OnDevice`.
    type Memory;

    /// The place of the memory in the graph.
    fn place(&self) -> Place<Self::Shape, Self::Memory>;

    /// Returns the handle, after the graph has been dropped.
    fn give_back(self) -> Result<Self::Handle>;
}

/// A local that was moved into a graph. In the expressions of the graph, its name refers to this.
pub struct Moved<H: sealed::Movable> {
    kept: H::Kept,
    place: Place<H::Shape, H::Memory>,
}

impl<H: sealed::Movable> Moved<H> {
    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.place.bytes()
    }
}

impl<H: sealed::Movable> Slot for Moved<H> {
    type Ref<'g>
        = H::Ref<'g>
    where
        Self: 'g;
    type Mut<'g>
        = H::Mut<'g>
    where
        Self: 'g;

    fn lend<'g>(&'g self, graph: &'g Graph) -> Result<H::Ref<'g>> {
        graph.check_place(self.place.span)?;
        H::lend(&self.kept, &self.place, graph)
    }

    fn lend_mut<'g>(&'g mut self, graph: &'g mut Graph) -> Result<H::Mut<'g>> {
        graph.check_place(self.place.span)?;
        H::lend_mut(&mut self.kept, &self.place, graph)
    }
}

impl<H: sealed::Movable> MovedSlot for Moved<H> {
    type Handle = H;
    type Shape = H::Shape;
    type Memory = H::Memory;

    fn place(&self) -> Place<H::Shape, H::Memory> {
        self.place
    }

    fn give_back(self) -> Result<H> {
        H::give_back(self.kept)
    }
}

impl<H: sealed::Movable> fmt::Debug for Moved<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Moved({} bytes)", self.bytes())
    }
}

/// Implements the traits for counted handles, of which others may have clones. They are kept unchanged, and can be used
/// in expressions.
macro_rules! handles {
    (
        $([$($lifetime:lifetime)?] $ty:ty: $buffer:ty, $memory:ty, $shared:ident, $exclusive:ident,
            |$kept:ident, $place:ident, $graph:ident| $lend:expr, $lend_mut:expr;)*
    ) => {$(
        impl<$($lifetime,)? S: ?Sized> sealed::Movable for $ty {
            type Shape = S;
            type Memory = $memory;
            type Kept = Self;
            type Ref<'g> = $shared<'g, S> where Self: 'g;
            type Mut<'g> = $exclusive<'g, S> where Self: 'g;
            const UNIQUE: bool = false;

            fn keep(self) -> Self {
                self
            }

            fn handle(kept: &Self) -> sealed::Handle {
                let kept: &$buffer = kept;
                sealed::Handle(SharedMemory::of(kept))
            }

            fn give_back(kept: Self) -> Result<Self> {
                Ok(kept)
            }

            fn lend<'g>($kept: &'g Self, $place: &Place<S, $memory>, $graph: &'g Graph) -> Result<$shared<'g, S>> {
                $lend
            }

            fn lend_mut<'g>(
                $kept: &'g mut Self,
                $place: &Place<S, $memory>,
                $graph: &'g mut Graph,
            ) -> Result<$exclusive<'g, S>> {
                $lend_mut
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($lifetime,)? S: ?Sized> Movable for $ty {
            type Moved = Moved<Self>;
        }

        impl<$($lifetime,)? S: ?Sized> Deref for Moved<$ty> {
            type Target = $ty;

            fn deref(&self) -> &$ty {
                &self.kept
            }
        }
    )*};
}
handles! {
    [] DeviceBuffer<S>: DeviceBuffer<S>, OnDevice, DeviceRef, DeviceMut,
        |_kept, place, graph| graph.device(place), graph.device_mut(place);
    ['a] &'a DeviceBuffer<S>: DeviceBuffer<S>, OnDevice, DeviceRef, DeviceMut,
        |_kept, place, graph| graph.device(place), graph.device_mut(place);
    [] SharedHost<S>: SharedHost<S>, OnHost, HostRef, HostMut,
        |kept, _place, graph| graph.synchronize().and_then(|()| kept.read()),
        graph.synchronize().and_then(|()| kept.write());
    ['a] &'a SharedHost<S>: SharedHost<S>, OnHost, HostRef, HostMut,
        |kept, _place, graph| graph.synchronize().and_then(|()| kept.read()),
        graph.synchronize().and_then(|()| kept.write());
}

/// A [`HostBuffer`] that was moved into a graph. Nobody else has a handle, so the graph lends the memory by references.
pub struct Unique<S: ?Sized>(SharedHost<S>);

impl<S: ?Sized> sealed::Movable for HostBuffer<S> {
    type Shape = S;
    type Memory = OnHost;
    type Kept = Unique<S>;
    type Ref<'g>
        = &'g S
    where
        Self: 'g;
    type Mut<'g>
        = &'g mut S
    where
        Self: 'g;
    const UNIQUE: bool = true;

    fn keep(self) -> Unique<S> {
        Unique(self.share())
    }

    fn handle(kept: &Unique<S>) -> sealed::Handle {
        sealed::Handle(SharedMemory::of(&kept.0))
    }

    fn give_back(kept: Unique<S>) -> Result<Self> {
        kept.0.into_unique().map_err(|_| Error::InUse {
            site: Site::buffer(),
            message: "is still used by a graph that could not be waited for",
        })
    }

    fn lend<'g>(kept: &'g Unique<S>, _: &Place<S, OnHost>, graph: &'g Graph) -> Result<&'g S> {
        graph.synchronize()?;
        // SAFETY: the pointer is to an aligned, initialised `S` (`HostBuffer`), in memory that `kept` keeps alive.
        // Nobody else touches it. The handle was the only one when it was kept, and `Unique` gives none away. Only the
        // graph to which `Moved` was declared has another, and that is this graph: its place has the id of the builder
        // (`check_place`), whose definition makes one graph (`keep_unique`). It has just been waited for, and no launch
        // starts while it is borrowed.
        Ok(unsafe { kept.0.pointer().as_ref() })
    }

    fn lend_mut<'g>(kept: &'g mut Unique<S>, _: &Place<S, OnHost>, graph: &'g mut Graph) -> Result<&'g mut S> {
        graph.synchronize()?;
        // SAFETY: as in `lend`; `kept` is borrowed exclusively.
        Ok(unsafe { kept.0.pointer().as_mut() })
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized> Movable for HostBuffer<S> {
    type Moved = Moved<Self>;
}
