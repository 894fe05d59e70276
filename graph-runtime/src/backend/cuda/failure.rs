//! The failure of a node that could not be added.

use crate::error::{CudaError, Error, Site};
use graph_plan::Draft;

/// A node, and the reason why it could not be added.
pub(super) struct Failure {
    node: usize,
    cause: Cause,
}

enum Cause {
    Cuda(CudaError),
    /// The message of a closure.
    Closure(String),
}

impl From<(usize, CudaError)> for Failure {
    fn from((node, error): (usize, CudaError)) -> Self {
        Self {
            node,
            cause: Cause::Cuda(error),
        }
    }
}

impl Failure {
    pub(super) fn closure(node: usize, message: String) -> Self {
        Self {
            node,
            cause: Cause::Closure(message),
        }
    }

    pub(super) fn error(self, draft: &Draft) -> Error {
        let site = Site::graph(&draft.name).at_node(&draft.nodes[self.node].name);
        match self.cause {
            Cause::Cuda(source) => Error::Cuda { site, source },
            Cause::Closure(message) => Error::Node { site, message },
        }
    }
}
