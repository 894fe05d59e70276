//! Resetting and uploading a built graph.

use crate::error::{At, Result};
use crate::graph::Graph;
use crate::ownership::storage::Storage;

impl Graph {
    /// Waits for launches in flight, and makes the memory that the graph owns as it was when the graph was built:
    /// `host`, `mapped`, `array` and `device` memory is zeroed, and random numbers start again at their seed or state.
    /// The error of the last launch is forgotten, unless it is one that no later call of CUDA survives.
    ///
    /// Shared memory and generators, variables of modules, params and disabled nodes stay as they are. (PyTorch's
    /// `reset` frees the graph: here, that is dropping it, and a [`Definition`](crate::Definition) makes another one.)
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if a launch failed on CUDA, or the driver refuses.
    pub fn reset(&mut self) -> Result<()> {
        self.executable.restart(&self.data.draft)?;
        for (resource, storage) in self.executable.storage().iter().enumerate() {
            let declared = &self.data.draft.resources[resource];
            match storage {
                // SAFETY: all launches were waited for and none starts while `self` is borrowed exclusively, so nobody
                // has references into this memory (fact 4 of `CudaExecutable`; the emulator's launches have run).
                Storage::Host(memory) => unsafe { memory.clear() },
                Storage::Device(memory) if !declared.memory.is_of_module() => {
                    memory.clear(|| self.site().at_memory(&declared.name))?;
                }
                Storage::Mapped(memory) => memory.clear(|| self.site().at_memory(&declared.name))?,
                Storage::Array(array) => array.clear().at(|| self.site().at_memory(&declared.name))?,
                Storage::Device(_) | Storage::Shared(_) | Storage::Scratch(_) | Storage::Module => {}
            }
        }
        let storage = self.executable.storage();
        self.data
            .rngs
            .iter()
            .try_for_each(|rng| rng.begin(&self.data.draft, storage))
    }

    /// Uploads the executable graph to the device, and returns without waiting: a launch then need not. It is done
    /// already unless the graph was [instantiated](crate::Definition::instantiate) without `upload`, or was changed
    /// since. Does nothing on the emulator and in [debug mode](crate::Device::with_debug).
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the driver refuses; as [`Graph::launch`] after a change that failed
    /// half-way.
    pub fn upload(&mut self) -> Result<()> {
        if !self.is_whole() {
            return Err(self.refusal());
        }
        self.executable.upload(&self.data.draft)
    }
}
