//! One allocation, and copies in and out of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::{Memory, MemoryError};
use crate::memory::storage::Storage;

/// A piece of [`Memory`]. Dropping it frees it: kernels that still use its addresses fault.
pub struct Allocation {
    pub(super) memory: Memory,
    pub(super) name: Box<str>,
    pub(super) storage: Arc<Storage>,
    pub(super) len: usize,
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Allocation({:?}, {:#x}, {} bytes)",
            self.name,
            self.address(),
            self.len
        )
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.lock().free(&self.storage);
    }
}

impl Allocation {
    /// The address of its first byte, as kernels see it.
    pub fn address(&self) -> u64 {
        self.storage.address()
    }

    /// Its name in fault messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The memory that it is a piece of.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The address of its first byte in the allocation that owns the bytes: this one, or the one that it was allocated
    /// within. Two addresses that are equal here are the same byte; [`Footprint`](crate::Footprint)s use them.
    pub fn home(&self) -> u64 {
        self.storage.home(self.storage.address())
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `bytes` to `offset`. As on a GPU, the caller ensures that no kernel uses them meanwhile.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the bytes do not fit; then nothing is written.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), MemoryError> {
        self.check(offset, bytes.len())?;
        self.storage.write(offset, bytes);
        Ok(())
    }

    /// Copies from `offset` into `bytes`. The caller ensures that no kernel writes them meanwhile.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the allocation ends before the bytes do; then nothing is read.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.check(offset, bytes.len())?;
        self.storage.read(offset, bytes);
        Ok(())
    }

    /// Reads the 4 or 8 bytes at an aligned offset as one, after all that a kernel has written before it stored them
    /// there by `st.release`, or by `st.volatile` after a fence. Kernels that were passed the memory as
    /// [`Access::Mapped`](crate::Access::Mapped) may store to it meanwhile.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the allocation has no such word.
    pub fn load_word(&self, offset: usize, bytes: usize) -> Result<u64, MemoryError> {
        let (address, bytes) = self.word(offset, bytes)?;
        let lock = (bytes == 8).then(|| Storage::lock_pair(address));
        let value = self.storage.load(address, bytes);
        drop(lock);
        fence(Ordering::Acquire);
        Ok(value)
    }

    /// Writes 4 or 8 bytes at an aligned offset as one: see [`Allocation::load_word`].
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the allocation has no such word; then nothing is written.
    pub fn store_word(&self, offset: usize, bytes: usize, value: u64) -> Result<(), MemoryError> {
        let (address, bytes) = self.word(offset, bytes)?;
        fence(Ordering::Release);
        let lock = (bytes == 8).then(|| Storage::lock_pair(address));
        self.storage.store(address, bytes, value);
        drop(lock);
        Ok(())
    }

    /// The address of a word, and its size.
    fn word(&self, offset: usize, bytes: usize) -> Result<(u64, u8), MemoryError> {
        self.check(offset, bytes)?;
        match bytes {
            4 | 8 if offset.is_multiple_of(bytes) => Ok((self.address() + offset as u64, bytes as u8)),
            _ => Err(self.out_of_bounds(offset, bytes)),
        }
    }

    /// Copies `len` bytes from another allocation, or from this one; the two ranges may overlap.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if either range does not fit; then nothing is copied.
    pub fn copy_from(
        &self,
        offset: usize,
        source: &Allocation,
        source_offset: usize,
        len: usize,
    ) -> Result<(), MemoryError> {
        self.check(offset, len)?;
        source.check(source_offset, len)?;
        let tracked = self.storage.initialized().and(source.storage.initialized());
        let written = tracked.map(|from| from.bits(source_offset, len));
        let backwards = Arc::ptr_eq(&self.storage, &source.storage) && offset > source_offset;
        let mut chunk = [0; 4096];
        let chunks = len.div_ceil(chunk.len());
        for index in 0..chunks {
            let start = if backwards { chunks - 1 - index } else { index } * chunk.len();
            let bytes = &mut chunk[..(len - start).min(4096)];
            source.storage.read(source_offset + start, bytes);
            self.storage.write(offset + start, bytes);
        }
        if let (Some(to), Some(bits)) = (self.storage.initialized(), written) {
            to.assign(offset, &bits);
        }
        Ok(())
    }

    /// Writes `pattern` `count` times, from `offset` on.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the copies do not fit; then nothing is written.
    pub fn fill(&self, offset: usize, pattern: &[u8], count: usize) -> Result<(), MemoryError> {
        self.check(offset, pattern.len().saturating_mul(count))?;
        if pattern.is_empty() {
            return Ok(());
        }
        let per_chunk = (4096 / pattern.len()).max(1).min(count);
        let chunk = pattern.repeat(per_chunk);
        let mut done = 0;
        while done < count {
            let now = per_chunk.min(count - done);
            self.storage
                .write(offset + done * pattern.len(), &chunk[..now * pattern.len()]);
            done += now;
        }
        Ok(())
    }

    /// Marks all bytes as not written, as they are in memory that is lent for one use.
    ///
    /// The bytes keep their values. A launch with [`Options::check_uninitialized`](crate::Options::check_uninitialized)
    /// faults if it reads a byte that neither a kernel nor a method of this type has written since. Copying an
    /// unwritten byte is no fault, and leaves its copy unwritten. A launch without that option marks all memory that it
    /// may write as written.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] if the host has no memory to note which bytes were written, one bit for each. After
    /// a first call that succeeded, all others do.
    pub fn forget_contents(&self) -> Result<(), MemoryError> {
        self.storage.forget()
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    pub(super) fn check(&self, offset: usize, len: usize) -> Result<(), MemoryError> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(self.out_of_bounds(offset, len)),
        }
    }

    pub(super) fn out_of_bounds(&self, offset: usize, len: usize) -> MemoryError {
        MemoryError::OutOfBounds {
            name: self.name.to_string(),
            offset,
            len,
            size: self.len,
        }
    }
}
