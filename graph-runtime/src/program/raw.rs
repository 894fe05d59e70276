//! `raw` nodes, whose closures add nodes to the graph by calls of the driver.

use crate::driver::{CUgraph, CUgraphNode, CudaContext};
use crate::program::capture::BoxError;
use crate::program::pointer::{Addresses, Kept};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The argument of the closure of a `raw` node: the graph that is being built, and the node's memory. See
/// [`GraphBuilder::raw`](crate::GraphBuilder::raw).
pub struct RawNode<'n, K> {
    site: &'n RawSite<'n>,
    kept: &'n K,
}

impl<'n, K: Kept> RawNode<'n, K> {
    /// The memory that the node declared, in order: a tuple of [`Pointer`](crate::Pointer)s and
    /// [`PointerMut`](crate::PointerMut)s.
    pub fn memory(&self) -> K::Given<'n> {
        self.kept.give(self.site.addresses)
    }
}

impl<'n, K> RawNode<'n, K> {
    /// The graph to add nodes to. For a node of a body or a child graph, this is the body or the child.
    pub fn graph(&self) -> CUgraph {
        self.site.graph
    }

    /// The context of the graph's memory; it is current.
    pub fn context(&self) -> &'n Arc<CudaContext> {
        self.site.context
    }
}

impl<K> fmt::Debug for RawNode<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawNode({:?})", self.site.graph)
    }
}

/// The graph to which a closure adds its nodes, with the addresses of the memory.
pub(crate) struct RawSite<'n> {
    pub(crate) graph: CUgraph,
    pub(crate) context: &'n Arc<CudaContext>,
    pub(crate) addresses: &'n Addresses,
}

type Function = dyn for<'n> FnMut(&'n RawSite<'n>, &[CUgraphNode]) -> Result<CUgraphNode, BoxError> + Send;

/// The closure of a `raw` node, without the types of its arguments. The mutex makes it `Sync`; it is never contended,
/// since only `build` calls it.
pub(crate) struct RawCall(Mutex<Box<Function>>);

impl RawCall {
    pub(crate) fn new<K, F>(kept: K, mut function: F) -> Self
    where
        K: Kept,
        F: for<'n> FnMut(&RawNode<'n, K>, &[CUgraphNode]) -> Result<CUgraphNode, BoxError> + Send + 'static,
    {
        Self(Mutex::new(Box::new(move |site, after| {
            function(&RawNode { site, kept: &kept }, after)
        })))
    }

    /// Calls the closure, which adds its nodes after `after` and returns the last of them.
    pub(crate) fn add(&self, site: &RawSite<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, BoxError> {
        let mut function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function(site, after)
    }
}

impl fmt::Debug for RawCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawCall")
    }
}
