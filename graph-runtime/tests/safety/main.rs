//! Mistakes and attacks: refused by types or by `build`, or found when a graph runs.

#[path = "../common/mod.rs"]
mod common;

mod alignment;
mod attacks;
mod changes;
mod emulator;
mod extremes;
mod mistakes;
mod soundness;
