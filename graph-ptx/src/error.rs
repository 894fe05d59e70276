//! The error of the parser.

use std::fmt;

/// The reason why a text is not PTX, and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line in the text, from 1.
    pub line: u32,
    /// Column in the line, in bytes, from 1.
    pub column: u32,
    /// The text: what was expected and what was found instead; lower case, no full stop.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}
