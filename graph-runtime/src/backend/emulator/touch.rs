//! The memory that nodes touch, which is compared if the emulator looks for races of nodes.

use crate::ownership::storage::Storage;
use crate::shape::part::Part;
use graph_emulator::Footprint;
use graph_plan::{Draft, Mode};
use std::sync::Arc;

/// The device memory and the host memory that a node touches.
#[derive(Clone, Default)]
pub(super) struct Touch {
    pub(super) device: Arc<Footprint>,
    host: Arc<Footprint>,
}

impl Touch {
    /// The memory that a kernel has touched.
    pub(super) fn of_kernel(footprint: Footprint) -> Self {
        Self {
            device: footprint.into(),
            host: Arc::default(),
        }
    }

    /// The memory of some parts.
    pub(super) fn of_parts(storage: &[Storage], parts: impl IntoIterator<Item = (Part, Mode)>) -> Self {
        let (mut device, mut host) = (Footprint::new(), Footprint::new());
        for (part, mode) in parts {
            let storage = &storage[part.resource as usize];
            let Some(first) = address(storage) else {
                continue;
            };
            let is_host = storage.host().is_some();
            let footprint = if is_host { &mut host } else { &mut device };
            let (start, len) = (first + part.start as u64, part.bytes as u64);
            match mode {
                Mode::Read => footprint.read(start, len),
                Mode::Write | Mode::ReadWrite => footprint.write(start, len),
                Mode::Atomic | Mode::Mapped => footprint.update(start, len),
            }
        }
        let (device, host) = (device.into(), host.into());
        Self { device, host }
    }

    pub(super) fn merge(&mut self, other: &Touch) {
        Arc::make_mut(&mut self.device).merge(&other.device);
        Arc::make_mut(&mut self.host).merge(&other.host);
    }

    /// Fails if a node that no order relates to this one touches the same memory, and one of the two writes it.
    pub(super) fn compare<'a>(
        &self,
        unordered: impl Iterator<Item = (usize, &'a Touch)>,
        draft: &Draft,
        storage: &[Storage],
    ) -> Result<(), String> {
        for (other, theirs) in unordered {
            let found = self.device.conflict(&theirs.device);
            if let Some(conflict) = found.or_else(|| self.host.conflict(&theirs.host)) {
                let (verb, theirs) = (conflict.first.verb(), conflict.second.verb());
                let bytes = conflict.addresses.end - conflict.addresses.start;
                let other = &draft.nodes[other].name;
                return Err(format!(
                    "{verb} {bytes} bytes{} which node `{other}` {theirs}, and neither comes before the other",
                    place(draft, storage, conflict.addresses.start)
                ));
            }
        }
        Ok(())
    }
}

/// Words for an address: the memory and the byte in it.
fn place(draft: &Draft, storage: &[Storage], address: u64) -> String {
    let found = storage.iter().zip(&draft.resources).find_map(|(storage, resource)| {
        let offset = address.checked_sub(self::address(storage)?)?;
        (offset < storage.bytes() as u64).then(|| format!(" at offset {offset} of `{}`", resource.name))
    });
    found.unwrap_or_default()
}

/// The address of a resource, on the device or the host.
fn address(storage: &Storage) -> Option<u64> {
    let host = storage.host().map(|first| first.addr().get() as u64);
    host.or_else(|| storage.device().map(|(memory, start)| memory.home() + start as u64))
}
