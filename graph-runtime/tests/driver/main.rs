//! The CUDA driver itself: what it refuses, and programs of cudarc's. On a GPU its own driver is asked; elsewhere, by
//! `cargo xtask driver`, the one in software, which is to be no other.

#[path = "../common/mod.rs"]
mod common;
mod program;
mod provoked;
#[path = "../../../cuda-graph-driver/src/rules.rs"]
mod rules;
mod setup;
