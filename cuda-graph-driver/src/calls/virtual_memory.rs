//! Device memory whose addresses are reserved apart from the memory itself. Memory that is mapped twice is two pieces
//! of memory here.

use super::calls;
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{OUT_OF_MEMORY, fail};
use crate::device::MEMORY;
use crate::handle::Handle;
use crate::memory::Kind;
use crate::settings::SETTINGS;
use crate::state::{Object, current, mistake, state};
use std::sync::Arc;

/// The steps in which memory is mapped.
const GRANULARITY: usize = 2 << 20;

calls! {
    Nothing cuMemGetAllocationGranularity(out: Out<usize>, _properties: In<u8>, _option: u32) { out.put(GRANULARITY) }
    Nothing cuMemAddressReserve(out: Out<u64>, bytes: usize, _alignment: usize, _wanted: u64, _flags: u64) {
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return refuse(format!("{bytes} bytes are no multiple of {GRANULARITY}"));
        }
        let Ok(reserved) = MEMORY.allocate("mapped memory", bytes) else {
            return fail(OUT_OF_MEMORY, format!("the host has no {bytes} addresses"));
        };
        let address = reserved.address();
        state().blocks.reserved.insert(address, Arc::new(reserved));
        out.put(address)
    }
    Nothing cuMemAddressFree(address: u64, bytes: usize) {
        let mut state = state();
        if state.blocks.reserved.get(&address).is_none_or(|reserved| reserved.len() != bytes) {
            return mistake(format!("{bytes} bytes from {address:#x} on are not reserved"));
        }
        if state.blocks.overlaps(address, bytes) {
            return refuse("the addresses have memory");
        }
        state.blocks.reserved.remove(&address);
        Ok(())
    }
    Context cuMemCreate(out: Out<u64>, bytes: usize, _properties: In<u8>, _flags: u64) {
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return refuse(format!("{bytes} bytes are no multiple of {GRANULARITY}"));
        }
        let mut state = state();
        if bytes > SETTINGS.memory.saturating_sub(state.blocks.used()) {
            return fail(OUT_OF_MEMORY, format!("the device has no {bytes} bytes"));
        }
        out.put(state.add(Object::Physical(bytes)) as u64)
    }
    Nothing cuMemRelease(handle: u64) {
        let mut state = state();
        state.physical(handle as Handle)?;
        state.remove(handle as Handle);
        Ok(())
    }
    Nothing cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, _flags: u64) {
        let mut state = state();
        if offset != 0 || *state.physical(handle as Handle)? != bytes {
            return refuse(format!("the memory has not {bytes} bytes"));
        }
        state.blocks.map(current().unwrap_or_default(), address, bytes)?;
        state.blocks.physical += bytes;
        Ok(())
    }
    Nothing cuMemUnmap(address: u64, bytes: usize) {
        let mut state = state();
        state.blocks.unmap(address, bytes)?;
        state.blocks.physical -= bytes;
        Ok(())
    }
    Nothing cuMemSetAccess(address: u64, bytes: usize, _access: In<u8>, count: usize) {
        let state = state();
        let is_mapped = state.blocks.find(address, bytes).is_some_and(|block| block.kind == Kind::Mapped);
        match is_mapped && count == 1 {
            true => Ok(()),
            false => refuse(format!("{bytes} bytes from {address:#x} on are not mapped")),
        }
    }
}
