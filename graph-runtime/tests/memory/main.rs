//! Memory of graphs: rectangles of it, scratch memory, and what graphs share.

#[path = "../common/mod.rs"]
mod common;

mod adopted;
mod arrays;
mod constants;
mod guards;
mod lending;
mod nested;
mod pools;
mod rebind;
mod rectangles;
mod scratch;
mod scratch_statements;
mod shared;
mod shared_cuda;
mod tables;
mod textures;
mod uninit;
mod uploads;
mod views;
