//! The reasons why memory cannot be used now, as errors: memory in use, and loans that have ended.

use crate::error::{CudaError, Error, Site};

/// The reason why memory cannot be used now.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is lent to a scope, to be read only.
    ReadOnly,
    /// It is lent to a scope, and no guard lends it on.
    Borrowed,
    /// It was lent to a scope that has ended.
    Returned,
    /// A guard is alive.
    Lent,
    /// The call would wait for its own caller: a host function of a running graph uses the graph's memory.
    Nested,
    /// The call comes from a launch, and would wait for another thread, which may be waiting for that launch.
    Busy,
    /// Waiting for launches failed.
    Cuda(CudaError),
}

impl Refused {
    /// Makes an error about the memory `site` of it.
    #[cold]
    pub(crate) fn at(self, site: Site) -> Error {
        let message = match self {
            Refused::Returned => return Error::LoanEnded { site },
            Refused::ReadOnly => {
                return Error::Unsupported {
                    site,
                    message: "is lent to be read only: lend it as `&mut` if a graph writes it",
                };
            }
            Refused::Borrowed => {
                "is lent to a scope, and is lent on to graphs only: look at it when the scope has ended"
            }
            Refused::Lent => "is lent by a guard that is alive: drop the guard first",
            Refused::Nested => "is in use by the launch that this is called from",
            Refused::Busy => {
                "is in use by another thread, for which code that a launch calls does not wait: that thread may be waiting \
                 for the launch"
            }
            Refused::Cuda(source) => return Error::Cuda { site, source },
        };
        Error::InUse { site, message }
    }
}
