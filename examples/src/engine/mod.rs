//! An inference engine in small: a Llama whose sizes and weights come from files, its own allocator, and a graph that
//! is declared call by call from PTX text. The example `engine` runs it.

mod decode;
mod memory;
mod pool;
mod allocate;
mod plain;
mod model;
mod config;

pub use allocate::Allocate;
pub use config::Config;
pub use decode::build;
pub use memory::Tensors;
pub use model::Model;
pub use plain::{Decoded, decode};
pub use pool::Pool;
