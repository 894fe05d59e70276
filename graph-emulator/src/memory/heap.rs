//! The heap of `malloc` and `free` in kernels.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::memory::{Allocation, Memory, MemoryError};

/// The size in bytes, which is CUDA's default.
const SIZE: u64 = 8 << 20;
/// The alignment of blocks in bytes.
const ALIGNMENT: u64 = 16;

/// The device heap of a module. A block lives until it is freed or the module is dropped.
pub(crate) struct Heap {
    allocation: Allocation,
    blocks: Mutex<Blocks>,
}

/// The lengths of free and of used blocks, by offset.
struct Blocks {
    free: BTreeMap<u64, u64>,
    used: BTreeMap<u64, u64>,
}

impl Heap {
    pub(crate) fn new(memory: &Memory) -> Result<Heap, MemoryError> {
        Ok(Heap {
            allocation: memory.allocate("device heap", SIZE as usize)?,
            blocks: Mutex::new(Blocks {
                free: BTreeMap::from([(0, SIZE)]),
                used: BTreeMap::new(),
            }),
        })
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// All its addresses.
    pub(crate) fn addresses(&self) -> Range<u64> {
        self.allocation.address()..self.allocation.address() + SIZE
    }

    /// Allocates `len` bytes and returns their address, or null if no free block is large enough.
    pub(crate) fn allocate(&self, len: u64) -> u64 {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(needed) = len.max(1).checked_next_multiple_of(ALIGNMENT) else {
            return 0;
        };
        let Some((start, found)) = blocks
            .free
            .iter()
            .map(|(&start, &len)| (start, len))
            .find(|&(_, len)| len >= needed)
        else {
            return 0;
        };
        blocks.free.remove(&start);
        if found > needed {
            blocks.free.insert(start + needed, found - needed);
        }
        blocks.used.insert(start, needed);
        self.allocation.address() + start
    }

    /// Frees a block, and returns false if there is none at the address. Freeing null does nothing.
    pub(crate) fn free(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = address.wrapping_sub(self.allocation.address());
        let Some(mut len) = blocks.used.remove(&start) else {
            return false;
        };
        if let Some(after) = blocks.free.remove(&(start + len)) {
            len += after;
        }
        if let Some((&before, &size)) = blocks.free.range(..start).next_back()
            && before + size == start
        {
            (start, len) = (before, len + size);
        }
        blocks.free.insert(start, len);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_join() {
        let heap = Heap::new(&Memory::new()).unwrap();
        let half = SIZE / 2;
        let (a, b) = (heap.allocate(half), heap.allocate(half - 15));
        assert!(a != 0 && b == a + half && heap.allocate(0) == 0);
        assert!(heap.free(a) && heap.free(b) && !heap.free(a) && heap.free(0));
        assert_eq!(heap.allocate(SIZE), a);
        assert_eq!(heap.allocate(u64::MAX), 0);
    }
}
