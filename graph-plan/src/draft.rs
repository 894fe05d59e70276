//! The graph as its author wrote it, before anything is known to be right.

use crate::Region;
use std::borrow::Cow;

/// Which memory a resource lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Page-locked host memory.
    Host,
    /// Device memory.
    Device,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Launches a kernel.
    Kernel,
    /// Copies memory.
    Memcpy,
    /// Fills device memory.
    Memset,
    /// Does nothing; joins edges.
    Join,
}

impl NodeKind {
    /// The keyword of the statement that declares such a node.
    pub const fn keyword(self) -> &'static str {
        match self {
            NodeKind::Kernel => "kernel",
            NodeKind::Memcpy => "memcpy",
            NodeKind::Memset => "memset",
            NodeKind::Join => "join",
        }
    }
}

/// How a node touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reads only (`&`).
    Read,
    /// Writes only: the destination of a copy or a set.
    Write,
    /// Reads and writes (`&mut`).
    ReadWrite,
}

impl Mode {
    /// May the memory change?
    pub const fn writes(self) -> bool {
        !matches!(self, Mode::Read)
    }

    /// The word for messages. A `&mut` argument counts as a write.
    pub const fn verb(self) -> &'static str {
        if self.writes() { "writes" } else { "reads" }
    }
}

/// A piece of memory that nodes touch.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Where it lives.
    pub space: Space,
    /// Module-scope variables of kernels are resources that nobody declares.
    pub implicit: bool,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it does.
    pub kind: NodeKind,
    /// A mistake in this node was already reported, so what follows from its edges and accesses is not.
    pub broken: bool,
}

/// A node touches (part of) a resource.
#[derive(Clone, Debug)]
pub struct Access {
    /// The node.
    pub node: usize,
    /// The resource.
    pub resource: usize,
    /// Which part of it.
    pub region: Region,
    /// How.
    pub mode: Mode,
    /// The source line, where there is a source.
    pub line: Option<u32>,
}

/// `to after from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Runs first.
    pub from: usize,
    /// Runs afterwards.
    pub to: usize,
}

/// A graph under construction. Nodes and resources are named by their index, in order of declaration.
///
/// Accesses must be added node by node: all of one node before those of the next.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The graph's name.
    pub name: Cow<'static, str>,
    /// All resources.
    pub resources: Vec<Resource>,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// All accesses, grouped by node.
    pub accesses: Vec<Access>,
    /// All `after` edges, in any order.
    pub edges: Vec<Edge>,
}

impl Draft {
    /// An empty graph.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Declares a resource and returns its index.
    pub fn resource(&mut self, name: impl Into<Cow<'static, str>>, space: Space) -> usize {
        self.resources.push(Resource {
            name: name.into(),
            space,
            implicit: false,
        });
        self.resources.len() - 1
    }

    /// Declares a node and returns its index.
    pub fn node(&mut self, name: impl Into<Cow<'static, str>>, kind: NodeKind) -> usize {
        self.nodes.push(Node {
            name: name.into(),
            kind,
            broken: false,
        });
        self.nodes.len() - 1
    }

    /// Records that `node` touches `region` of `resource`, and returns the access's index.
    pub fn access(&mut self, node: usize, resource: usize, region: Region, mode: Mode) -> usize {
        self.accesses.push(Access {
            node,
            resource,
            region,
            mode,
            line: None,
        });
        self.accesses.len() - 1
    }

    /// Orders `to` after `from` and returns the edge's index.
    pub fn edge(&mut self, from: usize, to: usize) -> usize {
        self.edges.push(Edge { from, to });
        self.edges.len() - 1
    }

    /// The accesses of each node as index ranges into [`Draft::accesses`].
    pub(crate) fn access_ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut ranges = vec![0..0; self.nodes.len()];
        for (index, access) in self.accesses.iter().enumerate() {
            let range = &mut ranges[access.node];
            if range.start == range.end {
                range.start = index;
            } else {
                debug_assert_eq!(range.end, index, "accesses are grouped by node");
            }
            range.end = index + 1;
        }
        ranges
    }
}
