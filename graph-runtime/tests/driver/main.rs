//! The CUDA driver itself: what it refuses, and programs of cudarc's. On a GPU its own driver is asked; elsewhere, by
//! `cargo xtask driver`, the one in software, which is to be no other.

mod endless;
mod locks;
mod program;
mod provoked;
#[expect(unreachable_pub, reason = "the file is a public module of the driver in software")]
#[path = "../../../cuda-graph-driver/src/rules.rs"]
mod rules;
mod setup;

/// Whether there is a driver, of a GPU or in software.
fn has_driver() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DEVICE").is_some_and(|device| device == "cuda")
}

/// Whether it is the driver in software.
fn is_software() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DRIVER").is_some()
}
