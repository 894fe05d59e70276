//! Memory of the emulator: its own, or the host's.

use crate::devices::adopted::DeviceMemory;
use crate::devices::{Allocation, Emulated};
use crate::error::{Error, Result, Site};
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// An allocation of the emulator.
pub(crate) struct EmulatedMemory {
    allocation: Allocation,
    /// The owner of adopted memory, dropped after the allocation.
    owner: Option<Box<dyn DeviceMemory>>,
}

impl EmulatedMemory {
    /// Memory of the host, from `address` on. The device must be in this build.
    ///
    /// # Safety
    ///
    /// The host's memory at `address`, whose provenance is exposed, has `bytes` initialised bytes, which live as long
    /// as this, and as `owner`. Nobody else does what conflicts with uses of this memory.
    pub(crate) unsafe fn of_host(
        device: &Emulated,
        (address, bytes): (u64, usize),
        owner: Option<Box<dyn DeviceMemory>>,
    ) -> Result<Self> {
        device.check()?;
        let refused = |message| Error::Unsupported {
            site: Site::buffer(),
            message,
        };
        if !address.is_multiple_of(4) || !bytes.is_multiple_of(4) {
            return Err(refused(
                "the CPU emulator takes memory of others in words: its address and its size must be multiples of 4",
            ));
        }
        let first = match usize::try_from(address).map(ptr::with_exposed_provenance_mut) {
            Ok(_) if bytes == 0 => NonNull::<u32>::dangling().cast(),
            Ok(first) => NonNull::new(first).ok_or_else(|| refused("there is no memory at the null address"))?,
            Err(_) => return Err(refused("the host has no memory at this address")),
        };
        // SAFETY: by the caller's promise; the words are aligned, and `bytes` are whole ones.
        let allocation = unsafe { device.map("buffer", first, bytes, Site::buffer) }?;
        Ok(Self { allocation, owner })
    }

    /// The owner of adopted memory.
    pub(crate) fn owner(&self) -> Option<&dyn DeviceMemory> {
        self.owner.as_deref()
    }
}

impl From<Allocation> for EmulatedMemory {
    fn from(allocation: Allocation) -> Self {
        Self {
            allocation,
            owner: None,
        }
    }
}

impl Deref for EmulatedMemory {
    type Target = Allocation;

    fn deref(&self) -> &Allocation {
        &self.allocation
    }
}
