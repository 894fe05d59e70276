//! Memory arguments of declared graphs: `build` and `rebind_x` take them for `x: device S` and `x: host S`.

use crate::builder::GraphBuilder;
use crate::error::Result;
use crate::graph::Graph;
use crate::memory::{DeviceBuffer, HostBuffer, SharedHost};
use crate::ownership::block::SharedMemory;
use crate::shape::place::{OnDevice, OnHost, Place};
use crate::shape::same::{SameShape, difference};
use crate::shape::{Extent, Lengths};

/// Seals the traits of memory arguments, so that only handles whose shape fits are arguments. (Using a place is sound
/// since the shape in its type is right.)
mod sealed {
    use super::{Lengths, SharedMemory};

    /// Memory that is passed for memory of some shape.
    pub struct Argument {
        pub(super) memory: SharedMemory,
        /// The lengths that the shape does not tell.
        pub(super) lengths: Lengths,
        /// The lengths of the memory and of the shape, if they differ.
        pub(super) differs: Option<(Lengths, Lengths)>,
    }

    pub trait DeviceShare<S: ?Sized> {
        fn memory(self) -> Argument;
    }

    pub trait HostShare<S: ?Sized> {
        fn memory(self) -> Argument;
    }
}

/// Device memory of shape `S` that a graph shares: a [`DeviceBuffer`], or a reference to one. `build` compares
/// lengths that the types do not tell.
#[diagnostic::on_unimplemented(
    message = "expected device memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not device memory of shape `{S}`",
    note = "pass a `DeviceBuffer` of this shape, or a reference to one"
)]
pub trait DeviceShare<S: ?Sized>: sealed::DeviceShare<S> {}

/// Host memory of shape `S` that a graph shares: a [`SharedHost`], a reference to one, or a [`HostBuffer`], which the
/// graph then owns. `build` compares lengths that the types do not tell.
#[diagnostic::on_unimplemented(
    message = "expected host memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not host memory of shape `{S}`",
    note = "pass a `SharedHost` of this shape (`HostBuffer::share` makes one), or a reference to one"
)]
pub trait HostShare<S: ?Sized>: sealed::HostShare<S> {}

macro_rules! arguments {
    ($($argument:ident: $ty:ty = |$value:ident| $memory:expr;)*) => {$(
        impl<S: ?Sized, B: ?Sized + SameShape<S>> sealed::$argument<S> for $ty {
            fn memory(self) -> sealed::Argument {
                let $value = self;
                passed::<B, S>($memory)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, B: ?Sized + SameShape<S>> $argument<S> for $ty {}
    )*};
}
arguments! {
    DeviceShare: DeviceBuffer<B> = |buffer| SharedMemory::of(&buffer);
    DeviceShare: &DeviceBuffer<B> = |buffer| SharedMemory::of(buffer);
    HostShare: SharedHost<B> = |shared| SharedMemory::of(&shared);
    HostShare: &SharedHost<B> = |shared| SharedMemory::of(shared);
    HostShare: HostBuffer<B> = |buffer| SharedMemory::of(&buffer.share());
}

/// Memory of shape `B`, passed for memory of shape `S`.
fn passed<B: ?Sized + SameShape<S>, S: ?Sized>(memory: SharedMemory) -> sealed::Argument {
    let (bytes, own) = (memory.bytes(), *memory.lengths());
    let lengths = B::converted(bytes, &own);
    sealed::Argument {
        memory,
        lengths,
        differs: difference::<B, S>((bytes, &own), (bytes, &lengths)),
    }
}

/// Declares device memory that a graph takes when it is built.
pub fn device_argument<S: ?Sized + Extent>(
    builder: &mut GraphBuilder,
    name: &'static str,
    memory: impl DeviceShare<S>,
    mutable: bool,
) -> Place<S, OnDevice> {
    argument(builder, name, memory.memory(), mutable)
}

/// Declares host memory that a graph takes when it is built.
pub fn host_argument<S: ?Sized + Extent>(
    builder: &mut GraphBuilder,
    name: &'static str,
    memory: impl HostShare<S>,
    mutable: bool,
) -> Place<S, OnHost> {
    argument(builder, name, memory.memory(), mutable)
}

/// Shares memory under a name. `build` fails if its length does not match `S`.
fn argument<S: ?Sized + Extent, M>(
    builder: &mut GraphBuilder,
    name: &'static str,
    argument: sealed::Argument,
    mutable: bool,
) -> Place<S, M> {
    let place = builder.share(name.into(), argument.memory, argument.lengths, mutable);
    match (S::BYTES, argument.differs) {
        (Some(bytes), None) => builder.require_bytes(&place, bytes),
        (_, differs) => builder.require_same(place.span, differs),
    }
    place
}

/// Replaces shared device memory by other device memory: see [`Graph::rebind`].
///
/// # Errors
/// As [`Graph::rebind`].
pub fn rebind_device<S: ?Sized>(
    graph: &mut Graph,
    place: &Place<S, OnDevice>,
    memory: impl DeviceShare<S>,
) -> Result<()> {
    rebind(graph, place, memory.memory())
}

/// Replaces shared host memory by other host memory: see [`Graph::rebind`].
///
/// # Errors
/// As [`Graph::rebind`].
pub fn rebind_host<S: ?Sized>(graph: &mut Graph, place: &Place<S, OnHost>, memory: impl HostShare<S>) -> Result<()> {
    rebind(graph, place, memory.memory())
}

fn rebind<S: ?Sized, M>(graph: &mut Graph, place: &Place<S, M>, argument: sealed::Argument) -> Result<()> {
    let has = argument.differs.map_or(argument.lengths, |(has, _)| has);
    let expected = argument.differs.map_or(place.lengths, |(_, expected)| expected);
    graph.rebind_memory(place.span, argument.memory, (has, expected))
}
