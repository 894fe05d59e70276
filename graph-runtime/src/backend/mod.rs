//! The two kinds of device: their memory, and the graphs that run on them.

pub(crate) mod executable;
pub(crate) mod cuda;
pub(crate) mod emulator;
pub(crate) mod calls;
pub(crate) mod storage;
pub(crate) mod blueprint;
pub(crate) mod shared;
pub(crate) mod block;
pub(crate) mod memory;
pub(crate) mod device;
pub(crate) mod uses;
pub(crate) mod launches;
mod random;
