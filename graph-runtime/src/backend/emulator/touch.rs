//! The memory that nodes touch, which is compared if the emulator looks for races of nodes.

use super::run::Run;
use crate::ownership::storage::Storage;
use crate::shape::part::Part;
use graph_emulator::Footprint;
use graph_plan::Mode;
use std::sync::Arc;

/// The device memory and the host memory that a node touches.
#[derive(Clone, Default)]
pub(super) struct Touch {
    pub(super) device: Arc<Footprint>,
    pub(super) host: Arc<Footprint>,
}

impl Touch {
    pub(super) fn merge(&mut self, other: &Touch) {
        Arc::make_mut(&mut self.device).merge(&other.device);
        Arc::make_mut(&mut self.host).merge(&other.host);
    }
}

impl Run<'_> {
    /// The memory that a node touches; empty unless unordered nodes are compared. Fails if an unordered node touches
    /// it, too, and one of them writes. (Not for kernels: their launch checks each access, and reports the memory.)
    pub(super) fn touch(&self, node: usize, parts: impl IntoIterator<Item = (Part, Mode)>) -> Result<Touch, String> {
        let mut touch = Touch::default();
        if !self.exec.options.check_unordered {
            return Ok(touch);
        }
        for (part, mode) in parts {
            let storage = &self.exec.storage[part.resource as usize];
            let Some(first) = address(storage) else {
                continue;
            };
            let is_host = storage.host().is_some();
            let footprint = Arc::make_mut(if is_host { &mut touch.host } else { &mut touch.device });
            let (start, len) = (first + part.start as u64, part.bytes as u64);
            match mode {
                Mode::Read => footprint.read(start, len),
                Mode::Write | Mode::ReadWrite => footprint.write(start, len),
                Mode::Atomic | Mode::Mapped => footprint.update(start, len),
            }
        }
        for (other, theirs) in self.unordered(node) {
            let found = touch.device.conflict(&theirs.device);
            if let Some(conflict) = found.or_else(|| touch.host.conflict(&theirs.host)) {
                let (verb, theirs) = (conflict.first.verb(), conflict.second.verb());
                let bytes = conflict.addresses.end - conflict.addresses.start;
                let other = &self.draft.nodes[other].name;
                return Err(format!(
                    "{verb} {bytes} bytes{} which node `{other}` {theirs}, and neither comes before the other",
                    self.place(conflict.addresses.start)
                ));
            }
        }
        Ok(touch)
    }

    /// Words for an address: the memory and the byte in it.
    fn place(&self, address: u64) -> String {
        let found = self
            .exec
            .storage
            .iter()
            .zip(&self.draft.resources)
            .find_map(|(storage, resource)| {
                let offset = address.checked_sub(self::address(storage)?)?;
                (offset < storage.bytes() as u64).then(|| format!(" at offset {offset} of `{}`", resource.name))
            });
        found.unwrap_or_default()
    }
}

/// The address of a resource, on the device or the host.
fn address(storage: &Storage) -> Option<u64> {
    let host = storage.host().map(|first| first.addr().get() as u64);
    host.or_else(|| storage.device().map(|(memory, start)| memory.home() + start as u64))
}
