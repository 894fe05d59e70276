//! Copies and memsets on the emulator.

use super::Runner;
use crate::devices::Backend;
use crate::error::Site;
use crate::kernel::Value;
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::host_memory::HostMemory;
use crate::shape::part::{Layout, Part};
use graph_emulator::Allocation;
use std::ptr::NonNull;

/// One side of a copy.
enum Side<'a> {
    /// The first byte of the part.
    Host(NonNull<u8>),
    /// An allocation, and the offset at which the part starts in it.
    Device(&'a Allocation, usize),
}

impl Runner {
    pub(super) fn copy(&self, from: Part, to: Part) -> Result<(), String> {
        let done = match (self.side(from)?, self.side(to)?) {
            (Side::Device(source, from), Side::Device(target, start)) => {
                target.copy_from(start, source, from, to.bytes)
            }
            (Side::Host(source), Side::Device(target, start)) => {
                // SAFETY: `side` found the bytes, which are initialised since allocation. The launch began with the
                // graph borrowed exclusively, accessors wait for its end, and it claims what the graph shares (fact 1
                // of `Uses`), so nobody holds a reference to them or writes them.
                let bytes = unsafe { std::slice::from_raw_parts(source.as_ptr(), to.bytes) };
                target.write(start, bytes)
            }
            (Side::Device(source, start), Side::Host(target)) => {
                // SAFETY: as above; the claim is to write, and only this copy uses the target now.
                let bytes = unsafe { std::slice::from_raw_parts_mut(target.as_ptr(), to.bytes) };
                source.read(start, bytes)
            }
            (Side::Host(source), Side::Host(target)) => {
                // SAFETY: as above. The plan refuses copies of memory onto itself, so the two do not overlap.
                unsafe { target.copy_from_nonoverlapping(source, to.bytes) };
                Ok(())
            }
        };
        done.map_err(|error| error.to_string())
    }

    /// A copy of a part on the host, which is aligned as its memory. `site` is told if there is no room for it.
    pub(super) fn copy_out(&self, from: Part, site: &Site) -> Result<HostMemory, String> {
        let layout = Layout {
            bytes: from.bytes,
            align: self.alignments[from.resource as usize],
            float: None,
        };
        let copy = HostMemory::zeroed(&Backend::Emulator(self.device.clone()), layout, || site.clone());
        let copy = copy.map_err(|error| error.to_string())?;
        // SAFETY: the bytes are initialised, and nobody else knows them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(copy.pointer().as_ptr(), from.bytes) };
        match self.side(from)? {
            Side::Device(source, start) => source.read(start, bytes).map_err(|error| error.to_string())?,
            Side::Host(source) => {
                // SAFETY: as in `copy`; the copy is other memory.
                bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(source.as_ptr(), from.bytes) });
            }
        }
        Ok(copy)
    }

    /// Copies such a copy back.
    pub(super) fn copy_back(&self, copy: &HostMemory, to: Part) -> Result<(), String> {
        // SAFETY: the bytes are initialised, and nobody else knows them.
        let bytes = unsafe { std::slice::from_raw_parts(copy.pointer().as_ptr(), to.bytes) };
        match self.side(to)? {
            Side::Device(target, start) => target.write(start, bytes).map_err(|error| error.to_string()),
            Side::Host(target) => {
                // SAFETY: as in `copy`; the copy is other memory.
                unsafe { std::slice::from_raw_parts_mut(target.as_ptr(), to.bytes) }.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// The address of a part.
    fn side(&self, part: Part) -> Result<Side<'_>, String> {
        let storage = &self.storage[part.resource as usize];
        debug_assert!(part.start + part.bytes <= storage.bytes());
        if let Some(first) = storage.host() {
            // SAFETY: a part lies in its resource.
            return Ok(Side::Host(unsafe { first.add(part.start) }));
        }
        match storage.device() {
            Some((KernelMemory::Emulator(allocation), start)) => Ok(Side::Device(allocation, start + part.start)),
            _ => Err("a copy of memory that is not the emulator's".to_owned()),
        }
    }

    pub(super) fn set(&self, to: Part, value: &Value) -> Result<(), String> {
        let pattern = value.bytes();
        let Some(count) = to.bytes.checked_div(pattern.len()) else {
            return Ok(());
        };
        let (target, start) = self.device(to.resource as usize)?;
        let filled = target.fill(start + to.start, pattern, count);
        filled.map_err(|error| error.to_string())
    }
}
