//! Running a kernel: from a launch to its blocks, and to the warps of a block.

pub(crate) mod launch;
mod grid;
mod team;
mod round;
mod lockstep;
mod block;
mod warp;
pub(crate) mod module;
pub(crate) mod parsed;
