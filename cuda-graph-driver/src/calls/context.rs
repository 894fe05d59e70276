//! The library, devices and contexts.

use super::calls;
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{self, INVALID_CONTEXT, NOT_FOUND, fail};
use crate::device::{MAX_SHARED, PROCESSORS, SHARED};
use crate::handle::Handle;
use crate::queue::Mark;
use crate::rules;
use crate::settings::SETTINGS;
use crate::state::{Context, IN_FUNCTION, Object, current, state, with_stack};
use crate::{log, record};
use std::ffi::c_char;

/// The device's name. Programs look for the maker's.
const NAME: &[u8] = b"NVIDIA software driver (cuda-graph-driver)\0";

/// The value of an attribute of the device: one of compute capability 9.0.
fn attribute(attribute: u32) -> i32 {
    match attribute {
        1 => 1024,            // threads of a block
        2 | 3 => 1024,        // block in x and y
        4 => 64,              // block in z
        5 => i32::MAX,        // grid in x
        6 | 7 => 65_535,      // grid in y and z
        8 => SHARED as i32,   // shared memory of a block
        9 => 65_536,          // constant memory
        10 => 32,             // warp
        11 => i32::MAX,       // pitch
        12 | 82 => 65_536,    // registers of a block, and of a processor
        13 | 36 => 1_000_000, // clock rates
        14 => 512,            // alignment of textures
        16 => PROCESSORS,
        17 | 20 | 32 | 35 | 50 => 0,           // time limit, mode, ECC, TCC, PCI domain
        18 => 0,                               // integrated
        19 | 31 | 41 => 1,                     // maps host memory, concurrent kernels, unified addressing
        21..=30 | 42..=49 | 51..=74 => 32_768, // sizes of textures and surfaces
        33 | 34 => 0,                          // PCI bus and device
        37 => 512,                             // width of the memory bus
        38 => 50 << 20,                        // second-level cache
        39 => 2048,                            // threads of a processor
        40 => 2,                               // copy engines
        75 => 9,                               // compute capability
        76 => 0,
        81 => 228 << 10,         // shared memory of a processor
        83 => 1,                 // managed memory
        88 | 100 => 0,           // pageable memory
        89 => 1,                 // concurrent managed access
        95 => 1,                 // cooperative launch
        97 => MAX_SHARED as i32, // shared memory that a function may be allowed
        98 | 99 => 1,            // flush of remote writes, host registration
        102 => 1,                // memory apart from addresses
        106 => 32,               // blocks of a processor
        111 => 1024,             // reserved shared memory
        115 => 0,                // memory pools
        120 => 1,                // clusters
        _ => 0,
    }
}

/// Makes sure that there is such a device.
fn check(device: i32) -> code::Done {
    if (0..SETTINGS.devices).contains(&device) {
        return Ok(());
    }
    rules::NO_SUCH_DEVICE.refuse()
}

/// The handle of the primary context of a device.
fn primary(device: i32) -> Handle {
    let mut state = state();
    match state.primary.get(&device) {
        Some(primary) => *primary,
        None => {
            let made = state.add(Object::Context(Context::of(device)));
            state.primary.insert(device, made);
            made
        }
    }
}

fn create(out: Out<Handle>, device: i32) -> code::Done {
    check(device)?;
    let made = state().add(Object::Context(Context::of(device)));
    with_stack(|stack| stack.push(made));
    out.put(made)
}

/// A number for each device that no other one has.
fn uuid(device: i32) -> [u8; 16] {
    let mut uuid = *b"cuda-graph-drive";
    uuid[15] = uuid[15].wrapping_add(device as u8);
    uuid
}

