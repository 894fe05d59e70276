//! PTX text: parsing, kernel signatures, and which parameters a kernel reads and writes.
#![forbid(unsafe_code)]

pub mod ast;
mod error;
mod lexer;
mod parser;

pub use error::ParseError;
pub use parser::parse;
