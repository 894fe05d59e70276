//! Memory: allocations, arrays, address ranges, and copies outside of graphs, which are done.

use super::*;

/// Does the work of a call on a stream, now or later, unless the stream captures it.
fn run(
    mut state: MutexGuard<'static, State>,
    call: &str,
    stream: Handle,
    is_late: bool,
    work: impl FnOnce() + Send + 'static,
) -> u32 {
    let runs = state.queue(call, stream);
    drop(state);
    if runs == Ok(true) {
        late::run(stream, is_late, work);
    }
    runs.err().unwrap_or(0)
}

api! {
    bound cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let state = state();
        let used: usize = state.memory[0].values().chain(state.mapped.values()).sum();
        put(free, (64 << 30) - used) | put(total, 64 << 30)
    }

    bound cuMemAlloc_v2(out: *mut usize, bytes: usize) { put(out, state().allocate(0, bytes)) }
    bound cuMemFree_v2(address: usize) { state().free(CALL, 0, address) }
    bound cuMemHostAlloc(out: *mut usize, bytes: usize, _flags: u32) { put(out, state().allocate(1, bytes)) }
    bound cuMemFreeHost(address: usize) { state().free(CALL, 1, address) }
    free cuDeviceTotalMem_v2(out: *mut usize, _device: c_int) { put(out, 16 << 20) }
    free cuMemGetAllocationGranularity(out: *mut usize, _properties: *const c_void, _option: u32) { put(out, GRANULARITY) }
    free cuMemAddressReserve(out: *mut usize, bytes: usize, _alignment: usize, _wanted: usize, _flags: u64) {
        let mut state = state();
        let address = state.allocate(1, bytes);
        state.reserved.insert(address, bytes);
        put(out, address)
    }
    free cuMemAddressFree(address: usize, bytes: usize) {
        let mut state = state();
        if state.reserved.remove(&address) != Some(bytes) {
            mistake(CALL, &format!("{bytes} bytes from {address:#x} on are not reserved"));
        }
        if state.mapped.keys().any(|mapped| (address..address + bytes).contains(mapped)) {
            mistake(CALL, "there is memory");
        }
        state.free(CALL, 1, address)
    }
    bound cuMemCreate(out: *mut u64, bytes: usize, _properties: *const c_void, _flags: u64) {
        if !bytes.is_multiple_of(GRANULARITY) {
            mistake(CALL, &format!("{bytes} bytes"));
        }
        put(out, state().add(Object::Memory { bytes }) as u64)
    }
    free cuMemRelease(handle: u64) {
        match state().remove(CALL, handle as Handle) {
            Object::Memory { .. } => 0,
            other => mistake(CALL, &format!("{handle:#x} is no memory: {other:?}")),
        }
    }
    free cuMemMap(address: usize, bytes: usize, _offset: usize, handle: u64, _flags: u64) {
        let mut state = state();
        if !matches!(state.objects.get(&(handle as Handle)), Some(Object::Memory { bytes: all }) if *all == bytes) {
            mistake(CALL, &format!("{handle:#x} is no memory of {bytes} bytes"));
        }
        if !state.reserved.iter().any(|(first, len)| *first <= address && address + bytes <= first + len) {
            mistake(CALL, &format!("{bytes} bytes from {address:#x} on are not reserved"));
        }
        if state.mapped.iter().any(|(first, len)| *first < address + bytes && address < first + len) {
            mistake(CALL, "there is memory");
        }
        state.mapped.insert(address, bytes);
        0
    }
    free cuMemUnmap(address: usize, bytes: usize) {
        if state().mapped.remove(&address) != Some(bytes) {
            mistake(CALL, &format!("{bytes} bytes from {address:#x} on were not mapped as one"));
        }
        0
    }
    free cuMemSetAccess(address: usize, bytes: usize, _access: *const c_void, count: usize) {
        if state().mapped.get(&address) != Some(&bytes) || count != 1 {
            mistake(CALL, &format!("{bytes} bytes from {address:#x} on were not mapped as one"));
        }
        0
    }
    bound cuMemHostRegister_v2(address: usize, bytes: usize, _flags: u32) {
        let mut state = state();
        if state.registered.iter().any(|(first, len)| *first < address + bytes && address < first + len) {
            return 712;
        }
        state.registered.insert(address, bytes);
        0
    }
    bound cuMemHostUnregister(address: usize) {
        if state().registered.remove(&address).is_none() {
            mistake(CALL, &format!("{address:#x} is not registered"));
        }
        0
    }
    bound cuMemsetD8Async(to: usize, value: u8, bytes: usize, stream: Handle) {
        let state = state();
        state.check(CALL, to, bytes);
        run(state, CALL, stream, true, move || ptr::write_bytes(to as *mut u8, value, bytes))
    }
    bound cuArray3DCreate_v2(out: *mut Handle, descriptor: *const usize) {
        // The width, the height, the depth, the format and the number of channels, and the flags.
        let [width, height, depth, texel, flags] = *descriptor.cast::<[usize; 5]>();
        let channel = match texel as u32 {
            1 | 8 => 1,
            2 | 9 => 2,
            3 | 10 | 32 => 4,
            _ => return INVALID_VALUE,
        };
        let layered = flags & 1 == 1;
        if width == 0 || !matches!(texel >> 32, 1 | 2 | 4) || depth != 0 && height == 0 && !layered || depth == 0 && layered {
            return INVALID_VALUE;
        }
        let texel = channel * (texel >> 32);
        put(out, state().add(Object::Array { texel, plane: texel * width * height.max(1) }))
    }
    bound cuArrayDestroy(array: Handle) {
        match state().remove(CALL, array) {
            Object::Array { .. } => 0,
            other => mistake(CALL, &format!("{array:#x} is no array: {other:?}")),
        }
    }
    bound cuMemcpy3DAsync_v2(params: *const usize, stream: Handle) {
        let [to, width, height, depth] = [18, 22, 23, 24].map(|at| *params.add(at));
        let mut state = state();
        let (_, plane) = state.array(CALL, to);
        if width * height > plane || depth != 1 {
            mistake(CALL, "only a plane is copied");
        }
        state.queue(CALL, stream).err().unwrap_or(0)
    }
    bound cuMemcpyHtoDAsync_v2(to: usize, from: *const u8, bytes: usize, stream: Handle) {
        let state = state();
        state.check(CALL, to, bytes);
        let (is_late, from) = (state.is_page_locked(from as usize), from as usize);
        run(state, CALL, stream, is_late, move || ptr::copy(from as *const u8, to as *mut u8, bytes))
    }
    bound cuMemcpyDtoHAsync_v2(to: *mut u8, from: usize, bytes: usize, stream: Handle) {
        let state = state();
        state.check(CALL, from, bytes);
        let (is_late, to) = (state.is_page_locked(to as usize), to as usize);
        run(state, CALL, stream, is_late, move || ptr::copy(from as *const u8, to as *mut u8, bytes))
    }
    bound cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: Handle) {
        let state = state();
        state.check(CALL, from, bytes);
        state.check(CALL, to, bytes);
        run(state, CALL, stream, true, move || ptr::copy(from as *const u8, to as *mut u8, bytes))
    }
}
