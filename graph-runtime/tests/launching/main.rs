//! Running kernels: their sources, launches, programmatic edges and random numbers.

#[path = "../common/mod.rs"]
mod common;

mod attributes;
mod clusters;
mod barriers;
mod forms;
mod functions;
mod futures;
mod generators;
mod grid;
mod modules;
mod nvrtc;
mod pointers;
mod programmatic;
mod programmatic_edges;
mod rng;
mod run_time;
mod traces;
mod tuned;
