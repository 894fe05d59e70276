//! Pools: scratch memory that several graphs share, which never run at the same time.

use crate::devices::Backend;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::growing_memory::GrowingMemory;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, Error, Result, Site};
use crate::in_flight::launches::Access;
use crate::in_flight::lock::Lock;
use crate::in_flight::refused::Refused;
use crate::in_flight::uses::{Claim, ClaimKind, Patience};
use crate::ownership::block::Block;
use crate::ownership::device_memory::KernelMemory;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The alignment in bytes of the parts of a pool, as `cuMemAlloc` aligns memory.
const ALIGNMENT: usize = 256;

/// The memory of a pool, in a [`Block`] whose uses are the launches of all its graphs.
///
/// # Safety
///
/// Several graphs may use the same memory because of these facts. `SAFETY` comments refer to them by number.
///
/// 1. *Launches follow each other.* Each launch of a graph that has a share of the pool claims all of the pool, to
///    write ([`PoolShare::claim`]). So launches of two of its graphs never run at the same time, whatever threads and
///    streams they are on (facts 1 to 3 of [`Uses`](crate::in_flight::uses::Uses)). Nothing else touches the memory: no
///    accessor lends scratch memory.
/// 2. *Memory outlives its use.* A graph has counted handles to all that it took, with its storage: they are dropped,
///    or leaked, with that. Of memory that grows, each part keeps its share, and so the pool; [`PoolMemory::trim`]
///    takes away only memory that no share reaches. Memory in chunks is counted itself.
/// 3. *Parts of one share are apart*, so within a graph they are as memory of its own.
/// 4. *Soundness does not depend on what a launch finds.* The memory holds plain data, of which any bits are a value,
///    and kernels and `unsafe` nodes are sound for any contents (U1 to U3 of `docs/safety.md`). `build` also refuses a
///    node that reads scratch memory before nodes of the same launch have written all of it, as far as `graph_plan`
///    knows the parts. A kernel counts as writing all that it takes as `&mut`. If it writes less, later nodes may read
///    data that another graph of the pool has left there: these results are wrong, but nothing is unsound.
pub(crate) struct PoolMemory {
    backend: Backend,
    /// The memory itself; `None` if nothing was taken yet. Locked while memory is added or taken away. Whoever has
    /// locked `shares` does not lock this.
    ground: Lock<Option<Ground>>,
    shares: Lock<Shares>,
}

/// The memory of a pool, of either kind.
enum Ground {
    /// One piece, whose first bytes all graphs use. It becomes larger in place.
    Growing(GrowingMemory),
    /// Several pieces, where memory cannot grow in place. A graph uses the smallest one that is large enough.
    Chunks(Vec<Arc<KernelMemory>>),
}

/// The sizes of the graphs' shares, and of the pool.
#[derive(Default)]
struct Shares {
    next: u64,
    /// By number, so from the oldest.
    list: BTreeMap<u64, ShareSize>,
    /// The bytes that the pool holds.
    held: usize,
}

struct ShareSize {
    label: String,
    bytes: usize,
}

impl PoolMemory {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            backend,
            ground: Lock::default(),
            shares: Lock::default(),
        }
    }

    /// The bytes that the pool holds; the name of each graph that is built on it, with the bytes that it needs, from
    /// the oldest.
    pub(crate) fn sizes(&self) -> (usize, Vec<(String, usize)>) {
        let shares = self.shares.lock();
        let sizes = shares.list.values().map(|share| (share.label.clone(), share.bytes));
        (shares.held, sizes.collect())
    }

    /// Frees memory that no graph needs.
    pub(crate) fn trim(&self) -> Result<()> {
        let site = || Site::default().at_memory("pool");
        self.refuse_in_host_function(site)?;
        let mut ground = self.ground.lock();
        let trimmed = match &mut *ground {
            None => Ok(()),
            Some(Ground::Growing(memory)) => {
                let needed = self.shares.lock().list.values().map(|share| share.bytes).max();
                // SAFETY: no share reaches further, and none grows meanwhile, since `ground` is locked. A share that is
                // gone has left with its graph, which has waited for its launches, or has leaked the share (fact 2).
                unsafe { memory.shrink(needed.unwrap_or(0)) }.at(site)
            }
            Some(Ground::Chunks(chunks)) => {
                chunks.retain(|chunk| Arc::strong_count(chunk) > 1);
                Ok(())
            }
        };
        self.shares.lock().held = ground.as_ref().map_or(0, Ground::bytes);
        trimmed
    }

    /// CUDA's calls are refused in host functions, and so is waiting for a thread that makes them.
    fn refuse_in_host_function(&self, site: impl Fn() -> Site) -> Result<()> {
        match &self.backend {
            Backend::Cuda(cuda) => cuda.bind().at(site),
            Backend::Emulator(device) => device.check(),
        }
    }
}

