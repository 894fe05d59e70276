//! The lines at the end of PTX that say what it was made of, so that PTX whose source has changed since can be found.
//!
//! ```text
//! // cuda-graph: made of scale.cu 8d6f0b1c2a3e4f50
//! // cuda-graph: made of factor.h 00c1d2e3f4a5b697
//! // cuda-graph: made by NVRTC 12.4 with --gpu-architecture=compute_70 --std=c++17
//! // cuda-graph: made again by cargo cuda-graph ptx
//! ```

use std::fmt;

const OF: &str = "// cuda-graph: made of ";
const BY: &str = "// cuda-graph: made by ";
const AGAIN: &str = "// cuda-graph: made again by ";

/// The source that a PTX text was made of, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The source, and the headers beside it that it includes.
    pub files: Vec<OriginFile>,
    /// The compiler, its version and its options.
    pub by: String,
    /// The command that makes the text again, without the path of the source.
    pub again: String,
}

/// A file that a PTX text was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginFile {
    /// The path, relative to the folder of the PTX, with `/` between its parts.
    pub path: String,
    /// The [`hash`] of its bytes.
    pub hash: u64,
}

impl OriginFile {
    /// Returns the entry of a file with these bytes.
    pub fn new(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            path: path.into(),
            hash: hash(bytes),
        }
    }
}

impl Origin {
    /// Reads the lines at the end of a PTX text; `None` if it has none.
    pub fn of(ptx: &str) -> Option<Self> {
        let mut origin = Self {
            files: Vec::new(),
            by: String::new(),
            again: String::new(),
        };
        for line in ptx.lines().rev().skip_while(|line| line.trim().is_empty()) {
            if let Some(file) = line.strip_prefix(OF) {
                let (path, hash) = file.trim_end().rsplit_once(' ')?;
                let hash = u64::from_str_radix(hash, 16).ok()?;
                origin.files.insert(
                    0,
                    OriginFile {
                        path: path.to_owned(),
                        hash,
                    },
                );
            } else if let Some(by) = line.strip_prefix(BY) {
                origin.by = by.trim_end().to_owned();
            } else if let Some(again) = line.strip_prefix(AGAIN) {
                origin.again = again.trim_end().to_owned();
            } else {
                break;
            }
        }
        (!origin.files.is_empty()).then_some(origin)
    }

    /// Returns the path of the CUDA source.
    pub fn source(&self) -> Option<&str> {
        self.files.first().map(|file| file.path.as_str())
    }

    /// Returns the path of the first file that has changed. `read` returns the bytes of the file at a path, if there is
    /// one. Without the source nothing is said to have changed: the PTX was perhaps published alone.
    pub fn changed(&self, read: impl Fn(&str) -> Option<Vec<u8>>) -> Option<&str> {
        read(self.source()?)?;
        let has_changed = |file: &&OriginFile| read(&file.path).is_some_and(|bytes| hash(&bytes) != file.hash);
        self.files.iter().find(has_changed).map(|file| file.path.as_str())
    }
}

/// The lines, as they stand at the end of a PTX text.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "{OF}{} {:016x}", file.path, file.hash)?;
        }
        writeln!(f, "{BY}{}\n{AGAIN}{}", self.by, self.again)
    }
}

/// Returns the FNV-1a hash of a text. Carriage returns do not count: Git may write them at the ends of lines.
pub fn hash(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let counted = bytes.iter().filter(|byte| **byte != b'\r');
    counted.fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Returns the name that a line of CUDA C++ includes, `#include "name"` or `#include <name>`, and whether it is in
/// quotes.
pub fn included(line: &str) -> Option<(&str, bool)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let name = directive.strip_prefix("include")?.trim_start();
    let is_quoted = name.starts_with('"');
    let end = if is_quoted { '"' } else { '>' };
    let (name, _) = name.strip_prefix(['"', '<'])?.split_once(end)?;
    Some((name, is_quoted))
}
