//! A CUDA driver in software: a library with the functions of `libcuda.so.1` that runs PTX and CUDA graphs on the CPU,
//! by [`graph_emulator`]. Programs that load it as their CUDA driver run without a GPU, and tests of them find mistakes
//! that a GPU passes over: work is asynchronous and a moment late, nodes of graphs run in random orders, every access
//! of a kernel is checked, and what the driver of a GPU refuses is refused.
//!
//! `docs/driver.md` of the project says how to use it, and what it does not have. [`rules`] lists what it refuses.

mod calls;
mod start;
mod record;
mod edit;
mod nccl;
mod perform;
mod find;
mod state;
mod capture;
mod graph;
mod work;
mod memory;
mod module;
mod device;
mod handle;
mod queue;
mod log;
mod argument;
mod code;
mod settings;
pub mod rules;
