//! The bytes of one allocation: words that are only accessed atomically. [`Memory`](crate::Memory) says why that is
//! sound.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::memory::MemoryError;
use crate::memory::bitmap::Bitmap;

/// The bytes of one allocation: words of its own, or a part of those of another.
pub(crate) struct Storage {
    /// All or part of `owner`'s words. It is a pointer, so that accesses need not go through `owner`.
    words: NonNull<[AtomicU32]>,
    owner: Arc<Box<[AtomicU32]>>,
    address: u64,
    /// The address of the first word in the allocation that owns it.
    home: u64,
    /// The bytes that were written since the contents were forgotten; unset if they never were.
    initialized: OnceLock<Bitmap>,
}

// SAFETY: `words` is used as a shared reference to a part of `owner`'s words, which any thread may have.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// An allocation of these words at an address.
    pub(crate) fn new(address: u64, words: Box<[AtomicU32]>) -> Storage {
        // Moving a box asserts that it alone has its contents, so the pointer is made after the last move.
        let owner = Arc::new(words);
        Storage {
            words: NonNull::from(&**owner),
            owner,
            address,
            home: address,
            initialized: OnceLock::new(),
        }
    }

    /// The words of `len` bytes of the host's memory, at their own address.
    ///
    /// # Safety
    ///
    /// See [`Memory::adopt`](crate::Memory::adopt).
    pub(crate) unsafe fn of_host(first: NonNull<u8>, len: usize) -> Storage {
        let address = first.as_ptr().expose_provenance() as u64;
        Storage {
            words: NonNull::slice_from_raw_parts(first.cast(), len.div_ceil(4)),
            owner: Arc::default(),
            address,
            home: address,
            initialized: OnceLock::new(),
        }
    }

    /// The same words at another address.
    pub(crate) fn moved(self, address: u64) -> Storage {
        Storage { address, ..self }
    }

    /// The words `start..end` of this allocation, at an address of their own.
    pub(crate) fn part(&self, address: u64, start: usize, end: usize) -> Storage {
        Storage {
            words: NonNull::from(&self.words()[start..end]),
            owner: self.owner.clone(),
            address,
            home: self.home + 4 * start as u64,
            initialized: OnceLock::new(),
        }
    }

    /// The address of the same byte in the allocation that owns it, which is equal for all that share the byte.
    pub(crate) fn home(&self, address: u64) -> u64 {
        address - self.address + self.home
    }

    /// The bytes that were written since the contents were forgotten.
    #[inline(always)]
    pub(crate) fn initialized(&self) -> Option<&Bitmap> {
        self.initialized.get()
    }

    /// Marks all bytes as not written. Fails if the host has no memory to note that; it never does again once it has.
    pub(crate) fn forget(&self) -> Result<(), MemoryError> {
        let len = self.words().len() * 4;
        if self.initialized.get().is_none() {
            let bitmap = Bitmap::new(len).ok_or(MemoryError::OutOfMemory { len: len.div_ceil(8) })?;
            // If another thread was faster, its bitmap counts.
            let _ = self.initialized.set(bitmap);
        }
        self.initialized().into_iter().for_each(Bitmap::clear);
        Ok(())
    }

    /// The words; the last one may be longer than the allocation.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU32] {
        // SAFETY: `new` and `part` make the pointer from a slice of the box in `owner`. That box is never changed,
        // moved or replaced, and lives as long as `self`. `of_host` makes it of words that live as long, by its
        // caller's promise.
        unsafe { self.words.as_ref() }
    }

    /// The address of the first word.
    #[inline(always)]
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Reads 1, 2, 4 or 8 aligned bytes; the caller has checked bounds and alignment.
    #[inline(always)]
    pub(crate) fn load(&self, address: u64, bytes: u8) -> u64 {
        let offset = address - self.address;
        let index = (offset / 4) as usize;
        let word = u64::from(self.words()[index].load(Relaxed));
        match bytes {
            8 => word | u64::from(self.words()[index + 1].load(Relaxed)) << 32,
            4 => word,
            2 => word >> (offset % 4 * 8) & 0xffff,
            _ => word >> (offset % 4 * 8) & 0xff,
        }
    }

    /// Writes 1, 2, 4 or 8 aligned bytes; the caller has checked bounds and alignment.
    #[inline(always)]
    pub(crate) fn store(&self, address: u64, bytes: u8, value: u64) {
        let offset = address - self.address;
        let index = (offset / 4) as usize;
        match bytes {
            8 => {
                self.words()[index].store(value as u32, Relaxed);
                self.words()[index + 1].store((value >> 32) as u32, Relaxed);
            }
            4 => self.words()[index].store(value as u32, Relaxed),
            _ => {
                let shift = (offset % 4 * 8) as u32;
                let mask = if bytes == 2 { 0xffff } else { 0xff };
                store_bits(&self.words()[index], (value as u32 & mask) << shift, mask << shift);
            }
        }
    }

    /// The word at an aligned address within the bounds.
    #[inline(always)]
    pub(crate) fn word(&self, address: u64) -> &AtomicU32 {
        &self.words()[((address - self.address) / 4) as usize]
    }

    /// Locks 64 bits at an address, so that accesses to them exclude each other.
    pub(crate) fn lock_pair(address: u64) -> MutexGuard<'static, ()> {
        static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
        LOCKS[(address / 8 % 64) as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks all accesses to 128 bits, so that they exclude each other. A pair may be locked meanwhile.
    pub(crate) fn lock_whole() -> MutexGuard<'static, ()> {
        static LOCK: Mutex<()> = Mutex::new(());
        LOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes in; the caller has checked the bounds.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        if let Some(initialized) = self.initialized() {
            initialized.set(offset, bytes.len());
        }
        let head = bytes.len().min(offset.wrapping_neg() % 4);
        let (head, rest) = bytes.split_at(head);
        self.write_partial(offset, head);
        let start = (offset + head.len()) / 4;
        let (body, tail) = rest.as_chunks::<4>();
        for (word, bytes) in self.words()[start..].iter().zip(body) {
            word.store(u32::from_le_bytes(*bytes), Relaxed);
        }
        self.write_partial((start + body.len()) * 4, tail);
    }

    /// Writes less than a word. The word's other bytes keep their values.
    fn write_partial(&self, offset: usize, bytes: &[u8]) {
        for (index, &byte) in bytes.iter().enumerate() {
            let shift = (offset + index) % 4 * 8;
            store_bits(
                &self.words()[(offset + index) / 4],
                u32::from(byte) << shift,
                0xff << shift,
            );
        }
    }

    /// Copies bytes out; the caller has checked the bounds.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) {
        let head = bytes.len().min(offset.wrapping_neg() % 4);
        let (head, rest) = bytes.split_at_mut(head);
        self.read_partial(offset, head);
        let start = (offset + head.len()) / 4;
        let (body, tail) = rest.as_chunks_mut::<4>();
        for (word, bytes) in self.words()[start..].iter().zip(body.iter_mut()) {
            *bytes = word.load(Relaxed).to_le_bytes();
        }
        self.read_partial((start + body.len()) * 4, tail);
    }

    fn read_partial(&self, offset: usize, bytes: &mut [u8]) {
        for (index, byte) in bytes.iter_mut().enumerate() {
            let word = self.words()[(offset + index) / 4].load(Relaxed);
            *byte = word.to_le_bytes()[(offset + index) % 4];
        }
    }
}

/// Replaces the bits of `mask` in a word, atomically.
fn store_bits(word: &AtomicU32, bits: u32, mask: u32) {
    let update = |old: u32| Some((old & !mask) | bits);
    // The update never returns `None`, so this cannot fail.
    let _ = word.fetch_update(Relaxed, Relaxed, update);
}

/// A zeroed slice that the system need not touch before it is used, or `None` if there is no memory for it.
pub(crate) fn zeroed_words(len: usize) -> Option<Box<[AtomicU32]>> {
    let count = len.div_ceil(4);
    let layout = Layout::array::<AtomicU32>(count).ok()?;
    if layout.size() == 0 {
        return Some(Box::default());
    }
    // SAFETY: the layout's size is not zero, by the test above.
    let pointer = unsafe { alloc_zeroed(layout) };
    if pointer.is_null() {
        return None;
    }
    let slice = std::ptr::slice_from_raw_parts_mut(pointer.cast::<AtomicU32>(), count);
    // SAFETY: `pointer` came from the global allocator with the layout of `[AtomicU32; count]`, has no other owner,
    // and all-zero bytes are valid `AtomicU32`s.
    Some(unsafe { Box::from_raw(slice) })
}
