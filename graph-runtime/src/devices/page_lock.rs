//! Host memory of others, page-locked while it is lent.

use crate::devices::cuda::{Cuda, twice};
use crate::driver::{self, RelaxedCapture};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::in_flight::lock::Lock;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

/// The memory that is page-locked by [`PageLock`]s, of all contexts. No two ranges overlap.
static LOCKED: Lock<Vec<Locked>> = Lock::new(Vec::new());

struct Locked {
    addresses: Range<usize>,
    /// The number of `PageLock`s of a part of it.
    locks: usize,
    /// Whether it was page-locked here. If not, somebody else did it before.
    ours: bool,
}

/// Keeps host memory page-locked until it is dropped. Several may be of the same memory: the last one unlocks it.
pub(crate) struct PageLock {
    cuda: Arc<Cuda>,
    start: usize,
}

impl PageLock {
    /// Page-locks the `bytes` bytes (not 0) from `pointer` on, for all contexts. If not `write`, the device only reads
    /// them.
    ///
    /// # Safety
    ///
    /// The memory lives until the lock is dropped.
    pub(crate) unsafe fn new(cuda: &Arc<Cuda>, pointer: NonNull<u8>, bytes: usize, write: bool) -> Result<Self> {
        let start = pointer.addr().get();
        let addresses = start..start + bytes;
        let mut all = LOCKED.lock();
        let overlaps = |known: &&mut Locked| known.addresses.start < addresses.end && start < known.addresses.end;
        match all.iter_mut().find(overlaps) {
            Some(known) if known.addresses.start <= start && addresses.end <= known.addresses.end => known.locks += 1,
            Some(_) => {
                return Err(Error::InUse {
                    site: Site::lent(),
                    message: "overlaps other memory that is lent: lend the larger one first, or one for both",
                });
            }
            None => {
                // SAFETY: by the caller's promise.
                let ours = unsafe { register(cuda, pointer, bytes, write) }.at(Site::lent)?;
                all.push(Locked {
                    addresses,
                    locks: 1,
                    ours,
                });
            }
        }
        Ok(Self {
            cuda: cuda.clone(),
            start,
        })
    }
}

/// Page-locks memory. Returns false if somebody else has done it.
///
/// # Safety
///
/// The memory lives until it is unregistered.
unsafe fn register(cuda: &Cuda, pointer: NonNull<u8>, bytes: usize, write: bool) -> Result<bool, CudaError> {
    /// The codes by which drivers may refuse memory that this process cannot write, unless they are told so.
    const READ_ONLY: [u32; 4] = [1, 304, 800, 801];
    const ALREADY_REGISTERED: u32 = 712;
    let _relaxed = RelaxedCapture::enter();
    cuda.bind()?;
    // SAFETY: by the caller's promise; the context is current.
    let register = |read_only| unsafe { driver::allocation::host_register(pointer.as_ptr().cast(), bytes, read_only) };
    let registered = match register(false) {
        Err(error) if !write && READ_ONLY.contains(&error.code()) => register(true),
        registered => registered,
    };
    match registered {
        Err(error) if error.code() == ALREADY_REGISTERED => Ok(false),
        registered => registered.map(|()| true),
    }
}

impl Drop for PageLock {
    fn drop(&mut self) {
        let mut all = LOCKED.lock();
        let Some(index) = all.iter().position(|known| known.addresses.contains(&self.start)) else {
            return;
        };
        all[index].locks -= 1;
        if all[index].locks > 0 {
            return;
        }
        let Locked { addresses, ours, .. } = all.swap_remove(index);
        if !ours {
            return;
        }
        let _relaxed = RelaxedCapture::enter();
        let unregister = || {
            self.cuda.bind_drained()?;
            // SAFETY: the memory was registered with this address, and is unregistered only here. No launch uses it any
            // more, or whoever lent it would not drop this.
            unsafe { driver::allocation::host_unregister(addresses.start) }
        };
        // Twice, since the driver would take other memory that comes to this address for this one.
        if let Err(error) = twice(unregister) {
            tracing::warn!(target: "graph_runtime", %error, "lent host memory stays page-locked");
        }
    }
}
