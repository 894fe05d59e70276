//! The host functions of a built graph: the addresses of their memory, and a panic that the next wait reports.

use crate::error::{Error, Result, Site};
use crate::in_flight::lock::Lock;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::storage::Storage;
use crate::program::host_call::HostCall;
use crate::program::{External, Op};
use crate::shape::part::Part;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The host functions of a graph, by node.
#[derive(Clone)]
pub(crate) struct HostCalls {
    bound: HashMap<usize, Arc<BoundCall>>,
    /// Functions that launches in flight may still call.
    retired: Vec<Arc<BoundCall>>,
    panic: Arc<Panic>,
}

/// A host function with the memory that it gets. CUDA is given the address of this struct, so it is never moved.
pub(crate) struct BoundCall {
    call: Arc<HostCall>,
    memory: Vec<(NonNull<u8>, usize)>,
    /// The node, which a panic is reported with.
    site: Site,
    panic: Arc<Panic>,
}

// SAFETY: the pointers are to host memory, which any thread may touch. They are only passed to `HostCall::run`, whose
// caller promises that nobody else touches that memory. The rest is `Send` and `Sync`.
unsafe impl Send for BoundCall {}
// SAFETY: as above.
unsafe impl Sync for BoundCall {}

/// The first panic since the last wait: the node, and the message.
#[derive(Default)]
pub(crate) struct Panic {
    /// Whether `first` is set. Waits read this instead of taking the lock.
    happened: AtomicBool,
    first: Lock<Option<(Site, String)>>,
}

impl HostCalls {
    pub(crate) fn new(blueprint: &Blueprint<'_>, storage: &[Storage]) -> Self {
        let panic = Arc::<Panic>::default();
        let bind = |(node, op): (usize, &Op)| {
            let External::Call(call) = op.external()? else {
                return None;
            };
            let site = Site::graph(&blueprint.draft.name).at_node(&blueprint.draft.nodes[node].name);
            Some((node, BoundCall::new(call, storage, site, &panic)))
        };
        Self {
            bound: blueprint.program.others().filter_map(bind).collect(),
            retired: Vec::new(),
            panic,
        }
    }

    /// Binds the function of a node to its memory where that is now, for later launches. Launches in flight keep the
    /// old addresses: the old [`BoundCall`] is retired, and stays until [`HostCalls::forget_retired`].
    pub(crate) fn renew(&mut self, node: usize, storage: &[Storage]) {
        if let Some(bound) = self.bound.get_mut(&node) {
            let renewed = BoundCall::new(&bound.call, storage, bound.site.clone(), &bound.panic);
            self.retired.push(std::mem::replace(bound, renewed));
        }
    }

    /// The number of retired functions.
    pub(crate) fn retired(&self) -> usize {
        self.retired.len()
    }

    /// Drops the retired functions. No launch from before the last [`HostCalls::renew`] is in flight any more.
    pub(crate) fn forget_retired(&mut self) {
        self.retired.clear();
    }

    /// The function of a node.
    pub(crate) fn get(&self, node: usize) -> Option<&Arc<BoundCall>> {
        self.bound.get(&node)
    }

    /// The first panic since the last wait.
    pub(crate) fn panic(&self) -> &Arc<Panic> {
        &self.panic
    }
}

impl Panic {
    /// Keeps a panic of a node for the next wait, if it is the first.
    pub(super) fn keep(&self, site: Site, message: String) {
        self.first.lock().get_or_insert((site, message));
        self.happened.store(true, Ordering::Release);
    }

    /// Returns the first panic since the last call of this, as an error.
    pub(crate) fn take(&self) -> Result<()> {
        // A load is cheaper than a swap, and almost always enough.
        if !self.happened.load(Ordering::Acquire) || !self.happened.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let first = self.first.lock().take();
        first.map_or(Ok(()), |(site, message)| Err(Error::Panicked { site, message }))
    }
}

/// The address and the length in bytes of a part of host memory. (The plan has refused other memory.)
fn locate(storage: &[Storage], part: Part) -> Option<(NonNull<u8>, usize)> {
    let first = storage[part.resource as usize].host()?;
    // SAFETY: the part was issued by the builder of this graph as a part of this resource, whose size the memory has.
    Some((unsafe { first.add(part.start) }, part.bytes))
}

impl BoundCall {
    /// The function with its memory where that is now.
    fn new(call: &Arc<HostCall>, storage: &[Storage], site: Site, panic: &Arc<Panic>) -> Arc<Self> {
        let declared = call.declared.iter();
        Arc::new(Self {
            call: call.clone(),
            memory: declared.filter_map(|(part, _)| locate(storage, *part)).collect(),
            site,
            panic: panic.clone(),
        })
    }

    /// Calls the function. If it panics, the panic is kept for the next wait.
    ///
    /// # Safety
    ///
    /// The memory of the graph lives. While this runs, nobody else writes the memory that the node declares to read, or
    /// touches the memory that it declares to write. (A launch runs the node, and the order of nodes ensures it.)
    pub(crate) unsafe fn run(&self) {
        // SAFETY: by the caller's promise; `memory` was made of `declared`.
        if let Err(message) = unsafe { self.call.run(&self.memory) } {
            self.panic.keep(self.site.clone(), message);
        }
    }
}
