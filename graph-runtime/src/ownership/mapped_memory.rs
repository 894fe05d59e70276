//! Memory of the host that kernels and the host access at any time.

use crate::devices::Backend;
use crate::devices::cuda_memory::CudaMemory;
use crate::error::{At, Error, Result, Site};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::host_memory::HostMemory;
use crate::shape::part::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Zeroed memory of the host, mapped into the address space of the device.
///
/// # Soundness
///
/// On CUDA:
///
/// 1. `host` points to memory that `device` keeps, page-locked and aligned to 64 bytes or more. Nobody ever makes a
///    reference into it but to an `AtomicU32` or an `AtomicU64`. All accesses have the size of the elements, `word`:
///    [`MappedHost`](crate::MappedHost) and the kernels have the elements of the place, whose type is one `Word`.
/// 2. Nodes of graphs access it only by kernels that take it as `&[Mapped<T>]`: `build` calls
///    `graph_plan::check_errors`, whose table of rules (`check/memory.rs`) allows no other access of `Memory::Mapped`,
///    and fails if it is broken. These load and store words by instructions that are strong for the whole system; the
///    macro checks the PTX of safe kernels, and authors of `unsafe` vouch for others.
/// 3. To the host, such a load or store is one of an atomic type: CUDA's memory model makes loads and stores of
///    aligned words in mapped memory atomic at system scope, and threads of CPU and GPU are alike in it (D12 of
///    `docs/safety.md`).
///
/// On the emulator, the memory is an allocation like others, whose words are atomic whoever accesses them: see
/// `graph_emulator::Memory`.
pub(crate) struct MappedMemory {
    device: KernelMemory,
    /// The first byte on CUDA.
    host: Option<NonNull<u8>>,
    bytes: usize,
    /// The size of its elements, if they are words.
    word: usize,
}

// SAFETY: accesses through the pointer are atomic (fact 1), so any thread may make them.
unsafe impl Send for MappedMemory {}
// SAFETY: as above.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Allocates it. The name appears in the emulator's messages.
    pub(crate) fn zeroed(backend: &Backend, name: &str, layout: Layout, site: impl Fn() -> Site) -> Result<Self> {
        let Layout { bytes, align, .. } = layout;
        let (device, host) = match backend {
            Backend::Emulator(_) => (KernelMemory::zeroed(backend, name, bytes, site)?, None),
            Backend::Cuda(cuda) => {
                let memory = HostMemory::zeroed(backend, layout, site)?;
                let pointer = memory.pointer();
                // SAFETY: the memory is page-locked for all contexts, so kernels of this one reach it at its own
                // address (CUDA Driver API, "Unified Addressing"). It lives as long as the keeper, which has it.
                let device = unsafe { CudaMemory::within(cuda, pointer.addr().get() as u64, bytes, Box::new(memory)) };
                (KernelMemory::Cuda(device), Some(pointer))
            }
        };
        let word = if align == 8 { 8 } else { 4 };
        Ok(Self {
            device,
            host,
            bytes,
            word,
        })
    }

    /// The memory as kernels reach it.
    pub(crate) fn as_device(&self) -> &KernelMemory {
        &self.device
    }

    /// Loads the word of `size` bytes, 4 or 8, at an offset that is a multiple of `size`.
    pub(crate) fn load(&self, offset: usize, size: usize, site: impl Fn() -> Site) -> Result<u64> {
        match (self.word(offset, size, &site)?, &self.device) {
            (Some(Word::Four(pointer)), _) => {
                // SAFETY: the word is in the memory and aligned, and all accesses to it are atomic (facts 1 to 3).
                Ok(unsafe { AtomicU32::from_ptr(pointer) }.load(Ordering::Acquire).into())
            }
            // SAFETY: as above.
            (Some(Word::Eight(pointer)), _) => Ok(unsafe { AtomicU64::from_ptr(pointer) }.load(Ordering::Acquire)),
            (None, KernelMemory::Emulator(allocation)) => allocation.load_word(offset, size).at(site),
            (None, KernelMemory::Cuda(_)) => Err(Error::OutOfBounds { site: site() }),
        }
    }

    /// Stores a word, as [`MappedMemory::load`] loads one.
    pub(crate) fn store(&self, offset: usize, size: usize, value: u64, site: impl Fn() -> Site) -> Result<()> {
        match (self.word(offset, size, &site)?, &self.device) {
            // SAFETY: as in `load`.
            (Some(Word::Four(word)), _) => unsafe { AtomicU32::from_ptr(word) }.store(value as u32, Ordering::Release),
            // SAFETY: as above.
            (Some(Word::Eight(word)), _) => unsafe { AtomicU64::from_ptr(word) }.store(value, Ordering::Release),
            (None, KernelMemory::Emulator(allocation)) => allocation.store_word(offset, size, value).at(site)?,
            (None, KernelMemory::Cuda(_)) => return Err(Error::OutOfBounds { site: site() }),
        }
        Ok(())
    }

    /// Copies all words to memory of the same size. Others may access them meanwhile.
    pub(crate) fn copy_to(&self, other: &Self, site: impl Fn() -> Site) -> Result<()> {
        let whole = self.bytes - self.bytes % self.word;
        let mut words = (0..whole).step_by(self.word);
        words.try_for_each(|offset| other.store(offset, self.word, self.load(offset, self.word, &site)?, &site))
    }

    /// Zeroes all words. Others may access them meanwhile.
    pub(crate) fn clear(&self, site: impl Fn() -> Site) -> Result<()> {
        let whole = self.bytes - self.bytes % self.word;
        let mut words = (0..whole).step_by(self.word);
        words.try_for_each(|offset| self.store(offset, self.word, 0, &site))
    }

    /// The word at an offset; `None` on the emulator. Fails unless it is in the memory and aligned.
    fn word(&self, offset: usize, size: usize, site: impl Fn() -> Site) -> Result<Option<Word>> {
        let end = offset.checked_add(size);
        let inside = end.is_some_and(|end| end <= self.bytes) && offset.checked_rem(size) == Some(0);
        // SAFETY: the offset is in the memory.
        let pointer = self.host.filter(|_| inside).map(|host| unsafe { host.add(offset) });
        match (pointer, size) {
            (None, _) if inside => Ok(None),
            (Some(pointer), 4) => Ok(Some(Word::Four(pointer.as_ptr().cast()))),
            (Some(pointer), 8) => Ok(Some(Word::Eight(pointer.as_ptr().cast()))),
            _ => Err(Error::OutOfBounds { site: site() }),
        }
    }
}

/// A word of mapped memory on CUDA.
enum Word {
    Four(*mut u32),
    Eight(*mut u64),
}