impl Ground {
    /// Memory that grows, if the device has such memory.
    fn new(backend: &Backend, site: impl Fn() -> Site) -> Result<Self> {
        Ok(match backend {
            Backend::Cuda(cuda) => match GrowingMemory::new(cuda).at(site)? {
                Some(memory) => Self::Growing(memory),
                None => Self::Chunks(Vec::new()),
            },
            Backend::Emulator(_) => Self::Chunks(Vec::new()),
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Growing(memory) => memory.bytes(),
            Self::Chunks(chunks) => chunks.iter().map(|chunk| chunk.bytes()).sum(),
        }
    }
}

/// The share that one graph has of a pool.
pub(crate) struct PoolShare {
    pool: Arc<Block<PoolMemory>>,
    id: u64,
    /// The chunks that the graph uses, if there are chunks.
    chunks: Lock<Vec<Arc<KernelMemory>>>,
}

impl PoolShare {
    /// An empty share for a graph on `backend`, which reports call `label`.
    pub(crate) fn new(
        pool: &Arc<Block<PoolMemory>>,
        graph: Site,
        label: String,
        backend: &Backend,
    ) -> Result<Arc<Self>> {
        if !pool.backend.has_memory_of(backend) {
            let site = graph.at_memory("pool");
            return Err(Error::ForeignMemory { site });
        }
        let mut shares = pool.shares.lock();
        let id = shares.next;
        shares.next += 1;
        shares.list.insert(id, ShareSize { label, bytes: 0 });
        drop(shares);
        Ok(Arc::new(Self {
            pool: pool.clone(),
            id,
            chunks: Lock::default(),
        }))
    }

    /// The bytes that the graph has taken.
    pub(crate) fn bytes(&self) -> usize {
        let shares = self.pool.shares.lock();
        shares.list.get(&self.id).map_or(0, |share| share.bytes)
    }

    /// Takes `bytes` bytes, or 1 instead of 0, which no other part of this share overlaps. They were zeroed before any
    /// graph used them.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize, site: impl Fn() -> Site) -> Result<Arc<KernelMemory>> {
        let pool = &self.pool;
        pool.refuse_in_host_function(&site)?;
        let mut ground = pool.ground.lock();
        let start = self.bytes();
        let end = bytes
            .max(1)
            .checked_next_multiple_of(ALIGNMENT)
            .and_then(|bytes| start.checked_add(bytes));
        let end = end.ok_or_else(|| Error::OutOfMemory { site: site(), bytes })?;
        let ground = match ground.take() {
            Some(known) => ground.insert(known),
            None => ground.insert(Ground::new(&pool.backend, &site)?),
        };
        let taken = match ground {
            Ground::Growing(memory) => {
                memory.grow(end).at(&site)?;
                Arc::new(self.part(memory, start, end))
            }
            Ground::Chunks(chunks) => self.chunk(chunks, end - start, &site)?,
        };
        let mut shares = pool.shares.lock();
        shares.held = ground.bytes();
        if let Some(own) = shares.list.get_mut(&self.id) {
            own.bytes = end;
        }
        Ok(taken)
    }

    /// The bytes from `start` to `end` of memory that reaches so far. `ground` is locked.
    fn part(self: &Arc<Self>, memory: &GrowingMemory, start: usize, end: usize) -> KernelMemory {
        let address = memory.address() + start as u64;
        // SAFETY: `memory` has these bytes and belongs to the pool, which the share keeps; the caller notes that the
        // share reaches to `end`, so they are not taken away before it is dropped (fact 2 of `PoolMemory`).
        KernelMemory::Cuda(unsafe { CudaMemory::within(memory.cuda(), address, end - start, Box::new(self.clone())) })
    }

    /// The smallest chunk of at least `bytes` bytes that this graph does not use yet, or a new one.
    fn chunk(
        &self,
        chunks: &mut Vec<Arc<KernelMemory>>,
        bytes: usize,
        site: impl Fn() -> Site,
    ) -> Result<Arc<KernelMemory>> {
        let mut used = self.chunks.lock();
        let is_free = |chunk: &&Arc<KernelMemory>| !used.iter().any(|used| Arc::ptr_eq(used, chunk));
        let fitting = chunks.iter().filter(|chunk| chunk.bytes() >= bytes).filter(is_free);
        let chunk = match fitting.min_by_key(|chunk| chunk.bytes()) {
            Some(chunk) => chunk.clone(),
            None => {
                let chunk = KernelMemory::zeroed(&self.pool.backend, "scratch of a pool", bytes, site)?;
                let chunk = Arc::new(chunk);
                chunks.push(chunk.clone());
                chunk
            }
        };
        used.push(chunk.clone());
        Ok(chunk)
    }

    /// Claims the pool for a launch. One byte stands for all: launches claim all or nothing.
    pub(crate) fn claim(&self, patience: Patience) -> Result<Claim<'_, LaunchEvent>, Refused> {
        self.pool
            .uses()
            .claim(Access::new(0, 1, true), ClaimKind::Call, patience)
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.pool.shares.lock().list.remove(&self.id);
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::Device;
    use crate::in_flight::uses::Terms;

    /// Memory in chunks: a share takes no chunk twice, and another one takes it again.
    #[test]
    fn parts_of_one_share_are_apart() -> Result<()> {
        let backend = Device::emulator().backend.clone();
        let pool = Arc::new(Block::new(PoolMemory::new(backend.clone()), Terms::Owned));
        let take = |share: &Arc<PoolShare>| Ok::<_, Error>(share.take(256, Site::default)?.address());
        let first = PoolShare::new(&pool, Site::default(), "first".to_owned(), &backend)?;
        let parts = [take(&first)?, take(&first)?];
        assert_ne!(parts[0], parts[1]);
        let second = PoolShare::new(&pool, Site::default(), "second".to_owned(), &backend)?;
        let mut again = [take(&second)?, take(&second)?];
        again.sort_unstable();
        assert!(parts == again || [parts[1], parts[0]] == again, "{parts:?}, {again:?}");
        Ok(())
    }
}
