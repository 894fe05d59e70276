//! Streams, contexts and captures of the user's own, which only CUDA has.
//!
//! These tests have a process of their own, and take turns in it: some of them capture in CUDA's global mode, which
//! forbids other threads' cudarc calls, and those calls would end the captures.

#[path = "../common/mod.rs"]
mod common;

mod bodies;
mod capture;
mod cuda;
mod definition;
mod graphs;
mod lift;
mod rebuilt;
mod pools;
mod streams;
mod region;
mod turn;
