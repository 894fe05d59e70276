//! The ids of nodes.

use crate::shape::builders::{Builders, Named};

/// A node of one graph, by its index in order of declaration. Each iteration of a `for` declares its own nodes.
///
/// The methods of [`GraphBuilder`](crate::GraphBuilder) that add nodes return it. Using it with another graph is an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The id of the builder that returned it, or [`ANY_GRAPH`].
    graph: u64,
    index: usize,
}

/// The graph of ids that were made of an index. No builder has this id.
const ANY_GRAPH: u64 = u64::MAX;

impl NodeId {
    /// The node with this index in order of declaration, from 0, in whatever graph the id is used with. If that graph
    /// has no such node, using the id is an error. The id is not equal to that which a builder returns.
    pub const fn new(index: usize) -> Self {
        Self::of(ANY_GRAPH, index)
    }

    /// The node with this index in the graph of a builder.
    pub(crate) const fn of(graph: u64, index: usize) -> Self {
        Self { graph, index }
    }

    /// The index of the node in order of declaration, from 0.
    pub const fn index(self) -> usize {
        self.index
    }

    /// Whether the id is of another graph than this one.
    pub(crate) const fn is_foreign_to(self, graph: u64) -> bool {
        self.graph != graph && self.graph != ANY_GRAPH
    }

    /// The words for it in messages of another graph, if its own one lives.
    #[cold]
    pub(crate) fn words(self) -> Option<String> {
        Named::words(self.graph, self.index)
    }

    /// Whether the id is of another graph than the one that these builders declared.
    #[inline]
    pub(crate) fn is_foreign_to_all(self, builders: &Builders) -> bool {
        self.graph != ANY_GRAPH && !builders.has(self.graph)
    }
}
