//! Host functions of a built graph: where their memory is, and the panic that a wait has to report.

use crate::backend::blueprint::Blueprint;
use crate::backend::storage::Storage;
use crate::error::{Error, Result, Site};
use crate::program::Op;
use crate::program::host::HostCall;
use crate::shape::part::Part;
use graph_plan::Draft;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The host functions of a graph, by node.
pub(crate) struct Calls {
    bound: HashMap<usize, Arc<BoundCall>>,
    /// Functions that launches in flight may still call.
    retired: Vec<Arc<BoundCall>>,
    panic: Arc<Panic>,
}

/// A host function with the memory that it gets. CUDA is given its address, so it stays where it is.
pub(crate) struct BoundCall {
    call: Arc<HostCall>,
    memory: Vec<(NonNull<u8>, usize)>,
    node: usize,
    panic: Arc<Panic>,
}

// SAFETY: the pointers are only passed to `HostCall::run`, by whoever can promise what that asks for, on whatever
// thread; they are to host memory, which any thread may touch. The rest is `Send` and `Sync`.
unsafe impl Send for BoundCall {}
// SAFETY: as above.
unsafe impl Sync for BoundCall {}

/// The first panic since the last wait, and in which node.
#[derive(Default)]
struct Panic {
    /// So that waits need not lock.
    happened: AtomicBool,
    first: Mutex<Option<(usize, String)>>,
}

impl Calls {
    pub(crate) fn new(blueprint: &Blueprint<'_>, storage: &[Storage]) -> Self {
        let panic = Arc::<Panic>::default();
        let bind = |(node, op): (usize, &Op)| {
            let Op::Call(call) = op else { return None };
            let bound = BoundCall {
                call: call.clone(),
                memory: locate_all(storage, call),
                node,
                panic: panic.clone(),
            };
            Some((node, Arc::new(bound)))
        };
        Self {
            bound: blueprint.program.others().filter_map(bind).collect(),
            retired: Vec::new(),
            panic,
        }
    }

    /// Lets later launches call the function of a node with its memory where it is now. Those in flight keep what they
    /// have: the old one stays until [`Calls::forget_retired`].
    pub(crate) fn renew(&mut self, node: usize, storage: &[Storage]) {
        if let Some(bound) = self.bound.get_mut(&node) {
            let renewed = BoundCall {
                call: bound.call.clone(),
                memory: locate_all(storage, &bound.call),
                node,
                panic: bound.panic.clone(),
            };
            self.retired.push(std::mem::replace(bound, Arc::new(renewed)));
        }
    }

    /// The number of old ones.
    pub(crate) fn retired(&self) -> usize {
        self.retired.len()
    }

    /// Drops the old ones. No launch is in flight that was made before the last [`Calls::renew`].
    pub(crate) fn forget_retired(&mut self) {
        self.retired.clear();
    }

    /// The function of a node.
    pub(crate) fn get(&self, node: usize) -> Option<&Arc<BoundCall>> {
        self.bound.get(&node)
    }

    /// The first panic since this was last asked, as an error.
    pub(crate) fn panicked(&self, draft: &Draft) -> Result<()> {
        // A load is cheaper than a swap, and almost always enough.
        if !self.panic.happened.load(Ordering::Acquire) || !self.panic.happened.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let first = self.panic.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or(Ok(()), |(node, message)| {
            Err(Error::Panicked {
                site: Site::graph(&draft.name).at_node(&draft.nodes[node].name),
                message,
            })
        })
    }
}

fn locate_all(storage: &[Storage], call: &HostCall) -> Vec<(NonNull<u8>, usize)> {
    let declared = call.declared.iter();
    declared.filter_map(|(part, _)| locate(storage, *part)).collect()
}

/// The address of a part of host memory. The plan has refused other memory.
fn locate(storage: &[Storage], part: Part) -> Option<(NonNull<u8>, usize)> {
    let first = storage[part.resource as usize].host()?;
    // SAFETY: the part was issued by the builder of this graph as a part of this resource, whose size the memory has.
    Some((unsafe { first.add(part.start) }, part.bytes))
}

impl BoundCall {
    /// Calls the function, and keeps the panic if there is one.
    ///
    /// # Safety
    ///
    /// The memory of the graph lives, and while this runs nobody else writes what the node declares to read, or touches
    /// what it declares to write: the node is run by a launch, where the order of nodes ensures it.
    pub(crate) unsafe fn run(&self) {
        // SAFETY: by the caller's promise; `memory` was made of `declared`.
        let Err(message) = (unsafe { self.call.run(&self.memory) }) else {
            return;
        };
        let mut first = self.panic.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert((self.node, message));
        self.panic.happened.store(true, Ordering::Release);
    }
}
