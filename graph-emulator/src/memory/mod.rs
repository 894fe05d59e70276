//! Emulated device memory: allocations at virtual addresses, and copies in and out of them. [`view`] decides which
//! memory a launch may access.

pub(crate) mod heap;
pub(crate) mod view;
pub(crate) mod texture;
mod allocation;
pub(crate) mod footprint;
pub(crate) mod storage;
pub(crate) mod bitmap;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use allocation::Allocation;
use storage::{Storage, zeroed_words};

/// The lowest address of an allocation. Lower addresses are null, functions, or windows of the generic address space.
const FIRST_ADDRESS: u64 = 0x7000_0000_0000 >> 4;
/// The gap after every allocation, so that no memory follows its end.
const GUARD: u64 = 1 << 20;
/// The alignment of allocations, as `cuMemAlloc` aligns them.
const ALIGNMENT: u64 = 256;
/// The most freed allocations whose names are remembered.
const MAX_FREED: usize = 4096;

/// The emulated device memory.
///
/// Allocations get virtual addresses that are never reused, with gaps between them. So an access past an end, or after
/// the memory was freed, never reaches another allocation. A clone is another handle to the same memory.
///
/// # Soundness
///
/// Blocks of a kernel run on several host threads and may race on global memory, as they may on a GPU. Here this is not
/// undefined behaviour, because:
///
/// 1. The bytes of an allocation are one `[AtomicU32]`, and nothing ever makes another reference to them.
/// 2. Every access, by kernels and by the host, is a relaxed or stronger atomic operation on whole words of that slice.
///    All have one size, so there are no racing accesses of mixed sizes either. Narrower stores are compare-and-swap
///    loops on their word. Wider accesses are several words; a lock makes them indivisible if PTX says that they are
///    (`atom`, and 64-bit accesses that are `volatile`, `relaxed` or stronger).
/// 3. The slice lives in an `Arc` that the allocation and every launch using it share, so freeing an allocation during
///    a launch cannot invalidate memory that the launch reads.
/// 4. Memory of the host that was [adopted](Memory::adopt), or [mapped](Memory::map), is not owned by a slice; whoever
///    does that promises 1 and 3.
/// 5. Shared, local and parameter memory belong to one block, which runs on one host thread: they are plain `Vec`s.
#[derive(Clone)]
pub struct Memory {
    space: Arc<Mutex<AddressSpace>>,
}

/// The allocations, by address.
struct AddressSpace {
    next: u64,
    entries: BTreeMap<u64, Entry>,
    freed: VecDeque<u64>,
}

struct Entry {
    name: String,
    len: usize,
    /// `None` if it was freed.
    storage: Option<Arc<Storage>>,
}

/// The allocation that was found for an address.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) len: usize,
    /// `None` if the allocation was freed.
    pub(crate) storage: Option<Arc<Storage>>,
}

/// The reason that an allocation or a copy was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The host does not have that much memory.
    OutOfMemory {
        /// The bytes that were asked for.
        len: usize,
    },
    /// A copy does not fit into the allocation.
    OutOfBounds {
        /// The allocation.
        name: String,
        /// The first byte of the copy.
        offset: usize,
        /// The number of bytes to copy.
        len: usize,
        /// The size of the allocation in bytes.
        size: usize,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::OutOfMemory { len } => write!(f, "the host has no memory for an allocation of {len} bytes"),
            MemoryError::OutOfBounds {
                name,
                offset,
                len,
                size,
            } => {
                write!(
                    f,
                    "{len} bytes at offset {offset} do not fit into `{name}`, which has {size} bytes"
                )
            }
        }
    }
}

