//! Memory by address.

use super::calls;
use crate::argument::Out;
use crate::code::refuse;
use crate::code::{self, ALREADY_REGISTERED, INVALID_VALUE, NOT_REGISTERED, fail};
use crate::handle::Handle;
use crate::memory::{self, Block, Kind};
use crate::module::Attributes;
use crate::queue::Mark;
use crate::rules;
use crate::settings::SETTINGS;
use crate::state::{current, state};
use crate::work::Work;
use std::sync::Arc;

/// Allocates memory of a kind, and tells its address.
fn allocate(out: Out<u64>, bytes: usize, kind: Kind) -> code::Done {
    if bytes == 0 {
        return rules::ALLOCATE_NOTHING.refuse();
    }
    let context = current().unwrap_or_default();
    let block = match kind {
        Kind::Device => {
            let used = state().blocks.used();
            memory::allocate(context, bytes, used)?
        }
        kind => memory::allocate_host(context, bytes, kind)?,
    };
    let address = block.address;
    state().blocks.insert(block);
    out.put(address)
}

/// Frees memory, after all work of the context. With `CUDA_GRAPH_DRIVER_STRICT`, work that uses it fails instead.
fn free(address: u64, kinds: &[Kind]) -> code::Done {
    if address == 0 {
        return Ok(());
    }
    if !SETTINGS.is_strict && !SETTINGS.is_stuck {
        let context = current().unwrap_or_default();
        let ends = state().all_work(context);
        ends.iter().for_each(Mark::wait);
    }
    // The memory is given back after the lock.
    let block = state().blocks.remove(address, kinds);
    match block {
        Some(_) => Ok(()),
        None if SETTINGS.is_strict => crate::state::mistake(format!("{address:#x} is not allocated")),
        None => rules::FREE_TWICE.refuse(),
    }
}

/// The block at an address.
fn find(address: u64) -> code::Done<Block> {
    match state().blocks.at(address) {
        Some(block) => Ok(block.clone()),
        None => refuse(format!("{address:#x} is not allocated")),
    }
}

/// The value of an attribute of memory, as a number.
fn attribute(asked: u32, address: u64) -> code::Done<u64> {
    let block = find(address)?;
    Ok(match asked {
        1 => block.context as u64,
        2 => {
            if block.kind.is_host() && block.kind != Kind::Managed {
                1
            } else {
                2
            }
        }
        3 | 4 => address,
        8 => u64::from(block.kind == Kind::Managed),
        9 => state().context(block.context)?.device as u64,
        11 => block.address,
        12 => block.bytes as u64,
        13 => 1,
        _ => return fail(INVALID_VALUE, "this attribute is not known here"),
    })
}

calls! {
    Context cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let used = state().blocks.used();
        free.put(SETTINGS.memory.saturating_sub(used))?;
        total.put(SETTINGS.memory)
    }
    NoCapture cuMemAlloc_v2(out: Out<u64>, bytes: usize) { allocate(out, bytes, Kind::Device) }
    NoCapture cuMemFree_v2(address: u64) { free(address, &[Kind::Device, Kind::Managed]) }
    NoCapture cuMemAllocHost_v2(out: Out<u64>, bytes: usize) { allocate(out, bytes, Kind::Host) }
    NoCapture cuMemHostAlloc(out: Out<u64>, bytes: usize, _flags: u32) { allocate(out, bytes, Kind::Host) }
    NoCapture cuMemFreeHost(address: u64) { free(address, &[Kind::Host]) }
    NoCapture cuMemAllocManaged(out: Out<u64>, bytes: usize, _flags: u32) { allocate(out, bytes, Kind::Managed) }
    NoCapture cuMemAllocPitch_v2(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize, _element: u32) {
        let row = width.next_multiple_of(512);
        pitch.put(row)?;
        allocate(out, row.saturating_mul(height), Kind::Device)
    }
    NoCapture cuMemHostRegister_v2(address: usize, bytes: usize, _flags: u32) {
        if bytes == 0 {
            return refuse("0 bytes are to be page-locked");
        }
        if state().blocks.overlaps(address as u64, bytes) {
            return fail(ALREADY_REGISTERED, "the memory is page-locked already");
        }
        let block = memory::register_host(current().unwrap_or_default(), address, bytes)?;
        state().blocks.insert(block);
        Ok(())
    }
    NoCapture cuMemHostUnregister(address: u64) {
        match state().blocks.remove(address, &[Kind::Registered]) {
            Some(_) => Ok(()),
            None => fail(NOT_REGISTERED, "the memory is not page-locked"),
        }
    }
    Context cuMemHostGetDevicePointer_v2(out: Out<u64>, address: u64, _flags: u32) {
        match find(address)?.kind.is_host() {
            true => out.put(address),
            false => refuse("this is no memory of the host"),
        }
    }
    Context cuMemHostGetFlags(out: Out<u32>, _address: u64) { out.put(1) }
    Context cuMemGetAddressRange_v2(first: Out<u64>, bytes: Out<usize>, address: u64) {
        let block = find(address)?;
        first.offer(block.address)?;
        bytes.offer(block.bytes)
    }
    Context cuPointerGetAttribute(out: Out<u64>, asked: u32, address: u64) {
        let value = attribute(asked, address)?;
        match asked {
            2 | 8 | 9 | 13 => out.at::<u32>(0).put(value as u32),
            _ => out.put(value),
        }
    }
    Context cuMemAllocAsync(out: Out<u64>, bytes: usize, stream: Handle) {
        if bytes == 0 {
            return refuse("0 bytes are to be allocated");
        }
        let used = state().blocks.used();
        let block = memory::allocate(current().unwrap_or_default(), bytes, used)?;
        let address = block.address;
        let mut state = state();
        if state.capture_status(stream)?.0 == 0 {
            state.blocks.insert(block);
        } else {
            state.blocks.promised.insert(address, bytes);
            state.queue(stream, Work::Allocate(Arc::new(block)), Attributes::new())?;
        }
        out.put(address)
    }
    Context cuMemFreeAsync(address: u64, stream: Handle) {
        state().queue(stream, Work::Free(address), Attributes::new()).map(drop)
    }
    Context cuMemPrefetchAsync(_address: u64, _bytes: usize, _device: i32, stream: Handle) {
        state().stream(stream).map(drop)
    }
    Context cuMemPrefetchAsync_v2(_address: u64, _bytes: usize, _location: u64, _flags: u32, stream: Handle) {
        state().stream(stream).map(drop)
    }
    Context cuMemAdvise(_address: u64, _bytes: usize, _advice: u32, _device: i32) { Ok(()) }
    Context cuMemAdvise_v2(_address: u64, _bytes: usize, _advice: u32, _location: u64) { Ok(()) }
    Context cuStreamAttachMemAsync(stream: Handle, _address: u64, _bytes: usize, _flags: u32) {
        state().stream(stream).map(drop)
    }
}
