//! Handles to mapped memory: memory of the host that graphs access while they run.

use crate::error::{Result, Site};
use crate::kernel::mapped::Word;
use crate::ownership::mapped_memory::MappedMemory;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A handle to `mapped` memory of a graph, with elements `T`: the host loads and stores elements while the graph runs.
/// [`Graph::mapped`](crate::Graph::mapped) makes one, and each graph of `cuda_graph!` has a function of the memory's
/// name, `graph.tokens()`.
///
/// It waits for nothing, calls nothing of CUDA, and can be cloned and used on any thread, also after the graph was
/// dropped. Loads and stores are atomic, whatever kernels do meanwhile: see [`Mapped`](crate::Mapped). Elements are
/// numbered from the first, whatever dimensions the memory has.
pub struct MappedHost<T> {
    memory: Arc<MappedMemory>,
    /// The graph and the name of the memory.
    site: Site,
    /// The offset of the first element in bytes.
    start: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Word> MappedHost<T> {
    /// A handle to the `bytes` bytes from `start` on.
    pub(crate) fn new(memory: &Arc<MappedMemory>, start: usize, bytes: usize, site: Site) -> Self {
        Self {
            memory: memory.clone(),
            site,
            start,
            len: bytes / size_of::<T>(),
            element: PhantomData,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Loads an element. All that a kernel has stored to mapped memory before a `release` store of the value, or before
    /// a `volatile` store after `__threadfence_system()`, is visible to later loads.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds).
    pub fn load(&self, index: usize) -> Result<T> {
        let word = self
            .memory
            .load(self.offset(index), size_of::<T>(), || self.site.clone())?;
        Ok(bytemuck::pod_read_unaligned(&word.to_le_bytes()[..size_of::<T>()]))
    }

    /// Stores an element. All that this thread has stored to mapped memory before is visible to a kernel that has
    /// loaded the value by `acquire`, or by `volatile` before `__threadfence_system()`.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds).
    pub fn store(&self, index: usize, value: T) -> Result<()> {
        let mut word = [0; 8];
        word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let value = u64::from_le_bytes(word);
        self.memory
            .store(self.offset(index), size_of::<T>(), value, || self.site.clone())
    }

    /// Loads all elements, one after the other.
    ///
    /// # Errors
    /// None: elements are in bounds.
    pub fn load_vec(&self) -> Result<Vec<T>> {
        (0..self.len).map(|index| self.load(index)).collect()
    }

    /// The offset of an element in the memory; past its end if there is no such element.
    fn offset(&self, index: usize) -> usize {
        match index < self.len {
            true => self.start + index * size_of::<T>(),
            false => usize::MAX,
        }
    }
}

impl<T> Clone for MappedHost<T> {
    fn clone(&self) -> Self {
        Self {
            memory: self.memory.clone(),
            site: self.site.clone(),
            ..*self
        }
    }
}

impl<T> fmt::Debug for MappedHost<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MappedHost({} elements)", self.len)
    }
}