impl std::error::Error for MemoryError {}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = self
            .lock()
            .entries
            .values()
            .filter(|entry| entry.storage.is_some())
            .count();
        f.debug_struct("Memory").field("allocations", &live).finish()
    }
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        let space = AddressSpace {
            next: FIRST_ADDRESS,
            entries: BTreeMap::new(),
            freed: VecDeque::new(),
        };
        Memory {
            space: Arc::new(Mutex::new(space)),
        }
    }

    /// Whether two handles are to the same memory.
    pub fn is(&self, other: &Memory) -> bool {
        Arc::ptr_eq(&self.space, &other.space)
    }

    /// Allocates `len` zeroed bytes, aligned to 256. The name appears in fault messages.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] if the host, or the address space, does not have that much memory left.
    pub fn allocate(&self, name: &str, len: usize) -> Result<Allocation, MemoryError> {
        let words = zeroed_words(len).ok_or(MemoryError::OutOfMemory { len })?;
        self.place(name, len, |address| Storage::new(address, words))
    }

    /// Gives a second name and addresses to `len` bytes of `whole`, from `offset` on, which must be a multiple of 4. A
    /// write to one allocation changes the other too.
    ///
    /// Each remembers for itself which bytes were written since its contents were
    /// [forgotten](Allocation::forget_contents).
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if `whole` ends before the bytes do, or `offset` is not a multiple of 4.
    pub fn allocate_within(
        &self,
        name: &str,
        whole: &Allocation,
        offset: usize,
        len: usize,
    ) -> Result<Allocation, MemoryError> {
        whole.check(offset, len)?;
        if !offset.is_multiple_of(4) {
            return Err(whole.out_of_bounds(offset, len));
        }
        let words = offset / 4..(offset + len).div_ceil(4);
        self.place(name, len, |address| {
            whole.storage().part(address, words.start, words.end)
        })
    }

    /// Makes words of the host's memory an allocation, at the address that they have for the host.
    ///
    /// # Safety
    ///
    /// `first` is aligned to 4. The `len` bytes from there on, up to the end of the last word, can be read and written
    /// as long as the allocation, or a launch that it was passed to, lives. Whatever else accesses them meanwhile does
    /// so atomically, or not in a way that Rust knows of.
    pub unsafe fn adopt(&self, name: &str, first: NonNull<u8>, len: usize) -> Allocation {
        // SAFETY: by the caller's promise.
        let storage = unsafe { Storage::of_host(first, len) };
        self.put(&mut self.lock(), name, len, storage)
    }

    /// Makes words of the host's memory an allocation at addresses that [`Memory::allocate`] could give, with a gap
    /// after its end. The first one is aligned as the words are for the host, up to 256.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] if the address space has not that much left.
    ///
    /// # Safety
    ///
    /// As for [`Memory::adopt`].
    pub unsafe fn map(&self, name: &str, first: NonNull<u8>, len: usize) -> Result<Allocation, MemoryError> {
        // SAFETY: by the caller's promise.
        let storage = unsafe { Storage::of_host(first, len) };
        let skew = storage.address() % ALIGNMENT;
        let mut space = self.lock();
        let taken = len.checked_add(skew as usize).ok_or(MemoryError::OutOfMemory { len });
        let address = space.take(taken?)? + skew;
        Ok(self.put(&mut space, name, len, storage.moved(address)))
    }

    /// Gives an allocation of `len` bytes the next free address.
    fn place(&self, name: &str, len: usize, storage: impl FnOnce(u64) -> Storage) -> Result<Allocation, MemoryError> {
        let mut space = self.lock();
        let address = space.take(len)?;
        Ok(self.put(&mut space, name, len, storage(address)))
    }

    /// Notes an allocation. What was freed at its addresses is forgotten.
    fn put(&self, space: &mut AddressSpace, name: &str, len: usize, storage: Storage) -> Allocation {
        let storage = Arc::new(storage);
        let address = storage.address();
        let here = space.entries.range(address..address.saturating_add(len as u64));
        let freed = here.filter(|(_, entry)| entry.storage.is_none()).map(|(&at, _)| at);
        let freed: Vec<u64> = freed.collect();
        freed.iter().for_each(|at| _ = space.entries.remove(at));
        let entry = Entry {
            name: name.to_owned(),
            len,
            storage: Some(storage.clone()),
        };
        space.entries.insert(address, entry);
        Allocation {
            memory: self.clone(),
            name: name.into(),
            storage,
            len,
        }
    }

    /// The allocation, live or freed, that begins at or before `address` and is nearest to it.
    pub(crate) fn find_before(&self, address: u64) -> Option<Found> {
        let space = self.lock();
        space
            .entries
            .range(..=address)
            .next_back()
            .map(|(&start, entry)| entry.found(start))
    }

    /// A panic elsewhere cannot leave the map half-changed: every change is a single insertion, removal or assignment.
    fn lock(&self) -> MutexGuard<'_, AddressSpace> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn found(&self, address: u64) -> Found {
        Found {
            name: self.name.clone(),
            address,
            len: self.len,
            storage: self.storage.clone(),
        }
    }
}

impl AddressSpace {
    /// The next `len` free addresses.
    fn take(&mut self, len: usize) -> Result<u64, MemoryError> {
        let address = self.next;
        let next = address
            .checked_add(len as u64)
            .and_then(|end| end.checked_add(GUARD + ALIGNMENT));
        self.next = next.ok_or(MemoryError::OutOfMemory { len })? / ALIGNMENT * ALIGNMENT;
        Ok(address)
    }

