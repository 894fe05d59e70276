//! Graphs on the two kinds of device. Without the feature `emulator`, stand-ins of which no value exists take the place
//! of the emulator's types.

pub(crate) mod executable;
pub(crate) mod cuda;
#[cfg(feature = "emulator")]
pub(crate) mod emulator;
#[cfg(not(feature = "emulator"))]
pub(crate) mod no_emulator;
mod watched_launch;
pub(crate) mod launch_end;
pub(crate) mod host_calls;
mod finite;
mod random;
