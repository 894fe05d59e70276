//! The emulator as a device.

use crate::backend::device::options::EmulatorOptions;
use graph_emulator::{Memory, Printer};

/// An emulated device.
#[derive(Clone)]
pub(crate) struct Emulated {
    pub(crate) memory: Memory,
    pub(crate) options: EmulatorOptions,
    /// The receiver of what kernels print; standard output if `None`.
    pub(crate) printer: Option<Printer>,
}

impl Emulated {
    pub(crate) fn new(options: EmulatorOptions) -> Self {
        Self {
            memory: Memory::new(),
            options,
            printer: None,
        }
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

    /// The same device with a receiver of what kernels print.
    pub(crate) fn with_printer(&self, receive: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            printer: Some(Printer::new(receive)),
            ..self.clone()
        }
    }
}
