//! Memory arguments of declared graphs: `build` and `rebind_x` take them for `x: device S` and `x: host S`.

use crate::builder::GraphBuilder;
use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::graph::change::rebind::Rebound;
use crate::memory::{DeviceBuffer, HostBuffer, SharedHost};
use crate::ownership::block::SharedMemory;
use crate::shape::place::{OnDevice, OnHost, Place};
use crate::shape::same_shape::{SameShape, difference};
use crate::shape::{Extent, Lengths};
use std::borrow::Cow;

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

    /// A handle of memory of the kind `M` that is passed for memory of shape `S`.
    pub trait Share<S: ?Sized, M> {
        fn memory(self) -> Argument;
    }
}

/// Returns the value of an expression over build arguments and params, whose values `names` has.
///
/// # Errors
/// [`Error::Node`] if there is none: a division by 0, or a result that the type cannot hold.
pub fn checked<T>(graph: &'static str, expression: &str, names: &[(&str, i128)], value: Option<T>) -> Result<T> {
    value.ok_or_else(|| {
        let names: Vec<String> = names
            .iter()
            .map(|(name, value)| format!("`{name}` is {value}"))
            .collect();
        Error::Node {
            site: Site::graph(graph),
            message: format!("`{expression}` has no value of its type where {}", names.join(" and ")),
        }
    })
}

/// Device memory of shape `S` that a graph shares: a [`DeviceBuffer`], or a reference to one. `build` compares
/// lengths that the types do not tell.
#[diagnostic::on_unimplemented(
    message = "expected device memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not device memory of shape `{S}`",
    note = "pass a `DeviceBuffer` of this shape, or a reference to one"
)]
pub trait DeviceShare<S: ?Sized>: sealed::Share<S, OnDevice> {}

/// Host memory of shape `S` that a graph shares: a [`SharedHost`], a reference to one, or a [`HostBuffer`], which the
/// graph then owns. `build` compares lengths that the types do not tell.
#[diagnostic::on_unimplemented(
    message = "expected host memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not host memory of shape `{S}`",
    note = "pass a `SharedHost` of this shape (`HostBuffer::share` makes one), or a reference to one"
)]
pub trait HostShare<S: ?Sized>: sealed::Share<S, OnHost> {}

macro_rules! arguments {
    ($($argument:ident, $kind:ident: $ty:ty = |$value:ident| $memory:expr;)*) => {$(
        impl<S: ?Sized, B: ?Sized + SameShape<S>> sealed::Share<S, $kind> for $ty {
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
    DeviceShare, OnDevice: DeviceBuffer<B> = |buffer| SharedMemory::of(&buffer);
    DeviceShare, OnDevice: &DeviceBuffer<B> = |buffer| SharedMemory::of(buffer);
    HostShare, OnHost: SharedHost<B> = |shared| SharedMemory::of(&shared);
    HostShare, OnHost: &SharedHost<B> = |shared| SharedMemory::of(shared);
    HostShare, OnHost: HostBuffer<B> = |buffer| SharedMemory::of(&buffer.share());
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

/// Declares memory that a graph takes when it is built. `build` fails if its length does not match `S`.
pub fn memory_argument<S: ?Sized + Extent, M>(
    builder: &mut GraphBuilder,
    name: impl Into<Cow<'static, str>>,
    memory: impl sealed::Share<S, M>,
    mutable: bool,
) -> Place<S, M> {
    let argument = memory.memory();
    let place = builder.share(name.into(), argument.memory, argument.lengths, mutable);
    match (S::BYTES, argument.differs) {
        (Some(bytes), None) => builder.require_bytes(&place, bytes),
        (_, differs) => builder.require_same(place.span, differs),
    }
    place
}

/// Replaces shared memory by other memory: see [`Graph::rebind`].
///
/// # Errors
/// As [`Graph::rebind`].
pub fn rebind<S: ?Sized, M>(graph: &mut Graph, place: &Place<S, M>, memory: impl sealed::Share<S, M>) -> Result<()> {
    rebind_all(graph, [rebound(place, memory)])
}

/// Replaces several pieces of shared memory together: all, or none.
///
/// # Errors
/// As [`Graph::rebind`].
pub fn rebind_all<const N: usize>(graph: &mut Graph, memory: [Rebound; N]) -> Result<()> {
    graph.rebind_memory(memory)
}

/// Other memory for a place, whose type fits.
pub(super) fn rebound<S: ?Sized, M>(place: &Place<S, M>, memory: impl sealed::Share<S, M>) -> Rebound {
    let argument = memory.memory();
    let has = argument.differs.map_or(argument.lengths, |(has, _)| has);
    let expected = argument.differs.map_or(place.lengths, |(_, expected)| expected);
    Rebound {
        span: place.span,
        memory: argument.memory,
        lengths: (has, expected),
    }
}
