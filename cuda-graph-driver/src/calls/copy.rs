//! Copies and fills outside of graphs.

use super::calls;
use crate::argument::In;
use crate::code::Done;
use crate::code::refuse;
use crate::handle::Handle;
use crate::module::Attributes;
use crate::record::Queued;
use crate::state::{current, state};
use crate::work::{Copy, CopyWords, Fill, Work};

/// The most bytes of the program's own memory that are read before a call returns.
const STAGED: usize = 64 << 10;

/// Queues a copy. Copies from and to memory that is not page-locked are done with that memory when this returns.
fn copy(mut copy: Copy, stream: Handle) -> Done {
    let (queued, waits) = {
        let mut state = state();
        copy.check(&state)?;
        let [from, to] = copy.addresses();
        let [from_kind, to_kind] = copy.kinds();
        let is_pageable = |kind: u32, address: usize| kind != 3 && state.blocks.at(address as u64).is_none();
        let (reads, writes) = (is_pageable(from_kind, from), is_pageable(to_kind, to));
        let bytes: usize = copy.sides()[0];
        let is_captured = state.capture_status(stream)?.0 != 0;
        let stages = reads && !writes && copy.is_one_row() && bytes <= STAGED && !is_captured;
        if stages {
            copy.bytes = Some(In::<u8>::of(from).list(bytes)?.into());
        }
        let queued = state.queue(stream, Work::Copy(copy), Attributes::new())?;
        (queued, (reads && !stages) || writes)
    };
    match queued {
        Queued::Runs(mark) if waits => mark.wait(),
        Queued::Runs(_) | Queued::Captured => {}
    }
    Ok(())
}

/// Copies at once.
fn copy_now(copied: Copy) -> Done {
    copy(copied, 0)?;
    let end = state().stream(0)?.queue.end();
    end.wait();
    current().map_or(Ok(()), |context| state().check_context(context))
}

fn fill(fill: Fill, stream: Handle) -> Done {
    if fill.width == 0 {
        return Ok(());
    }
    let mut state = state();
    fill.check(&state)?;
    state.queue(stream, Work::Fill(fill), Attributes::new()).map(drop)
}

fn fill_now(filled: Fill) -> Done {
    fill(filled, 0)?;
    let end = state().stream(0)?.queue.end();
    end.wait();
    Ok(())
}

fn rows(words: In<CopyWords>) -> Done<Copy> {
    Ok(Copy {
        words: words.get()?,
        bytes: None,
    })
}

/// `CUDA_MEMCPY2D`: of each side x, y, the kind, the address for the host, that for the device, the array and the
/// pitch; then the width and the height.
fn plane(words: In<[usize; 16]>) -> Done<Copy> {
    let words = words.get()?;
    let mut copy = [0; 25];
    for (first, side) in [(0, &words[..7]), (11, &words[7..14])] {
        for (to, from) in [(0, 0), (1, 1), (4, 2), (5, 3), (6, 4), (7, 5), (9, 6)] {
            copy[first + to] = side[from];
        }
        copy[first + 10] = words[15];
    }
    copy[22..].copy_from_slice(&[words[14], words[15], 1]);
    Ok(Copy {
        words: copy,
        bytes: None,
    })
}

/// A copy by addresses alone.
fn by_address(to: u64, from: u64, bytes: usize) -> Copy {
    let mut copy = Copy::of_bytes(to as usize, false, from as usize, false, bytes);
    (copy.words[4], copy.words[15]) = (4, 4);
    copy
}

calls! {
    Context cuMemcpyHtoDAsync_v2(to: u64, from: usize, bytes: usize, stream: Handle) {
        if bytes == 0 { return Ok(()); }
        copy(Copy::of_bytes(to as usize, false, from, true, bytes), stream)
    }
    Context cuMemcpyDtoHAsync_v2(to: usize, from: u64, bytes: usize, stream: Handle) {
        if bytes == 0 { return Ok(()); }
        copy(Copy::of_bytes(to, true, from as usize, false, bytes), stream)
    }
    Context cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        if bytes == 0 { return Ok(()); }
        copy(Copy::of_bytes(to as usize, false, from as usize, false, bytes), stream)
    }
    Context cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        if bytes == 0 { return Ok(()); }
        copy(by_address(to, from, bytes), stream)
    }
    NoCapture cuMemcpyHtoD_v2(to: u64, from: usize, bytes: usize) {
        if bytes == 0 { return Ok(()); }
        copy_now(Copy::of_bytes(to as usize, false, from, true, bytes))
    }
    NoCapture cuMemcpyDtoH_v2(to: usize, from: u64, bytes: usize) {
        if bytes == 0 { return Ok(()); }
        copy_now(Copy::of_bytes(to, true, from as usize, false, bytes))
    }
    NoCapture cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        if bytes == 0 { return Ok(()); }
        copy_now(Copy::of_bytes(to as usize, false, from as usize, false, bytes))
    }
    NoCapture cuMemcpy(to: u64, from: u64, bytes: usize) {
        if bytes == 0 { return Ok(()); }
        copy_now(by_address(to, from, bytes))
    }
    Context cuMemcpy3DAsync_v2(params: In<CopyWords>, stream: Handle) { copy(rows(params)?, stream) }
    NoCapture cuMemcpy3D_v2(params: In<CopyWords>) { copy_now(rows(params)?) }
    Context cuMemcpy2DAsync_v2(params: In<[usize; 16]>, stream: Handle) { copy(plane(params)?, stream) }
    NoCapture cuMemcpy2D_v2(params: In<[usize; 16]>) { copy_now(plane(params)?) }
    Context cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) {
        fill(Fill::row(to, value.into(), 1, count), stream)
    }
    Context cuMemsetD16Async(to: u64, value: u16, count: usize, stream: Handle) {
        fill(Fill::row(to, value.into(), 2, count), stream)
    }
    Context cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) {
        fill(Fill::row(to, value, 4, count), stream)
    }
    Context cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
        fill(Fill { to, pitch, value: value.into(), element: 1, width, height }, stream)
    }
    Context cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
        fill(Fill { to, pitch, value, element: 4, width, height }, stream)
    }
    NoCapture cuMemsetD8_v2(to: u64, value: u8, count: usize) { fill_now(Fill::row(to, value.into(), 1, count)) }
    NoCapture cuMemsetD16_v2(to: u64, value: u16, count: usize) { fill_now(Fill::row(to, value.into(), 2, count)) }
    NoCapture cuMemsetD32_v2(to: u64, value: u32, count: usize) { fill_now(Fill::row(to, value, 4, count)) }
    Context cuMemcpyPeerAsync(to: u64, _to_context: Handle, from: u64, _context: Handle, bytes: usize, stream: Handle) {
        if bytes == 0 {
            return refuse("0 bytes are to be copied");
        }
        copy(Copy::of_bytes(to as usize, false, from as usize, false, bytes), stream)
    }
}
