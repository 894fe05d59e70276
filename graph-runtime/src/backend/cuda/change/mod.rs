//! Changes of an executable graph: in place where CUDA allows that, else by instantiating it again.

pub(super) mod update_from;
mod instantiate_again;
mod enabled;
pub(super) mod prepared_launch;