/// Lets kernels of the current context reach the memory of a context of another device.
fn enable_peer(peer: Handle) -> code::Done {
    let mut state = state();
    let own = current().unwrap_or_default();
    if SETTINGS.no_peers || state.context(peer)?.device == state.context(own)?.device {
        return fail(
            code::PEER_ACCESS_UNSUPPORTED,
            "the device does not reach the memory of the other one",
        );
    }
    let peers = &mut state.context_mut(own)?.peers;
    if peers.contains(&peer) {
        return fail(
            code::PEER_ACCESS_ALREADY_ENABLED,
            "the context reaches that memory already",
        );
    }
    peers.push(peer);
    Ok(())
}

/// Takes back [`enable_peer`].
fn disable_peer(peer: Handle) -> code::Done {
    let mut state = state();
    let peers = &mut state.context_mut(current().unwrap_or_default())?.peers;
    match peers.iter().position(|known| *known == peer) {
        Some(index) => {
            peers.remove(index);
            Ok(())
        }
        None => fail(code::PEER_ACCESS_NOT_ENABLED, "the context does not reach that memory"),
    }
}

/// Waits for all work of a context.
fn synchronize(context: Handle) -> code::Done {
    let captured: Vec<u64> = {
        let state = state();
        let capturing = state
            .streams(context)
            .filter_map(|(_, stream)| stream.capturing.as_ref());
        capturing.map(|capturing| capturing.capture).collect()
    };
    if !captured.is_empty() {
        let mut state = state();
        captured.into_iter().for_each(|capture| state.invalidate(capture));
        return fail(code::CAPTURE_UNSUPPORTED, "a stream of the context is being captured");
    }
    let ends = state().all_work(context);
    ends.iter().for_each(Mark::wait);
    state().check_context(context)
}

