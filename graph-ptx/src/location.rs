//! The places in a source that PTX comes from, as its `.loc` directives tell.

use crate::ast::{Function, Module};
use std::fmt;

/// A place in the source that PTX was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path of the file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The file and the line of the call, if the place was inlined there.
    pub inlined_at: Option<(String, u32)>,
}

/// Writes `` `x.cu:12` ``, or `` `x.h:3`, inlined at `x.cu:12` ``.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}:{}`", self.file, self.line)?;
        match &self.inlined_at {
            Some((file, line)) => write!(f, ", inlined at `{file}:{line}`"),
            None => Ok(()),
        }
    }
}

/// The place in the source of the first instruction on a line of the PTX; `None` if no `.loc` tells it.
pub fn location(module: &Module, line: u32) -> Option<Location> {
    let bodies = module.functions.iter().filter_map(Function::code);
    let mut instructions = bodies.flat_map(|body| &body.instructions);
    let instruction = instructions.find(|instruction| instruction.line == line)?;
    let place = |(index, line): (u32, u32)| {
        let file = module.files.iter().find(|(known, _)| *known == index)?;
        Some((file.1.clone(), line))
    };
    let (file, line) = place(instruction.source?)?;
    Some(Location {
        file,
        line,
        inlined_at: instruction.inlined_at.and_then(place),
    })
}
