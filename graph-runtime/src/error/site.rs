//! The parts of an error: the driver call that failed, and what it was about.

use std::fmt;

/// A CUDA driver call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError {
    pub(crate) call: &'static str,
    pub(crate) name: &'static str,
    pub(crate) code: u32,
    /// The notes of [`CudaError::with_notes`]; mostly empty.
    pub(super) notes: &'static str,
}

impl CudaError {
    pub(crate) const fn new(call: &'static str, name: &'static str, code: u32) -> Self {
        Self {
            call,
            name,
            code,
            notes: "",
        }
    }

    /// The error with lines of text that say more about the fault of a kernel: `\nnote: ..`.
    pub(crate) const fn with_notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    /// The name of the call: `cuGraphAddKernelNode_v2`.
    pub fn call(&self) -> &'static str {
        self.call
    }

    /// CUDA's name of the error: `CUDA_ERROR_INVALID_VALUE`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number of the error in `CUresult`.
    pub fn code(&self) -> u32 {
        self.code
    }

    /// Whether a kernel that was running has failed. Every later call in the context returns the same error.
    pub(crate) fn is_of_kernel(&self) -> bool {
        const ILLEGAL_ADDRESS: u32 = 700;
        const ASSERT: u32 = 710;
        const HARDWARE_STACK_ERROR: u32 = 714;
        const LAUNCH_FAILED: u32 = 719;
        matches!(
            self.code,
            ILLEGAL_ADDRESS | ASSERT | HARDWARE_STACK_ERROR..=LAUNCH_FAILED
        )
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {} ({})", self.call, self.name, self.code)
    }
}

impl std::error::Error for CudaError {}

/// The subject of an [`Error`](crate::Error): a graph, perhaps one of its nodes, perhaps a piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    graph: Option<Box<str>>,
    pub(super) node: Option<Box<str>>,
    memory: Option<Box<str>>,
}

impl Site {
    /// A graph, by name.
    pub(crate) fn graph(name: &str) -> Self {
        Self {
            graph: Some(name.into()),
            ..Self::default()
        }
    }

    /// Memory outside any graph.
    pub(crate) fn buffer() -> Self {
        Self::default().at_memory("buffer")
    }

    /// Memory that a scope lends.
    pub(crate) fn lent() -> Self {
        Self::default().at_memory("lent")
    }

    /// The site with a node.
    pub(crate) fn at_node(self, name: &str) -> Self {
        Self {
            node: Some(name.into()),
            ..self
        }
    }

    /// The site with a piece of memory.
    pub(crate) fn at_memory(self, name: &str) -> Self {
        Self {
            memory: Some(name.into()),
            ..self
        }
    }

    /// The graph's name, if the error is about a graph.
    pub fn graph_name(&self) -> Option<&str> {
        self.graph.as_deref()
    }

    /// The node's name, if the error is about a node.
    pub fn node_name(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// The memory's name, if the error is about memory. Memory outside graphs is called `buffer`.
    pub fn memory_name(&self) -> Option<&str> {
        self.memory.as_deref()
    }
}

/// Writes the text before a message: ``graph `G`, node `n`, memory `m`: ``, or nothing.
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("graph", &self.graph), ("node", &self.node), ("memory", &self.memory)];
        let mut separator = "";
        for (kind, name) in parts {
            if let Some(name) = name {
                write!(f, "{separator}{kind} `{name}`")?;
                separator = ", ";
            }
        }
        if separator.is_empty() {
            Ok(())
        } else {
            f.write_str(": ")
        }
    }
}
