//! Uses of memory by the host and by launches that may be in flight.

pub(crate) mod uses;
pub(crate) mod refused;
pub(crate) mod launches;
pub(crate) mod lock;
