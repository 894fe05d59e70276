//! Copies as `cuda_graph!` writes them: functions, whose bounds rustc names by a short path.

use crate::builder::GraphBuilder;
use crate::graph::node::NodeId;
use crate::shape::SameShape;
use crate::shape::place::{Memory, Place};
use crate::shape::rectangle::Rectangle;

/// [`GraphBuilder::memcpy`]
pub fn memcpy<A: ?Sized + SameShape<B>, B: ?Sized>(
    builder: &mut GraphBuilder,
    name: &'static str,
    from: &Place<A, impl Memory>,
    to: &mut Place<B, impl Memory>,
) -> NodeId {
    builder.memcpy(name, from, to)
}

/// [`GraphBuilder::memcpy_2d`]
pub fn memcpy_2d<A: ?Sized + SameShape<B>, B: ?Sized>(
    builder: &mut GraphBuilder,
    name: &'static str,
    from: &Rectangle<A, impl Memory>,
    to: &mut Rectangle<B, impl Memory>,
) -> NodeId {
    builder.memcpy_2d(name, from, to)
}