calls! {
    Nothing cuInit(_flags: u32) { Ok(()) }
    Nothing cuDriverGetVersion(out: Out<i32>) { out.put(SETTINGS.version) }
    Nothing cuDeviceGetCount(out: Out<i32>) { out.put(SETTINGS.devices) }
    Nothing cuDeviceGet(out: Out<i32>, ordinal: i32) {
        check(ordinal)?;
        out.put(ordinal)
    }
    Nothing cuDeviceGetName(out: Out<u8>, room: i32, device: i32) {
        check(device)?;
        out.put_list(NAME.iter().copied(), room.max(0) as usize)
    }
    Nothing cuDeviceGetUuid(out: Out<[u8; 16]>, device: i32) {
        check(device)?;
        out.put(uuid(device))
    }
    Nothing cuDeviceGetUuid_v2(out: Out<[u8; 16]>, device: i32) {
        check(device)?;
        out.put(uuid(device))
    }
    Nothing cuDeviceTotalMem_v2(out: Out<usize>, device: i32) {
        check(device)?;
        out.put(SETTINGS.memory)
    }
    Nothing cuDeviceGetAttribute(out: Out<i32>, asked: u32, device: i32) {
        check(device)?;
        if asked == 0 || asked > 200 {
            return refuse(format!("there is no attribute {asked}"));
        }
        out.put(attribute(asked))
    }
    Nothing cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        check(device)?;
        major.put(9)?;
        minor.put(0)
    }
    Nothing cuDevicePrimaryCtxRetain(out: Out<Handle>, device: i32) {
        check(device)?;
        out.put(primary(device))
    }
    Nothing cuDevicePrimaryCtxRelease_v2(device: i32) { check(device) }
    Nothing cuDevicePrimaryCtxSetFlags_v2(device: i32, _flags: u32) { check(device) }
    Nothing cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        check(device)?;
        flags.put(0)?;
        active.put(i32::from(!SETTINGS.no_primary))
    }
    Nothing cuCtxCreate_v2(out: Out<Handle>, _flags: u32, device: i32) { create(out, device) }
    Nothing cuCtxCreate_v3(out: Out<Handle>, _affinity: usize, _count: i32, _flags: u32, device: i32) {
        create(out, device)
    }
    Nothing cuCtxCreate_v4(out: Out<Handle>, _params: usize, _flags: u32, device: i32) { create(out, device) }
    Nothing cuCtxDestroy_v2(context: Handle) {
        let ends: Vec<Mark> = {
            let mut state = state();
            state.context(context)?;
            state.all_work(context)
        };
        ends.iter().for_each(Mark::wait);
        let mut state = state();
        state.blocks.retain(|block| block.context != context);
        state.remove(context);
        with_stack(|stack| stack.retain(|other| *other != context));
        Ok(())
    }
    Nothing cuCtxGetCurrent(out: Out<Handle>) { out.put(current().unwrap_or(0)) }
    Nothing cuCtxSetCurrent(context: Handle) {
        if IN_FUNCTION.get() {
            return fail(code::NOT_PERMITTED, "a host function makes no calls");
        }
        if context != 0 {
            state().context(context)?;
        }
        with_stack(|stack| {
            stack.pop();
            stack.extend((context != 0).then_some(context));
        });
        Ok(())
    }
    Nothing cuCtxPushCurrent_v2(context: Handle) {
        state().context(context)?;
        with_stack(|stack| stack.push(context));
        Ok(())
    }
    Nothing cuCtxPopCurrent_v2(out: Out<Handle>) {
        match with_stack(Vec::pop) {
            Some(context) => out.offer(context),
            None => fail(INVALID_CONTEXT, "no context is current"),
        }
    }
    AnyContext cuCtxGetDevice(out: Out<i32>) {
        let device = state().context(current().unwrap_or_default())?.device;
        out.put(device)
    }
    Nothing cuDeviceCanAccessPeer(out: Out<i32>, device: i32, other: i32) {
        check(device)?;
        check(other)?;
        out.put(i32::from(device != other && !SETTINGS.no_peers))
    }
    Context cuCtxEnablePeerAccess(peer: Handle, _flags: u32) { enable_peer(peer) }
    Context cuCtxDisablePeerAccess(peer: Handle) { disable_peer(peer) }
    AnyContext cuCtxGetApiVersion(_context: Handle, out: Out<u32>) { out.put(3020) }
    AnyContext cuCtxGetFlags(out: Out<u32>) { out.put(0) }
    AnyContext cuCtxSetFlags(_flags: u32) { Ok(()) }
    AnyContext cuCtxGetLimit(out: Out<usize>, _limit: u32) { out.put(1 << 20) }
    AnyContext cuCtxSetLimit(_limit: u32, _value: usize) { Ok(()) }
    AnyContext cuCtxGetCacheConfig(out: Out<u32>) { out.put(0) }
    AnyContext cuCtxSetCacheConfig(_config: u32) { Ok(()) }
    Context cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        least.offer(0)?;
        greatest.offer(-5)
    }
    Context cuCtxSynchronize() {
        match current() {
            Some(context) => synchronize(context),
            None => fail(INVALID_CONTEXT, "no context is current"),
        }
    }
    Nothing cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        let before = record::exchange_mode(mode.get()?)?;
        mode.put(before)
    }
    Nothing cuGetErrorName(asked: u32, out: Out<*const c_char>) {
        match code::name(asked) {
            Some(name) => out.put(name.as_ptr()),
            None => refuse(format!("there is no code {asked}")),
        }
    }
    Nothing cuGetErrorString(asked: u32, out: Out<*const c_char>) {
        match code::name(asked) {
            Some(name) => out.put(name.as_ptr()),
            None => refuse(format!("there is no code {asked}")),
        }
    }
    Nothing cuLogsRegisterCallback(receive: log::Receive, data: usize, handle: Out<usize>) {
        handle.offer(log::register(receive, data))
    }
    Nothing cuLogsUnregisterCallback(handle: usize) {
        log::unregister(handle);
        Ok(())
    }
    Nothing cuProfilerStart() { Ok(()) }
    Nothing cuProfilerStop() { Ok(()) }
    Nothing cuGetExportTable(_out: Out<usize>, _id: In<[u8; 16]>) { fail(NOT_FOUND, "there are no tables") }
}
