//! CUDA graphs as checked Rust declarations.

mod assert;
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
    pub use crate::assert::{check_launch, check_part, constant, distance};
    pub use crate::kernel::CallArgument;
    pub use graph_plan as plan;
}
