//! Every call of the driver fails once, and other things happen between calls that seldom happen by themselves.
//!
//! The program needs the feature `fault-injection`. Without a GPU, each test runs again in a process of its own, with
//! the driver in software: [`software`] starts it.

#[path = "../common/mod.rs"]
mod common;

mod codes;
mod definitions;
mod enumeration;
mod futures;
mod graphs;
mod late;
mod lending;
mod lost;
mod memory;
mod panics;
mod pools;
mod races;
mod ranks;
mod refused_edits;
mod runtime;
mod software;
mod subscribers;
