//! The state that instructions work on: warps and their registers, and the facts that a launch lends to them.

pub(crate) mod warp;
mod special;
mod local;
pub(crate) mod texels;
pub(crate) mod context;
pub(crate) mod floats;
pub(crate) mod address;
mod tracked;
pub(crate) mod lanes;
pub(crate) mod registers;
pub(crate) mod vector;
pub(crate) mod affine;
mod mask;

pub(crate) use context::Context;
pub(crate) use lanes::{Lane, each};
pub(crate) use mask::{FULL, LANES, all_if, first, lanes, lanes_where};
pub(crate) use registers::{Frame, Registers};
pub(crate) use texels::Texels;
pub(crate) use warp::{Activation, Warp};
