//! The memory that collectives give and take on the emulator.

use super::Runner;
use super::run::Failure;
use crate::program::communicator::call::CollectiveCall;
use crate::shape::part::Part;
use graph_plan::NodeKind;

impl Runner {
    /// The bytes that this rank gives.
    pub(super) fn given(&self, call: &CollectiveCall) -> Result<Vec<u8>, String> {
        let read = |part: Part| {
            let (memory, start) = self.device(part.resource as usize)?;
            let mut bytes = vec![0; part.bytes];
            let read = memory.read(start + part.start, &mut bytes);
            read.map(|()| bytes).map_err(|error| error.to_string())
        };
        match call.kind {
            NodeKind::Exchange => call.sends(read),
            _ => call.given(read),
        }
    }

    /// Writes what this rank gets of what all have given.
    pub(super) fn take(&self, call: &CollectiveCall, all: &[Vec<u8>]) -> Result<(), Failure> {
        for (part, bytes) in call.taken(all)? {
            let (memory, start) = self.device(part.resource as usize)?;
            let written = memory.write(start + part.start, &bytes);
            written.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
