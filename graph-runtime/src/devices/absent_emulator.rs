//! The stand-ins for the emulator as a device, in builds without the feature `emulator`.

use crate::devices::options::EmulatorOptions;
use crate::error::{At, Error, Result, Site};
use std::convert::Infallible;
use std::ptr::NonNull;
use std::time::Instant;

/// A device on which nothing can be made. It exists so that code for both kinds of device compiles in all builds.
#[derive(Clone)]
pub(crate) struct Emulated;

impl Emulated {
    pub(crate) fn new(_: EmulatorOptions) -> Self {
        Self
    }

    pub(crate) fn until(_: Instant) -> Self {
        Self
    }

    pub(crate) fn with_seed(&self, _: u64) -> Self {
        Self
    }

    pub(crate) fn with_printer(&self, _: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self
    }

    /// Returns the error of every use of the device.
    pub(crate) fn check(&self) -> Result<()> {
        Err(Error::NoEmulator { cuda: None })
    }

    pub(crate) fn allocate(&self, _: &str, _: usize, _: impl Fn() -> Site) -> Result<Allocation> {
        Err(Error::NoEmulator { cuda: None })
    }

    pub(crate) unsafe fn map(&self, _: &str, _: NonNull<u8>, _: usize, _: impl Fn() -> Site) -> Result<Allocation> {
        Err(Error::NoEmulator { cuda: None })
    }

    pub(crate) fn has_memory_of(&self, _: &Self) -> bool {
        true // neither has any
    }

    pub(crate) fn owns(&self, allocation: &Allocation) -> bool {
        match allocation.0 {}
    }
}

/// The result of an access to memory that does not exist.
type Never<T> = std::result::Result<T, Infallible>;

impl<T> At<T> for Never<T> {
    fn at(self, _: impl FnOnce() -> Site) -> Result<T> {
        self.map_err(|never| match never {})
    }
}

/// Memory of the emulator. No value of it exists.
pub(crate) struct Allocation(Infallible);

impl Allocation {
    pub(crate) fn address(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn home(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn read(&self, _: usize, _: &mut [u8]) -> Never<()> {
        match self.0 {}
    }

    pub(crate) fn write(&self, _: usize, _: &[u8]) -> Never<()> {
        match self.0 {}
    }

    pub(crate) fn load_word(&self, _: usize, _: usize) -> Never<u64> {
        match self.0 {}
    }

    pub(crate) fn store_word(&self, _: usize, _: usize, _: u64) -> Never<()> {
        match self.0 {}
    }

    pub(crate) fn memory(&self) -> Memory {
        match self.0 {}
    }
}

/// The address space that an allocation is in. No value of it exists.
pub(crate) struct Memory(Infallible);

impl Memory {
    pub(crate) fn allocate_within(&self, _: &str, _: &Allocation, _: usize, _: usize) -> Result<Allocation> {
        match self.0 {}
    }
}
