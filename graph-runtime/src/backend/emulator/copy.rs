//! Copies and memsets on the emulator.

use super::super::{DeviceMemory, HostMemory, Storage};
use super::Executable;
use crate::kernel::Value;
use crate::program::Part;

impl Executable {
    pub(super) fn copy(&self, from: Part, to: Part) -> Result<(), String> {
        let (source, target) = (
            &self.storage[from.resource as usize],
            &self.storage[to.resource as usize],
        );
        let done = match (source, target) {
            (Storage::Device(DeviceMemory::Emulator(source)), Storage::Device(DeviceMemory::Emulator(target))) => {
                target.copy_from(to.start, source, from.start, to.bytes)
            }
            (Storage::Host(source), Storage::Device(DeviceMemory::Emulator(target))) => {
                // SAFETY: `launch` borrows the graph exclusively, so nobody holds a reference into its host memory.
                let bytes = unsafe { host_bytes(source, from) };
                target.write(to.start, bytes)
            }
            (Storage::Device(DeviceMemory::Emulator(source)), Storage::Host(target)) => {
                // SAFETY: as above; and only this copy uses the target now.
                let bytes = unsafe { host_bytes_mut(target, to) };
                source.read(from.start, bytes)
            }
            (Storage::Host(source), Storage::Host(target)) => {
                // SAFETY: as above.
                let source = unsafe { host_bytes(source, from) };
                // SAFETY: as above. The plan refuses copies of memory onto itself, so this does not overlap the source.
                let target = unsafe { host_bytes_mut(target, to) };
                target.copy_from_slice(source);
                Ok(())
            }
            _ => return Err("a copy of memory that is not the emulator's".to_owned()),
        };
        done.map_err(|error| error.to_string())
    }

    pub(super) fn set(&self, to: Part, value: &Value) -> Result<(), String> {
        let pattern = value.bytes();
        let Some(count) = to.bytes.checked_div(pattern.len()) else {
            return Ok(());
        };
        let target = self.device(to.resource as usize)?;
        target.fill(to.start, pattern, count).map_err(|error| error.to_string())
    }
}

/// A part of host memory, to read.
///
/// # Safety
///
/// The part lies in the memory, and nothing writes it while the slice lives.
unsafe fn host_bytes(memory: &HostMemory, part: Part) -> &[u8] {
    debug_assert!(part.start + part.bytes <= memory.bytes());
    // SAFETY: the part lies in the memory, by the caller's promise.
    let start = unsafe { memory.pointer().add(part.start) };
    // SAFETY: all bytes are initialised since allocation and nobody writes them, by the caller's promise.
    unsafe { std::slice::from_raw_parts(start.as_ptr(), part.bytes) }
}

/// A part of host memory, to write.
///
/// # Safety
///
/// The part lies in the memory, and nothing else uses it while the slice lives.
#[expect(
    clippy::mut_from_ref,
    reason = "`HostMemory` is a pointer; the caller promises that the slice is alone"
)]
unsafe fn host_bytes_mut(memory: &HostMemory, part: Part) -> &mut [u8] {
    debug_assert!(part.start + part.bytes <= memory.bytes());
    // SAFETY: the part lies in the memory, by the caller's promise.
    let start = unsafe { memory.pointer().add(part.start) };
    // SAFETY: all bytes are initialised since allocation and nobody else uses them, by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), part.bytes) }
}
