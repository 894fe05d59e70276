//! Phrases that several messages share.

use crate::ast::Module;
use crate::location;

/// `1 byte` and `12 bytes`
pub fn bytes(size: u64) -> String {
    if size == 1 {
        "1 byte".to_owned()
    } else {
        format!("{size} bytes")
    }
}

/// `a`, `b` and 7 more
pub(super) fn list(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut list = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    list
}

/// PTX, and the words for places in it.
pub(super) struct File<'m> {
    pub(super) module: &'m Module,
    /// The path in messages.
    pub(super) path: &'m str,
    /// Whether `path` is the CUDA source that the PTX was compiled of.
    pub(super) compiled: bool,
}

impl File<'_> {
    /// ``on line 12 of `x.ptx` ``, perhaps with `` (`x.cu:8`)``; of a CUDA source, ``at `x.cu:8` ``.
    pub(super) fn at(&self, line: u32) -> String {
        let Self { module, path, compiled } = self;
        match (location(module, line), compiled) {
            (Some(place), true) => format!("at {place}"),
            (Some(place), false) => format!("on line {line} of `{path}` ({place})"),
            (None, true) => format!("on line {line} of the PTX of `{path}`"),
            (None, false) => format!("on line {line} of `{path}`"),
        }
    }
}
