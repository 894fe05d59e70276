//! What is wrong, and where it is found: by types, by `build`, when a graph runs, or by the emulator.

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod emulator;
mod mistakes;
mod soundness;
