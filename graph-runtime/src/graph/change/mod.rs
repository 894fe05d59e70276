//! Changes of a built graph in place: what may be asked, and how it is made, all or none.

pub(crate) mod edit;
mod update_copy;
pub(crate) mod rebind;
pub(crate) mod direct_param;
pub(crate) mod update;
mod commit;
mod param_batch;
mod enable;
mod presence;
mod rebind_checks;
pub(crate) mod batch;
pub(crate) mod state;
