//! PTX text: parsing, kernel signatures, and which parameters a kernel reads and writes.
#![forbid(unsafe_code)]

pub mod ast;
mod error;
mod lexer;
mod parser;
mod summary;

pub use error::ParseError;
pub use parser::parse;
pub use summary::{Access, KernelSummary, ParamSummary, Store, VariableAccess, kernel_summaries, summarize};
