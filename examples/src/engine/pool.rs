//! The allocator of the engine: it takes device memory once, and hands out blocks of it, which graphs adopt.

use super::allocate::Allocate;
use cudarc::driver::{CudaContext, result};
use graph_runtime::handles::CUstream;
use graph_runtime::{BoxError, Device, DeviceBuffer, DeviceMemory};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Blocks begin at multiples of this.
const ALIGNMENT: usize = 256;

/// Device memory of the engine's, or on the emulator memory of the host. A clone is another handle to the same.
#[derive(Clone)]
pub struct Pool {
    device: Device,
    slab: Arc<Slab>,
}

/// All memory of a pool. It is freed when the last block is gone.
struct Slab {
    address: u64,
    bytes: usize,
    /// The context of the device memory; none for memory of the host.
    context: Option<Arc<CudaContext>>,
    /// The free ranges: the offset and the length of each. No two of them touch.
    free: Mutex<BTreeMap<usize, usize>>,
}

/// A part of a slab that nothing else has.
struct Block {
    slab: Arc<Slab>,
    start: usize,
    bytes: usize,
}

impl Pool {
    /// Takes `bytes` bytes, zeroed.
    ///
    /// # Errors
    /// If there are too few.
    pub fn new(device: &Device, bytes: usize) -> Result<Self, BoxError> {
        let bytes = bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        let address = match device.context() {
            None => {
                let words = Box::leak(vec![0_u128; bytes / size_of::<u128>()].into_boxed_slice());
                words.as_mut_ptr().expose_provenance() as u64
            }
            Some(context) => {
                context.bind_to_thread()?;
                // SAFETY: the context is current.
                let address = unsafe { result::malloc_sync(bytes) }?;
                // SAFETY: there are so many bytes, which nothing else knows.
                unsafe { result::memset_d8_sync(address, 0, bytes) }?;
                context.synchronize()?; // the host does not wait for it, nor do other streams
                address
            }
        };
        let slab = Slab {
            address,
            bytes,
            context: device.context().cloned(),
            free: Mutex::new(BTreeMap::from([(0, bytes)])),
        };
        Ok(Self {
            device: device.clone(),
            slab: Arc::new(slab),
        })
    }

    /// The bytes of all blocks that are not free.
    pub fn used(&self) -> usize {
        self.slab.bytes - self.slab.free().values().sum::<usize>()
    }
}

impl Allocate for Pool {
    /// The first free range that is large enough gives a block, which is free again when no buffer and no graph uses
    /// it, and all launches with it have ended.
    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer<[u8]>, BoxError> {
        let taken = bytes.next_multiple_of(ALIGNMENT);
        let mut free = self.slab.free();
        let found = free.iter().find(|(_, len)| **len >= taken);
        let (start, len) = found.map(|(start, len)| (*start, *len)).ok_or_else(|| {
            let most = free.values().max().unwrap_or(&0);
            format!("the pool has no {bytes} bytes in one piece: its largest has {most}")
        })?;
        free.remove(&start);
        if len > taken {
            free.insert(start + taken, len - taken);
        }
        drop(free);
        let slab = self.slab.clone();
        Ok(self.device.adopt(Block { slab, start, bytes })?)
    }
}

impl Slab {
    fn free(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the bytes of a block are initialised, since those of the slab are zeroed, and are there as long as the slab,
// which the block keeps. They are nobody's but the block's: a range is free or in one block. On the emulator, they came
// from a box, of which only the address is left. So nothing has to be ordered: the engine itself uses them only through
// the buffer that `adopt` has made.
unsafe impl DeviceMemory for Block {
    fn address(&self) -> u64 {
        self.slab.address + self.start as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn context(&self) -> *mut c_void {
        let context = self.slab.context.as_ref();
        context.map_or(ptr::null_mut(), |context| context.cu_ctx().cast())
    }

    fn before(&self, _: CUstream) {}

    fn after(&self, _: CUstream) {}
}

impl Drop for Block {
    /// Makes one range of the block and the free ones that touch it.
    fn drop(&mut self) {
        let mut free = self.slab.free();
        let (mut start, mut end) = (self.start, self.start + self.bytes.next_multiple_of(ALIGNMENT));
        if let Some((&before, &len)) = free.range(..start).next_back()
            && before + len == start
        {
            free.remove(&before);
            start = before;
        }
        if let Some(len) = free.remove(&end) {
            end += len;
        }
        free.insert(start, end - start);
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        match &self.context {
            None => {
                let words = ptr::with_exposed_provenance_mut::<u128>(self.address as usize);
                let words = ptr::slice_from_raw_parts_mut(words, self.bytes / size_of::<u128>());
                // SAFETY: `new` leaked a box of so many words, and no block is left.
                drop(unsafe { Box::from_raw(words) });
            }
            Some(context) => {
                if context.bind_to_thread().is_ok() {
                    // SAFETY: `new` allocated it, and no block is left. If it fails, the context has failed.
                    let _ = unsafe { result::free_sync(self.address) };
                }
            }
        }
    }
}
