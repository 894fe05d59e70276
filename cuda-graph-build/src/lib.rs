//! Compiles CUDA C++ to PTX without a CUDA toolkit.
//!
//! `cargo cuda-graph ptx kernels/scale.cu` compiles kernels once, to `.ptx` files that are checked in beside their
//! sources: whoever builds the crate then needs no compiler for CUDA. This crate is the part of that command which
//! build scripts can use instead. In `build.rs`:
//!
//! ```no_run
//! fn main() -> cuda_graph_build::Result<()> {
//!     cuda_graph_build::ptx("kernels/scale.cu")
//! }
//! ```
//!
//! `#[cuda_kernels("kernels/scale.ptx")]` then finds the PTX among the build's outputs. A [`Compiler`] has options.
//!
//! # Which compiler
//!
//! NVRTC, NVIDIA's compiler library, is looked for in this order:
//!
//! 1. the file that `CUDA_GRAPH_NVRTC` names;
//! 2. NVRTC 12.4 (or what [`Compiler::toolkit`] says) from NVIDIA's wheel on PyPI, in the cache. `cargo cuda-graph
//!    fetch` puts it there: 25 MB, pinned by its SHA-256, for Linux on x86-64. pip downloads it, so a mirror or a
//!    folder of wheels that pip is set up for is used (`PIP_INDEX_URL`; `PIP_NO_INDEX=1 PIP_FIND_LINKS=folder` on a
//!    machine without network);
//! 3. an installed toolkit, in `CUDA_PATH`, `CUDA_HOME` or the usual folders.
//!
//! Build scripts do not use the network, unless they say [`Compiler::fetch`].
//!
//! The cache is the folder `wheels` in `CUDA_GRAPH_CACHE_DIR`, or else in `cuda-graph` below the user's cache
//! (`XDG_CACHE_HOME`, `~/.cache`, `LOCALAPPDATA`).

mod script;
mod files;
mod newer;
mod preprocessed;
mod compiler;
mod host;
mod includes;
mod headers;
mod source;
mod text;
mod installed;
mod wheel;
mod nvrtc;
mod error;

pub use compiler::{Compiled, Compiler};
pub use error::{Error, Result};
pub use files::{check, update};
pub use script::ptx;
pub use text::directive;
pub use wheel::{NVCC, RUNTIME, Wheel, cache};
