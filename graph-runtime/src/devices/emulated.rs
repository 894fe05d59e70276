//! The emulator as a device.

use crate::devices::options::EmulatorOptions;
use crate::error::{At, Error, Result, Site};
use crate::in_flight::lock::Lock;
use crate::kernel::source::Ptx;
use crate::program::host_call::Running;
use graph_emulator::{LoadError, Memory, MemoryError, Parsed, Printer};
use std::collections::HashMap;
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tracing::trace;

pub(crate) use graph_emulator::Allocation;

/// An access to memory that the caller has checked: a failure is one of the bounds.
impl<T> At<T> for std::result::Result<T, MemoryError> {
    fn at(self, site: impl FnOnce() -> Site) -> Result<T> {
        self.map_err(|_| Error::OutOfBounds { site: site() })
    }
}

/// An emulated device.
#[derive(Clone)]
pub(crate) struct Emulated {
    pub(crate) memory: Memory,
    pub(crate) options: EmulatorOptions,
    /// The receiver of what kernels print; standard output if `None`.
    pub(crate) printer: Option<Printer>,
    /// The time at which launches end, if there is one. Then nobody has asked for the device: it warns of nothing.
    pub(crate) deadline: Option<Instant>,
    sources: Arc<Sources>,
}

/// The PTX of which graphs have been built, parsed once, by the addresses of the `static`s.
type Sources = Lock<HashMap<usize, Arc<OnceLock<std::result::Result<Parsed, LoadError>>>>>;

impl Emulated {
    pub(crate) fn new(options: EmulatorOptions) -> Self {
        Self {
            memory: Memory::new(),
            options,
            printer: None,
            deadline: None,
            sources: Arc::default(),
        }
    }

    /// A device on which launches end at a deadline, and print nothing.
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            printer: Some(Printer::new(|_| {})),
            deadline: Some(deadline),
            ..Self::new(EmulatorOptions::default())
        }
    }

    /// Returns PTX that is parsed when a graph of this device or of its clones first uses it.
    pub(crate) fn parsed(&self, ptx: &'static Ptx) -> std::result::Result<Parsed, LoadError> {
        let source = self
            .sources
            .lock()
            .entry(ptr::from_ref(ptx).addr())
            .or_default()
            .clone();
        source
            .get_or_init(|| {
                trace!(target: "graph_runtime", path = ptx.path, "parse on the CPU emulator");
                Parsed::new(ptx.text)
            })
            .clone()
    }

    /// Refuses the emulator if it is not in this build: see `absent`, which takes the place of this module then.
    pub(crate) fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Allocates `bytes` zeroed bytes. The name appears in messages.
    pub(crate) fn allocate(&self, name: &str, bytes: usize, site: impl Fn() -> Site) -> Result<Allocation> {
        let allocation = self.memory.allocate(name, bytes);
        allocation.map_err(|_| Error::OutOfMemory { site: site(), bytes })
    }

    /// Makes words of the host's memory an allocation. The name appears in messages.
    ///
    /// # Safety
    ///
    /// As for [`Memory::map`].
    pub(crate) unsafe fn map(
        &self,
        name: &str,
        first: NonNull<u8>,
        bytes: usize,
        site: impl Fn() -> Site,
    ) -> Result<Allocation> {
        // SAFETY: by the caller's promise.
        let allocation = unsafe { self.memory.map(name, first, bytes) };
        allocation.map_err(|_| Error::OutOfMemory { site: site(), bytes })
    }

    /// Whether the two have the same memory.
    pub(crate) fn has_memory_of(&self, other: &Self) -> bool {
        self.memory.is(&other.memory)
    }

    /// Whether the allocation is in this device's memory.
    pub(crate) fn owns(&self, allocation: &Allocation) -> bool {
        allocation.memory().is(&self.memory)
    }

    /// The same device with a seed: graphs run their nodes in random orders.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        let options = EmulatorOptions {
            seed: Some(seed),
            ..self.options
        };
        Self {
            options,
            ..self.clone()
        }
    }

    /// The same device with a receiver of what kernels print. It is called in launches, as host functions are: it waits
    /// for no other use of memory (fact 5 of [`Uses`](crate::in_flight::uses::Uses)).
    pub(crate) fn with_printer(&self, receive: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let receive = move |text: &str| {
            let _running = Running::enter();
            receive(text);
        };
        Self {
            printer: Some(Printer::new(receive)),
            ..self.clone()
        }
    }
}
