//! CUDA graphs as checked Rust declarations.

mod kernel;
mod place;
mod shape;

pub use bytemuck;
pub use kernel::{CallArgument, Dimensions, Kernel, KernelCall, KernelFacts, Launch, Ptx};
pub use place::{Memory, OnDevice, OnHost, Place};
pub use shape::{ArrayOf, Element, Rows, SameShape};

/// What expansions of the macros use besides the public items. Not part of the interface.
#[doc(hidden)]
pub mod private {
    pub use crate::kernel::{CallArgument, check_launch, constant};
    pub use graph_plan as plan;
}
