//! The emulator, through its public interface.

#[path = "../common/mod.rs"]
mod common;

mod barriers;
mod checks;
mod clusters;
mod cooperative;
mod counts;
mod faults;
mod kernels;
mod mutations;
mod parts;
mod predicates;
mod probes;
mod ptxas;
mod size;
mod texels;
mod textures;
mod together;
mod types;
mod wide;
