//! The failure of another rank, before the graph and the node are known that it is about.

use crate::error::{Error, Site};

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
