//! The comparison of a kernel's declaration with its PTX: whether the kernel is there, takes these parameters, and
//! touches them only in the declared way.
//!
//! These are the rules of `#[cuda_kernels]`. Both the macro, which reads a PTX file, and a program that has just
//! compiled CUDA call [`check`], so that both report the same about one kernel.

mod access;
mod missing;
mod signature;
mod proposal;
mod text;

use self::text::File;
use crate::ast::Module;
use crate::{Geometry, KernelSummary, summarize};

pub use proposal::{Handle, Memory, Proposal, propose};
pub use signature::whereabouts;
pub use text::bytes;

/// A kernel as its author declared it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name in messages.
    pub name: String,
    /// The name of its `.entry`.
    pub entry: String,
    /// Whether it claims to be sound for every argument.
    pub safe: bool,
    /// Its parameters, in order.
    pub params: Vec<Param>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in messages.
    pub name: String,
    /// Its type as it is written: `&mut [f32]`.
    pub ty: String,
    /// The kind of argument that it takes.
    pub kind: Kind,
}

/// The kind of argument that a declared parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory.
    Buffer(BufferAccess),
    /// A number, whose alignment is its size.
    Number {
        /// Its size in bytes.
        size: u64,
        /// Whether it is a floating-point number.
        float: bool,
    },
    /// A struct or another type, passed as bytes.
    Value {
        /// Its size in bytes.
        size: u64,
        /// Its alignment in bytes.
        align: u64,
    },
    /// A by-value type whose size the caller checks.
    Unsized,
    /// A number, a truth value or a character that no kernel takes by value, since its size or its values are those of
    /// the host: `usize`, `isize`, `bool`, `char`.
    Host,
    /// A parameter that the caller could not read: it fits everything.
    Invalid,
}

/// The accesses that a kernel may make to the memory of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferAccess {
    /// Loads: `&[T]`.
    Read,
    /// Loads and stores: `&mut [T]`.
    Write,
    /// Stores, and loads of what it has stored: `&mut [MaybeUninit<T>]`.
    Overwrite,
    /// Reads through a texture alone: `&[Texel<T>]` and, of rows, `&[[Texel<T>; N]]`.
    Texture {
        /// The geometry of the texels. A [line](Geometry::Line) may also be read as [linear](Geometry::Linear) memory,
        /// if it is read so alone.
        geometry: Geometry,
    },
    /// Accesses through a surface alone: `&[Surfel<T>]`, `&mut [[Surfel<T>; N]]` and so on.
    Surface {
        /// The geometry of the texels.
        geometry: Geometry,
        /// Whether it may store: `&mut`.
        stores: bool,
    },
    /// `atom` and `red` alone: `&[Atomic<T>]`.
    Atomic {
        /// The size of `T` in bytes; `None` if the caller does not know it.
        size: Option<u64>,
    },
    /// Loads and stores of words that are strong for the whole system, and nothing else: `&[Mapped<T>]`.
    Mapped {
        /// The size of `T` in bytes: 4 or 8.
        size: u64,
    },
}

/// A point in which a declaration and its PTX differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The rule that was broken.
    pub rule: Rule,
    /// The part of the declaration to point at.
    pub place: Place,
    /// One line, lower case, without full stop.
    pub message: String,
    /// Facts, one line each.
    pub notes: Vec<String>,
    /// A way to mend it.
    pub help: Option<String>,
}

/// The rule that a [`Mistake`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The PTX has no such kernel.
    MissingKernel,
    /// The kernel has other parameters.
    Signature,
    /// The kernel takes more access than is declared.
    Access,
    /// `&mut` that the kernel does not need: only a warning.
    NeedlessMut,
}

/// A part of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The kernel's name.
    Kernel,
    /// The claim that it is safe.
    Safe,
    /// The type of a parameter, by index.
    Param(usize),
}

impl Mistake {
    fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The findings of [`check`].
#[derive(Clone, Debug)]
pub struct Findings {
    /// The kernel; `None` if it is not there.
    pub summary: Option<KernelSummary>,
    /// All mistakes, in no order.
    pub mistakes: Vec<Mistake>,
}

/// Compares a declaration with the PTX in `module`, which messages call `path`. `nearest` picks the candidate that is
/// most like a name that is missing.
pub fn check(
    declaration: &Declaration,
    module: &Module,
    path: &str,
    nearest: impl Fn(&str, &[&str]) -> Option<String>,
) -> Findings {
    let compiled = false;
    compare(declaration, &File { module, path, compiled }, nearest)
}

/// As [`check`], for PTX that was compiled of the CUDA source `path`: messages name places in the source.
pub fn check_compiled(
    declaration: &Declaration,
    module: &Module,
    path: &str,
    nearest: impl Fn(&str, &[&str]) -> Option<String>,
) -> Findings {
    let compiled = true;
    compare(declaration, &File { module, path, compiled }, nearest)
}

fn compare(declaration: &Declaration, file: &File<'_>, nearest: impl Fn(&str, &[&str]) -> Option<String>) -> Findings {
    let is_pointer = |param: &Param| matches!(param.kind, Kind::Buffer(_));
    let pointers: Vec<bool> = declaration.params.iter().map(is_pointer).collect();
    let mut mistakes = Vec::new();
    let summary = summarize(file.module, &declaration.entry, &pointers);
    match &summary {
        None => mistakes.push(missing::missing(&declaration.entry, file.module, file.path, nearest)),
        Some(summary) => {
            if signature::check(declaration, summary, file, &mut mistakes) {
                access::check(declaration, summary, file, &mut mistakes);
            }
        }
    }
    Findings { summary, mistakes }
}
