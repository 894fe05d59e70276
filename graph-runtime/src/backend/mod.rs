//! The two kinds of device: their memory, and the graphs that run on them. Without the feature `emulator`, stand-ins of
//! which no value exists take the place of the emulator's types.

pub(crate) mod executable;
pub(crate) mod cuda;
#[cfg(feature = "emulator")]
pub(crate) mod emulator;
#[cfg(not(feature = "emulator"))]
pub(crate) mod no_emulator;
pub(crate) mod end;
mod watch;
pub(crate) mod calls;
pub(crate) mod storage;
pub(crate) mod blueprint;
pub(crate) mod shared;
pub(crate) mod pool;
pub(crate) mod block;
pub(crate) mod mapped;
pub(crate) mod array;
pub(crate) mod memory;
pub(crate) mod device;
pub(crate) mod uses;
pub(crate) mod launches;
mod random;
