//! A CUDA driver that runs nothing, for tests on machines without a GPU. `rustc` makes a `libcuda.so` of this file. It
//! is a `libcudart.so` too: `libcudart.rs` has the functions of that.
//!
//! It is strict: every handle is checked, and the wrong one ends the process with a message; and every call that may
//! need a current context fails without one. Copies and memsets outside of graphs are done; launches do nothing.
//! `FAKE_CUDA_CODE=cuGraphUpload=123456` makes all calls of that name return that code. `FAKE_CUDA_NO_PRIMARY=1` makes
//! its only context one that is not primary. Graphs cannot be launched on a stream that is being captured, as with
//! driver 580; `FAKE_CUDA_CAPTURES_LAUNCHES=1` makes such launches a part of the capture, as older drivers may.
//! `FAKE_CUDA_BUSY=1` makes launches take their time, as far as `cuEventQuery` tells: an event comes only when a host
//! function that waits for it is about to run; with `FAKE_CUDA_BUSY=forever`, none comes, and no host function runs.
//! With `FAKE_CUDA_LATE=1`, launches do something, a moment later: see `late.rs`.
#![allow(non_snake_case, unused_unsafe, reason = "the functions are CUDA's, and not all bodies have unsafe code")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const INVALID_VALUE: u32 = 1;
const INVALID_CONTEXT: u32 = 201;
const INVALID_PTX: u32 = 218;
const ILLEGAL_STATE: u32 = 401;
const NOT_FOUND: u32 = 500;
const NOT_READY: u32 = 600;
const NOT_SUPPORTED: u32 = 801;
const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURE_INVALIDATED: u32 = 901;
const CAPTURED_EVENT: u32 = 907;
const UPDATE_FAILURE: u32 = 910;

/// The sizes of `CUDA_KERNEL_NODE_PARAMS`, `CUDA_MEMCPY3D`, `CUDA_MEMSET_NODE_PARAMS` and `CUDA_HOST_NODE_PARAMS`.
const LAUNCH: usize = 72;
const COPY: usize = 200;
const SET: usize = 40;
const FUNCTION: usize = 16;
/// The steps in which memory is mapped.
const GRANULARITY: usize = 2 << 20;

/// A handle: never an address that anybody could read through.
type Handle = usize;

/// The only context.
const CONTEXT: Handle = 0x10;
const KERNEL: u32 = 0;
const MEMCPY: u32 = 1;
const MEMSET: u32 = 2;
const HOST: u32 = 3;
const CHILD: u32 = 4;
const EMPTY: u32 = 5;
const WAIT: u32 = 6;
const RECORD: u32 = 7;
const CONDITIONAL: u32 = 13;

/// The values of attributes that were set, by their numbers.
type Attributes = HashMap<u32, [u8; 64]>;

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
static CODE: LazyLock<Option<(String, u32)>> = LazyLock::new(|| {
    let text = std::env::var("FAKE_CUDA_CODE").ok()?;
    let (name, code) = text.split_once('=')?;
    Some((name.to_owned(), code.parse().ok()?))
});

static CAPTURES_LAUNCHES: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FAKE_CUDA_CAPTURES_LAUNCHES").is_some());

static BUSY: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("FAKE_CUDA_BUSY").ok());

thread_local! {
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
    static MODE: Cell<u32> = const { Cell::new(0) };
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process, since the caller made a mistake that a GPU might not survive either.
fn mistake(call: &str, what: &str) -> ! {
    eprintln!("fake libcuda: {call}: {what}");
    std::process::abort()
}

/// Declares functions. `bound` ones need a current context.
macro_rules! api {
    ($($kind:ident $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            const CALL: &str = stringify!($name);
            if let Some((name, code)) = &*CODE && name == CALL {
                return *code;
            }
            if stringify!($kind) == "bound" && CURRENT.get() != CONTEXT {
                return INVALID_CONTEXT;
            }
            // SAFETY: the caller's arguments are as CUDA asks; this library checks that as far as it can.
            unsafe { $body }
        }
    )*};
}

mod state;
mod memory;
mod graphs;
mod late;
mod libcudart;

use graphs::*;
use state::*;

/// What it takes to write a handle or a number where the caller asked for it.
unsafe fn put<T>(out: *mut T, value: T) -> u32 {
    // SAFETY: the caller has room for it.
    unsafe { out.write(value) };
    0
}

