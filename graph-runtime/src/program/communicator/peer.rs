//! The failure of another rank, before the graph and the node are known that it is about.

use crate::error::{Error, Site};
use std::time::Duration;

/// The reason why a rank cannot go on with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The rank, of the communicator, that has failed, has left, is late or does something else.
    pub(crate) rank: usize,
    pub(crate) message: String,
}

impl Peer {
    pub(crate) fn new(rank: usize, message: impl Into<String>) -> Self {
        Self {
            rank,
            message: message.into(),
        }
    }

    /// The failure that ranks do not come to a place in time. There is one at least.
    pub(crate) fn late(missing: &[usize], what: &str, timeout: Duration) -> Self {
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let (ranks, have) = match missing.len() {
            1 => ("rank", "has"),
            _ => ("ranks", "have"),
        };
        let message = format!(
            "{ranks} {} {have} not come to {what} within {timeout:?}",
            names.join(", ")
        );
        Self::new(missing.first().copied().unwrap_or(0), message)
    }

    /// The failure that a rank does not come to a place.
    pub(crate) fn absent(rank: usize, what: &str, reason: &str) -> Self {
        Self::new(rank, format!("rank {rank} does not come to {what}: {reason}"))
    }

    /// The error at a graph and a node.
    pub(crate) fn at(self, site: Site) -> Error {
        Error::Peer {
            site,
            rank: self.rank,
            message: self.message,
        }
    }
}

/// A node as the place of a meeting, in words.
pub(super) fn place(graph: &str, node: &str) -> String {
    format!("node `{node}` of graph `{graph}`")
}
