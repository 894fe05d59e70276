//! Random programs, against models that say what each must compute or whether it is right.

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod graphs;
mod loops;
mod shared;
