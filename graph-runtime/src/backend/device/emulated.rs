//! The emulator as a device.

use crate::backend::device::options::EmulatorOptions;
use graph_emulator::Memory;

/// An emulated device.
#[derive(Clone)]
pub(crate) struct Emulated {
    pub(crate) memory: Memory,
    pub(crate) options: EmulatorOptions,
}

impl Emulated {
    pub(crate) fn new(options: EmulatorOptions) -> Self {
        Self {
            memory: Memory::new(),
            options,
        }
    }

    /// The same device with a seed: graphs run their nodes in random orders.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        let options = EmulatorOptions {
            seed: Some(seed),
            ..self.options
        };
        Self {
            memory: self.memory.clone(),
            options,
        }
    }
}