api! {
    free cuInit(_flags: u32) { 0 }
    free cuDriverGetVersion(out: *mut c_int) { put(out, libcudart::version()) }
    free cuDeviceGetCount(out: *mut c_int) { put(out, 1) }
    free cuDeviceGet(out: *mut c_int, _ordinal: c_int) { put(out, 0) }
    free cuDeviceGetName(out: *mut c_char, _len: c_int, _device: c_int) {
        for (index, &byte) in b"NVIDIA Fake\0".iter().enumerate() {
            put(out.add(index), byte as c_char);
        }
        0
    }
    free cuDeviceGetAttribute(out: *mut c_int, attribute: u32, _device: c_int) {
        put(out, match attribute {
            16 => 132,              // multiprocessors
            75 => 9,                // compute capability
            76 | 115 => 0,          // its minor number; memory pools
            97 => 232_448,          // shared memory
            _ => 1,
        })
    }
    free cuDevicePrimaryCtxRetain(out: *mut Handle, _device: c_int) { put(out, CONTEXT) }
    free cuDevicePrimaryCtxRelease_v2(_device: c_int) { 0 }
    free cuDevicePrimaryCtxGetState(_device: c_int, flags: *mut u32, active: *mut c_int) {
        put(flags, 0);
        put(active, c_int::from(std::env::var_os("FAKE_CUDA_NO_PRIMARY").is_none()))
    }
    free cuCtxGetCurrent(out: *mut Handle) { put(out, CURRENT.get()) }
    free cuCtxSetCurrent(context: Handle) {
        if context != 0 && context != CONTEXT {
            mistake(CALL, "this is no context");
        }
        CURRENT.set(context);
        0
    }
    bound cuCtxSynchronize() {
        let capturing = |object: &Object| matches!(object, Object::Stream { capture: 1 | 2, .. });
        if state().objects.values().any(capturing) {
            return CAPTURE_UNSUPPORTED;
        }
        late::synchronize();
        0
    }
    bound cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) { put(least, 0) | put(greatest, -5) }
    free cuThreadExchangeStreamCaptureMode(mode: *mut u32) { *mode = MODE.replace(*mode); 0 }
    free cuGetErrorName(code: u32, out: *mut *const c_char) {
        let name = match code {
            0 => c"CUDA_SUCCESS",
            1 => c"CUDA_ERROR_INVALID_VALUE",
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            201 => c"CUDA_ERROR_INVALID_CONTEXT",
            218 => c"CUDA_ERROR_INVALID_PTX",
            401 => c"CUDA_ERROR_ILLEGAL_STATE",
            500 => c"CUDA_ERROR_NOT_FOUND",
            900 => c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            901 => c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
            907 => c"CUDA_ERROR_CAPTURED_EVENT",
            910 => c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
            999 => c"CUDA_ERROR_UNKNOWN",
            _ => return INVALID_VALUE,
        };
        put(out, name.as_ptr())
    }
    free cuGetErrorString(code: u32, out: *mut *const c_char) { cuGetErrorName(code, out) }
    bound cuStreamCreate(out: *mut Handle, _flags: u32) { put(out, state().add(Object::Stream { capture: 0, nodes: 0 })) }
    bound cuStreamDestroy_v2(stream: Handle) {
        let mut state = state();
        state.stream(CALL, stream);
        state.remove(CALL, stream);
        0
    }
    bound cuStreamGetId(stream: Handle, out: *mut u64) {
        state().stream(CALL, stream);
        put(out, stream as u64)
    }
    bound cuStreamSynchronize(stream: Handle) {
        let mut state = state();
        let (capture, _) = state.stream(CALL, stream);
        if *capture == 0 {
            drop(state);
            late::stream_has_ended(stream, true);
            return 0;
        }
        *capture = 2;
        CAPTURE_UNSUPPORTED
    }
    bound cuStreamQuery(stream: Handle) {
        if late::stream_has_ended(stream, false) { cuStreamSynchronize(stream) } else { NOT_READY }
    }
    bound cuLogsRegisterCallback(_callback: *const c_void, _data: *mut c_void, _handle: *mut *mut c_void) { 0 }
    bound cuStreamWaitEvent(stream: Handle, event: Handle, _flags: u32) {
        let mut state = state();
        state.event(CALL, event);
        state.waits.insert(stream, event);
        late::wait_event(stream, event);
        state.queue(CALL, stream).err().unwrap_or(0)
    }
    bound cuLaunchHostFunc(stream: Handle, function: unsafe extern "C" fn(*mut c_void), data: usize) {
        let mut state = state();
        let waits = state.waits.get(&stream).copied();
        if let Err(code) = state.queue(CALL, stream) {
            return code;
        }
        if BUSY.as_deref() != Some("forever") {
            late::call(stream, move || {
                if let Some(event) = waits {
                    self::state().set_busy(event, false);
                }
                function(data as *mut c_void);
            });
        }
        0
    }
    bound cuLaunchHostFunc_v2(
        stream: Handle, _function: unsafe extern "C" fn(*mut c_void), _data: usize, _sync_mode: u32
    ) {
        state().stream(CALL, stream);
        NOT_SUPPORTED // as a driver may say that has the function
    }
    bound cuStreamIsCapturing(stream: Handle, out: *mut u32) { put(out, *state().stream(CALL, stream).0) }
    bound cuStreamBeginCapture_v2(stream: Handle, _mode: u32) {
        let mut state = state();
        let (capture, nodes) = state.stream(CALL, stream);
        if *capture != 0 {
            return ILLEGAL_STATE;
        }
        (*capture, *nodes) = (1, 0);
        0
    }
    bound cuStreamEndCapture(stream: Handle, out: *mut Handle) {
        let mut state = state();
        let (capture, count) = state.stream(CALL, stream);
        let (was, count) = (std::mem::take(capture), *count);
        put(out, 0);
        match was {
            0 => return ILLEGAL_STATE,
            1 => {}
            _ => return CAPTURE_INVALIDATED,
        }
        let node = || Object::Node {
            kind: MEMCPY,
            graphs: &[],
            after: Vec::new(),
            params: vec![0; COPY],
            attributes: Attributes::new(),
        };
        let nodes = (0..count).map(|_| state.add(node())).collect();
        put(out, state.add(Object::Graph { nodes }))
    }

    bound cuEventCreate(out: *mut Handle, _flags: u32) { put(out, state().add(Object::Event { captured: false, busy: false })) }
    bound cuEventDestroy_v2(event: Handle) {
        let mut state = state();
        state.event(CALL, event);
        state.remove(CALL, event);
        0
    }
    bound cuEventRecord(event: Handle, stream: Handle) {
        let mut state = state();
        match state.queue(CALL, stream) {
            Ok(runs) => *state.event(CALL, event) = !runs,
            Err(code) => return code,
        }
        late::record(event, stream);
        state.set_busy(event, BUSY.is_some());
        0
    }
    bound cuEventQuery(event: Handle) {
        let mut state = state();
        match (*state.event(CALL, event), &state.objects[&event]) {
            (true, _) => CAPTURED_EVENT,
            (false, Object::Event { busy: true, .. }) => NOT_READY,
            (false, _) if late::event_has_come(event, false) => 0,
            (false, _) => NOT_READY,
        }
    }
    bound cuEventSynchronize(event: Handle) {
        if *state().event(CALL, event) {
            return CAPTURED_EVENT;
        }
        late::event_has_come(event, true);
        0
    }

    bound cuModuleLoadData(out: *mut Handle, image: *const c_char) {
        let text = CStr::from_ptr(image).to_string_lossy().into_owned();
        if text.contains("no_such_instruction") {
            return INVALID_PTX;
        }
        let mut state = state();
        let mut variables = Vec::new();
        // The variables of the tests' modules: as a GPU does, each module gets its own.
        for (name, bytes) in [("table", 16), ("totals", 8)] {
            if text.contains(&format!(" {name}[")) {
                let address = state.allocate(1, bytes);
                state.memory[1].remove(&address);
                variables.push((name.to_owned(), address, bytes));
            }
        }
        put(out, state.add(Object::Module { text, variables }))
    }
    bound cuModuleLoadDataEx(
        out: *mut Handle, image: *const c_char, _count: u32, _options: *const u32, _values: *const *const c_void
    ) {
        cuModuleLoadData(out, image)
    }
    bound cuModuleUnload(module: Handle) {
        let mut state = state();
        state.module(CALL, module);
        state.remove(CALL, module);
        0
    }
    bound cuModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) {
        let mut state = state();
        let name = CStr::from_ptr(name).to_string_lossy();
        let (text, _) = state.module(CALL, module);
        let Some((_, rest)) = text.split_once(&format!(".entry {name}(")) else {
            return NOT_FOUND;
        };
        let parameters = rest.split_once(')').map_or("", |(parameters, _)| parameters);
        let sizes = parameters.split(',').filter_map(size).collect();
        let name = CString::new(&*name).expect("it has no zero byte");
        put(out, state.add(Object::Function { name, sizes }))
    }
    bound cuLibraryLoadData(
        out: *mut Handle, image: *const c_char, _options: *const u32, _values: *const *const c_void, _count: u32,
        _library_options: *const u32, _library_values: *const *const c_void, _library_count: u32
    ) {
        let mut module = 0;
        match cuModuleLoadData(&mut module, image) {
            0 => put(out, state().add(Object::Library { module })),
            code => code,
        }
    }
    bound cuLibraryGetModule(out: *mut Handle, library: Handle) { put(out, state().library(CALL, library)) }
    bound cuLibraryGetKernel(out: *mut Handle, library: Handle, name: *const c_char) {
        let module = state().library(CALL, library);
        let mut function = 0;
        match cuModuleGetFunction(&mut function, module, name) {
            0 => put(out, state().add(Object::Kernel { function })),
            code => code,
        }
    }
    bound cuKernelGetFunction(out: *mut Handle, kernel: Handle) { put(out, state().kernel(CALL, kernel)) }
    bound cuLibraryUnload(library: Handle) {
        let module = state().library(CALL, library);
        state().remove(CALL, library);
        cuModuleUnload(module)
    }
    bound cuModuleGetGlobal_v2(address: *mut usize, bytes: *mut usize, module: Handle, name: *const c_char) {
        let state = state();
        let name = CStr::from_ptr(name).to_string_lossy();
        let (_, variables) = state.module(CALL, module);
        match variables.iter().find(|(variable, ..)| *variable == name) {
            Some((_, first, len)) => put(address, *first) | put(bytes, *len),
            None => NOT_FOUND,
        }
    }
    bound cuSurfObjectCreate(out: *mut u64, resource: *const usize) {
        let mut state = state();
        if *resource as u32 != 0 {
            return INVALID_VALUE;
        }
        state.array(CALL, *resource.add(1));
        put(out, state.add(Object::Surface) as u64)
    }
    bound cuSurfObjectDestroy(surface: u64) {
        match state().remove(CALL, surface as Handle) {
            Object::Surface => 0,
            other => mistake(CALL, &format!("{surface:#x} is no surface: {other:?}")),
        }
    }
    bound cuTexObjectCreate(out: *mut u64, resource: *const usize, _mode: *const c_void, _view: *const c_void) {
        let mut state = state();
        // The kind of memory, its address or array, its format and channels, and then its bytes, or the texels of a
        // row, the rows and the bytes of a row.
        let kind = *resource as u32;
        let address = *resource.add(1);
        if kind == 0 {
            state.array(CALL, address);
            return put(out, state.add(Object::Texture) as u64);
        }
        let bytes = match kind {
            2 => *resource.add(3),
            3 => *resource.add(4) * *resource.add(5),
            _ => return INVALID_VALUE,
        };
        if !address.is_multiple_of(512) || bytes == 0 {
            return INVALID_VALUE;
        }
        state.check(CALL, address, bytes);
        put(out, state.add(Object::Texture) as u64)
    }
    bound cuTexObjectDestroy(texture: u64) {
        let mut state = state();
        match state.remove(CALL, texture as Handle) {
            Object::Texture => 0,
            other => mistake(CALL, &format!("{texture:#x} is no texture: {other:?}")),
        }
    }
    bound cuFuncGetAttribute(out: *mut c_int, attribute: u32, function: Handle) {
        state().function(CALL, function);
        put(out, match attribute {
            0 => 1024,
            8 => 49_152,
            _ => 0,
        })
    }
    bound cuFuncSetAttribute(function: Handle, _attribute: u32, _value: c_int) {
        state().function(CALL, function);
        0
    }
    bound cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, bytes: *mut usize) {
        match state().function(CALL, function).get(index) {
            Some(&size) => put(offset, 0) | put(bytes, size),
            None => INVALID_VALUE,
        }
    }
    bound cuOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, function: Handle, _threads: c_int, _shared: usize) {
        state().function(CALL, function);
        put(out, 8)
    }

}

/// The size of a parameter, of its declaration in PTX.
fn size(parameter: &str) -> Option<usize> {
    let (_, after) = parameter.split_once(".param")?;
    let of_type = after.split_whitespace().find_map(|word| {
        let bits = word.strip_prefix('.')?.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        bits.parse::<usize>().ok()
    })?;
    let count = after.split_once('[').and_then(|(_, count)| count.split_once(']')?.0.parse().ok());
    Some(of_type / 8 * count.unwrap_or(1))
}
