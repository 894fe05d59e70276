//! A Llama that people have, in bf16: its weights as Hugging Face's checkpoints have them, and one graph that writes a
//! text with them, or one for each of several ranks. The example `llama` runs it; the same model in plain Rust is that
//! of [`engine`](crate::engine).

mod weights;
mod share;
mod text;
mod graph;

pub use graph::{Decode, RankDecode};
pub use share::Share;
pub use text::Writer;
pub use weights::{LLAMA_1B, TINY, Weights, write_tiny};