    /// Marks an allocation as freed, unless another one has its address by now, and forgets the oldest freed ones.
    fn free(&mut self, storage: &Arc<Storage>) {
        let address = storage.address();
        if let Some(entry) = self.entries.get_mut(&address)
            && entry.storage.as_ref().is_some_and(|live| Arc::ptr_eq(live, storage))
        {
            entry.storage = None;
        }
        self.freed.push_back(address);
        while self.freed.len() > MAX_FREED {
            // Addresses of the host may be in use again.
            if let Some(oldest) = self.freed.pop_front()
                && self.entries.get(&oldest).is_some_and(|entry| entry.storage.is_none())
            {
                self.entries.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_any_offset_survive() {
        let memory = Memory::new();
        let allocation = memory.allocate("a", 37).unwrap();
        let bytes: Vec<u8> = (1..=37).collect();
        for start in 0..9 {
            for end in start..37 {
                allocation.fill(0, &[0xaa], 37).unwrap();
                allocation.write(start, &bytes[start..end]).unwrap();
                let mut all = [0; 37];
                allocation.read(0, &mut all).unwrap();
                assert!(all[..start].iter().all(|&byte| byte == 0xaa));
                assert_eq!(all[start..end], bytes[start..end]);
                assert!(all[end..].iter().all(|&byte| byte == 0xaa));
                let mut part = vec![0; end - start];
                allocation.read(start, &mut part).unwrap();
                assert_eq!(part, bytes[start..end]);
            }
        }
    }

    #[test]
    fn overlapping_copies_move() {
        let memory = Memory::new();
        let allocation = memory.allocate("a", 20_000).unwrap();
        let bytes: Vec<u8> = (0..20_000).map(|index| (index % 251) as u8).collect();
        for (to, from) in [(0, 1000), (1000, 0), (3, 5000)] {
            allocation.write(0, &bytes).unwrap();
            allocation.copy_from(to, &allocation, from, 15_000).unwrap();
            let mut moved = vec![0; 15_000];
            allocation.read(to, &mut moved).unwrap();
            assert!(moved == bytes[from..from + 15_000]);
        }
    }

    #[test]
    fn memory_of_the_host_has_its_own_address_and_is_free_when_its_last_owner_says_so() {
        let memory = Memory::new();
        let mut words = [1_u32, 2, 3];
        let first = NonNull::from(&mut words).cast::<u8>();
        // SAFETY: `words` is aligned, and outlives both allocations; it is accessed through `first` alone until then.
        let one = unsafe { memory.adopt("one", first, 12) };
        assert_eq!(one.address(), first.as_ptr().expose_provenance() as u64);
        one.write(4, &7_u32.to_le_bytes()).unwrap();
        // SAFETY: as above.
        let two = unsafe { memory.adopt("two", first, 12) };
        drop(one);
        let found = memory.find_before(two.address() + 4).unwrap();
        assert!(
            found.name == "two" && found.storage.is_some(),
            "another one has the address by now"
        );
        drop((found, two));
        assert!(
            memory
                .find_before(first.as_ptr().expose_provenance() as u64)
                .unwrap()
                .storage
                .is_none()
        );
        assert_eq!(words, [1, 7, 3]);
    }

    #[test]
    fn mapped_memory_of_the_host_has_addresses_with_gaps_between_them() {
        let memory = Memory::new();
        let mut words = [1_u32, 2, 3, 4];
        let first = NonNull::from(&mut words).cast::<u8>();
        let mut host = first.as_ptr().expose_provenance() as u64;
        let before = memory.allocate("before", 4).unwrap();
        for offset in [0, 4] {
            // SAFETY: 8 bytes from there on are in `words`.
            let from = unsafe { first.add(offset) };
            // SAFETY: `words` is aligned, and outlives the allocation; it is accessed through `first` alone until then.
            let mapped = unsafe { memory.map("words", from, 8) }.unwrap();
            assert!(mapped.address() >= before.address() + GUARD && mapped.address() != host);
            assert_eq!((mapped.address() % ALIGNMENT, mapped.home()), (host % ALIGNMENT, host));
            assert!(mapped.write(0, &[0; 9]).is_err());
            mapped.write(4, &7_u32.to_le_bytes()).unwrap();
            let next = memory.allocate("next", 4).unwrap();
            assert!(next.address() >= mapped.address() + 8 + GUARD);
            host += 4;
        }
        assert_eq!(words, [1, 7, 7, 4]);
    }

    #[test]
    fn copies_that_do_not_fit_are_refused() {
        let memory = Memory::new();
        let allocation = memory.allocate("a", 8).unwrap();
        assert!(allocation.write(7, &[0; 2]).is_err());
        assert!(allocation.read(usize::MAX, &mut [0; 2]).is_err());
        assert!(allocation.fill(0, &[0; 4], usize::MAX).is_err());
        let expected = "8 bytes at offset 4 do not fit into `a`, which has 8 bytes";
        assert_eq!(allocation.write(4, &[0; 8]).unwrap_err().to_string(), expected);
        assert!(matches!(
            memory.allocate("huge", usize::MAX / 2),
            Err(MemoryError::OutOfMemory { .. })
        ));
    }
}
