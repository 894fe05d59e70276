//! A graph as a file: all that another program needs to build the graph again, and to check it again.
//!
//! A file is trusted in nothing. [`GraphFile::decode`] checks what the bytes say about each other: lengths, indices,
//! kinds. Whether the graph is sound is for whoever builds it to check, as for a graph that an author wrote.

mod decode;
mod encode;

use crate::{Memory, Mode, NodeKind, Role};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The first bytes of a graph file. The first of them is in no text.
const MAGIC: [u8; 8] = *b"\x89CUGRAPH";
/// The version of the format.
const VERSION: u32 = 3;
/// The version before it, which is read too: its modules are all PTX.
const PTX_ALONE: u32 = 2;
/// The kinds of memory of a file, by their codes.
const MEMORY: &[Memory] = &[
    Memory::Host,
    Memory::Device,
    Memory::Scratch,
    Memory::Constant,
    Memory::Mapped,
];
/// The modes of a kernel's arguments, by their codes.
const MODES: &[Mode] = &[Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic, Mode::Mapped];
/// The roles of bodies, by their codes.
const ROLES: &[Role] = &[Role::Child, Role::Then, Role::Else, Role::While, Role::Case];
/// The kinds of nodes with bodies that a condition chooses, by their codes.
const CONDITIONALS: &[NodeKind] = &[NodeKind::If, NodeKind::While, NodeKind::Switch];

/// A graph as a file has it. Indices are positions in these lists. They are within them, and nothing else is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphFile {
    /// The graph's name.
    pub name: Cow<'static, str>,
    /// The code of its kernels.
    pub modules: Vec<FileModule>,
    /// The memory that its nodes touch, without variables of modules that no author declares.
    pub memory: Vec<FileMemory>,
    /// The bodies of nodes. Body 0 is the graph itself, which is not in this list: its first is body 1.
    pub bodies: Vec<FileBody>,
    /// The nodes, in order of declaration.
    pub nodes: Vec<FileNode>,
}

/// The code of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileModule {
    /// The name of its file in messages.
    pub name: Cow<'static, str>,
    /// The code itself.
    pub code: FileCode,
}

/// The code of a [`FileModule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileCode {
    /// PTX.
    Ptx(Cow<'static, str>),
    /// A cubin: machine code for devices of one kind. What its kernels do with their memory is only declared.
    Cubin(Cow<'static, [u8]>),
}

impl FileCode {
    /// The code as bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Ptx(text) => text.as_bytes(),
            Self::Cubin(image) => image,
        }
    }
}

/// Memory of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMemory {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its kind.
    pub memory: Memory,
    /// Its size in bytes.
    pub bytes: u64,
    /// The alignment of its elements in bytes.
    pub align: u64,
    /// Whether others give the memory: an argument of `build`. Else the graph owns it.
    pub given: bool,
    /// The name in the PTX of a variable that the author declares as memory; else empty.
    pub symbol: Cow<'static, str>,
    /// The bytes that device memory of the graph's own begins with: states of random numbers. Empty for zeroes.
    pub contents: Vec<u8>,
}

/// A body of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBody {
    /// Its role for its node.
    pub role: Role,
    /// The node.
    pub node: u32,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNode {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The body it is in: 0, or one more than the position in [`GraphFile::bodies`].
    pub body: u32,
    /// Whether launches skip it.
    pub disabled: bool,
    /// The nodes that it runs directly after.
    pub after: Vec<FileEdge>,
    /// Its work.
    pub work: FileWork,
}

/// An edge to a [`FileNode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEdge {
    /// The node that runs first.
    pub from: u32,
    /// Whether the later kernel itself waits for the first one.
    pub programmatic: bool,
}

/// The work of a [`FileNode`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileWork {
    /// A launch.
    Kernel(Box<FileKernel>),
    /// A copy.
    Memcpy {
        /// The memory that is read.
        from: FileRows,
        /// The memory that is written.
        to: FileRows,
    },
    /// A fill.
    Memset {
        /// The memory that is written.
        to: FileRows,
        /// The bytes of one element.
        value: Vec<u8>,
    },
    /// Nothing: the node joins edges.
    Join,
    /// A child graph, whose nodes are in a body.
    Child,
    /// Bodies of which a condition chooses.
    Conditional {
        /// `If`, `While` or `Switch`.
        kind: NodeKind,
        /// The memory of the condition.
        memory: u32,
        /// The offset of the condition in the memory, in bytes.
        start: u64,
    },
}

/// The launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileKernel {
    /// The module.
    pub module: u32,
    /// The name of the kernel in the PTX.
    pub entry: Cow<'static, str>,
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// The dynamic shared memory of a block in bytes.
    pub shared: u32,
    /// The number of blocks of a cluster in each dimension.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks run at the same time.
    pub cooperative: bool,
    /// The priority as CUDA counts, if the node has one.
    pub priority: Option<i32>,
    /// The arguments.
    pub arguments: Vec<FileArgument>,
}

/// An argument of a [`FileKernel`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileArgument {
    /// Memory, whose address the kernel gets.
    Memory {
        /// The memory.
        memory: u32,
        /// The offset in it, in bytes.
        start: u64,
        /// The length in bytes.
        bytes: u64,
        /// The way in which the kernel accesses it.
        mode: Mode,
        /// The size of an element in bytes; 0 if it is not known.
        unit: u32,
    },
    /// The bytes of a value.
    Value(Vec<u8>),
}

/// Rows of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRows {
    /// The memory.
    pub memory: u32,
    /// The offset of the first row, in bytes.
    pub start: u64,
    /// The bytes of all rows together.
    pub bytes: u64,
    /// The bytes of a row.
    pub width: u64,
    /// The distance from the start of a row to the start of the next, in bytes.
    pub pitch: u64,
}

impl FileRows {
    /// Bytes in one piece.
    pub const fn piece(memory: u32, start: u64, bytes: u64) -> Self {
        Self {
            memory,
            start,
            bytes,
            width: bytes,
            pitch: bytes,
        }
    }
}

/// The reason why bytes are no graph file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError(pub(crate) String);

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FileError {}

/// A node or memory that no file can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The rest of a sentence about it.
    pub reason: Cow<'static, str>,
}

/// The file of a [`Plan`](crate::Plan), if it is the plan of a built graph. Plans are equal whatever their files are.
#[derive(Clone, Default)]
pub(crate) struct PlanFile(pub(crate) Option<Arc<Result<GraphFile, Vec<Unsaved>>>>);

impl PlanFile {
    pub(crate) const NONE: Self = Self(None);
}

impl PartialEq for PlanFile {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PlanFile {}

impl fmt::Debug for PlanFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "PlanFile(..)" } else { "PlanFile" })
    }
}

#[cfg(test)]
mod tests;
