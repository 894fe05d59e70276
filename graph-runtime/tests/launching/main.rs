//! How kernels run: where they come from, how they are launched, what they wait for, and their random numbers.

#[path = "../common/mod.rs"]
mod common;

mod attributes;
mod functions;
mod nvrtc;
mod programmatic;
mod programmatic_edges;
mod rng;
