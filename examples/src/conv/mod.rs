//! The parts of `train_conv`: its kernels, its data and weights, one step in plain Rust, training with a graph and
//! without one.

mod train;
mod library;
mod eager;
mod reference;
mod shared;
mod data;
mod weights;
pub mod kernels;

pub use data::Data;
use eager::Eager;
pub use library::Library;
pub use reference::step;
pub use shared::Shared;
pub use train::{Trained, train, train_without_graph};
pub use weights::Weights;

/// The images of a batch.
pub const BATCH: usize = 32;
/// The pixels of an image: 16 x 16.
pub const PIXELS: usize = 256;
/// The digits.
pub const CLASSES: usize = 10;
/// The channels after the first convolution.
pub const C1: usize = 16;
/// The numbers of each: 8 x 8.
pub const CELLS1: usize = 64;
/// The channels after the second convolution.
pub const C2: usize = 32;
/// The numbers of each: 4 x 4.
pub const CELLS2: usize = 16;
/// The parts of the batch whose gradients of the second filters are added up later.
pub const PARTS: usize = 8;
/// The size of the steps down the gradient.
pub const RATE: f32 = 0.1;
/// The inputs of the last layer.
pub const FEATURES: usize = C2 * CELLS2;
