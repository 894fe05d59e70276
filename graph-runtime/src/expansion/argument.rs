//! Memory arguments of declared graphs: `build` and `rebind_x` take them for `x: device S` and `x: host S`.

use crate::backend::block::SharedMemory;
use crate::builder::GraphBuilder;
use crate::error::Result;
use crate::graph::Graph;
use crate::memory::{DeviceBuffer, HostBuffer, SharedHost};
use crate::shape::place::{OnDevice, OnHost, Place};
use crate::shape::{Extent, SameShape};

/// Seals the traits of memory arguments, so that only handles whose shape fits are arguments. (Using a place is sound
/// since the shape in its type is right.)
mod sealed {
    use super::SharedMemory;

    pub struct Argument(pub(super) SharedMemory);

    pub trait DeviceShare<S: ?Sized> {
        fn memory(self) -> Argument;
    }

    pub trait HostShare<S: ?Sized> {
        fn memory(self) -> Argument;
    }
}

/// Device memory of shape `S` that a graph shares: a [`DeviceBuffer`], or a reference to one. If the types leave only
/// its outermost length open, `build` compares that.
#[diagnostic::on_unimplemented(
    message = "expected device memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not device memory of shape `{S}`",
    note = "pass a `DeviceBuffer` of this shape, or a reference to one"
)]
pub trait DeviceShare<S: ?Sized>: sealed::DeviceShare<S> {}

/// Host memory of shape `S` that a graph shares: a [`SharedHost`], a reference to one, or a [`HostBuffer`], which the
/// graph then owns. If the types leave only its outermost length open, `build` compares that.
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
                sealed::Argument($memory)
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
    let place = builder.share(name.into(), argument.0, mutable);
    if let Some(bytes) = S::BYTES {
        builder.require_bytes(&place, bytes);
    }
    place
}

/// Replaces shared device memory by other device memory: see [`Graph::rebind`].
pub fn rebind_device<S: ?Sized>(
    graph: &mut Graph,
    place: &Place<S, OnDevice>,
    memory: impl DeviceShare<S>,
) -> Result<()> {
    graph.rebind_memory(place.span, memory.memory().0)
}

/// Replaces shared host memory by other host memory: see [`Graph::rebind`].
pub fn rebind_host<S: ?Sized>(graph: &mut Graph, place: &Place<S, OnHost>, memory: impl HostShare<S>) -> Result<()> {
    graph.rebind_memory(place.span, memory.memory().0)
}
