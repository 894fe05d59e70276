//! Memory arguments of declared graphs: what `build` and `rebind_x` take for `x: device S` and `x: host S`.

use crate::backend::block::SharedMemory;
use crate::builder::GraphBuilder;
use crate::error::Result;
use crate::graph::Graph;
use crate::memory::{DeviceBuffer, HostBuffer, SharedHost};
use crate::shape::place::{OnDevice, OnHost, Place};
use crate::shape::{Extent, SameShape};

/// Only handles whose shape fits are arguments: what a place says of its memory makes using it sound.
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

/// Device memory of shape `S` that a graph shares: a [`DeviceBuffer`], or a reference to one. Where only its outermost
/// length is unknown to the types, building compares that.
#[diagnostic::on_unimplemented(
    message = "expected device memory of shape `{S}`, found `{Self}` [shape-mismatch]",
    label = "not device memory of shape `{S}`",
    note = "pass a `DeviceBuffer` of this shape, or a reference to one"
)]
pub trait DeviceShare<S: ?Sized>: sealed::DeviceShare<S> {}

/// Host memory of shape `S` that a graph shares: a [`SharedHost`], a reference to one, or a [`HostBuffer`], which the
/// graph then owns. Where only its outermost length is unknown to the types, building compares that.
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

/// Puts other device memory in the place of shared memory: see [`Graph::rebind`].
pub fn rebind_device<S: ?Sized>(
    graph: &mut Graph,
    place: &Place<S, OnDevice>,
    memory: impl DeviceShare<S>,
) -> Result<()> {
    graph.rebind_memory(place.span, memory.memory().0)
}

/// Puts other host memory in the place of shared memory: see [`Graph::rebind`].
pub fn rebind_host<S: ?Sized>(graph: &mut Graph, place: &Place<S, OnHost>, memory: impl HostShare<S>) -> Result<()> {
    graph.rebind_memory(place.span, memory.memory().0)
}
