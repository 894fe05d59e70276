//! The code that examples share: kernels, data, references, and the lines that they print.

pub mod conv;
pub mod cublas;
pub mod cudnn;
pub mod trainer;
pub mod llama;
pub mod decoder;
pub mod engine;
pub mod block;
pub mod digits;
pub mod layers;
pub mod mlp;
pub mod checkpoint;
pub mod linear;
pub mod sample;
pub mod memory;
pub mod charts;
pub mod bench;
mod bare;
pub mod tensors;
pub mod gradients;
pub mod compare;
pub mod ranks;
pub mod program;
mod help;

/// The README's sample compiles and runs as it is.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
