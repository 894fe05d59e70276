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

mod late;
mod libcudart;

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

#[derive(Debug)]
enum Object {
    Stream { capture: u32, nodes: usize },
    /// Whether its recording was captured; whether it has not come.
    Event { captured: bool, busy: bool },
    Graph { nodes: Vec<Handle> },
    /// Its kind, and the graphs that belong to it. They are leaked, since CUDA hands out a pointer to the list.
    Node { kind: u32, graphs: &'static [Handle], after: Vec<(Handle, u64)>, params: Vec<u8>, attributes: Attributes },
    /// The number of nodes.
    Exec { nodes: usize },
    Module { text: String, variables: Vec<(String, usize, usize)> },
    /// The module of a library.
    Library { module: Handle },
    /// The kernel of a library: a function of its module.
    Kernel { function: Handle },
    Function { name: CString, sizes: Vec<usize> },
    /// Memory without addresses, of this length.
    Memory { bytes: usize },
    Texture,
    /// A CUDA array, with the bytes of a texel and those of a plane or layer.
    Array { texel: usize, plane: usize },
    Surface,
}

#[derive(Default)]
struct State {
    last: Handle,
    objects: HashMap<Handle, Object>,
    /// The lengths of allocations: of device memory, and of host memory.
    memory: [HashMap<usize, usize>; 2],
    /// The lengths of reserved addresses, which are host memory here, and of memory that was mapped there.
    reserved: HashMap<usize, usize>,
    mapped: HashMap<usize, usize>,
    /// The host memory of others that is page-locked: addresses and bytes.
    registered: HashMap<usize, usize>,
    /// The event that each stream waits for.
    waits: HashMap<Handle, Handle>,
}

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

impl State {
    fn add(&mut self, object: Object) -> Handle {
        self.last += 0x10;
        let handle = CONTEXT + self.last;
        self.objects.insert(handle, object);
        handle
    }

    fn remove(&mut self, call: &str, handle: Handle) -> Object {
        match self.objects.remove(&handle) {
            Some(object) => object,
            None => mistake(call, &format!("{handle:#x} does not live")),
        }
    }

    fn stream(&mut self, call: &str, handle: Handle) -> (&mut u32, &mut usize) {
        match self.objects.get_mut(&handle) {
            Some(Object::Stream { capture, nodes }) => (capture, nodes),
            other => mistake(call, &format!("{handle:#x} is no stream: {other:?}")),
        }
    }

    fn nodes(&mut self, call: &str, handle: Handle) -> &mut Vec<Handle> {
        match self.objects.get_mut(&handle) {
            Some(Object::Graph { nodes }) => nodes,
            other => mistake(call, &format!("{handle:#x} is no graph: {other:?}")),
        }
    }

    fn event(&mut self, call: &str, handle: Handle) -> &mut bool {
        match self.objects.get_mut(&handle) {
            Some(Object::Event { captured, .. }) => captured,
            other => mistake(call, &format!("{handle:#x} is no event: {other:?}")),
        }
    }

    fn set_busy(&mut self, event: Handle, value: bool) {
        if let Some(Object::Event { busy, .. }) = self.objects.get_mut(&event) {
            *busy = value;
        }
    }

    fn node(&self, call: &str, handle: Handle) -> (u32, &'static [Handle]) {
        match self.objects.get(&handle) {
            Some(Object::Node { kind, graphs, .. }) => (*kind, graphs),
            other => mistake(call, &format!("{handle:#x} is no node: {other:?}")),
        }
    }

    fn exec(&self, call: &str, handle: Handle) -> usize {
        match self.objects.get(&handle) {
            Some(Object::Exec { nodes }) => *nodes,
            other => mistake(call, &format!("{handle:#x} is no executable graph: {other:?}")),
        }
    }

    fn module(&self, call: &str, handle: Handle) -> (&str, &[(String, usize, usize)]) {
        match self.objects.get(&handle) {
            Some(Object::Module { text, variables }) => (text, variables),
            other => mistake(call, &format!("{handle:#x} is no module: {other:?}")),
        }
    }

    fn library(&self, call: &str, handle: Handle) -> Handle {
        match self.objects.get(&handle) {
            Some(Object::Library { module }) => *module,
            other => mistake(call, &format!("{handle:#x} is no library: {other:?}")),
        }
    }

    /// The function of a kernel.
    fn kernel(&self, call: &str, handle: Handle) -> Handle {
        match self.objects.get(&handle) {
            Some(Object::Kernel { function }) => *function,
            other => mistake(call, &format!("{handle:#x} is no kernel: {other:?}")),
        }
    }

    fn function(&self, call: &str, handle: Handle) -> &[usize] {
        match self.objects.get(&handle) {
            Some(Object::Function { sizes, .. }) => sizes,
            other => mistake(call, &format!("{handle:#x} is no function: {other:?}")),
        }
    }

    /// Removes a graph with all its nodes and their graphs.
    fn remove_graph(&mut self, call: &str, handle: Handle) {
        let nodes = std::mem::take(self.nodes(call, handle));
        self.remove(call, handle);
        for node in nodes {
            let (_, graphs) = self.node(call, node);
            self.remove(call, node);
            graphs.iter().for_each(|&graph| self.remove_graph(call, graph));
        }
    }

    unsafe fn allocate(&mut self, kind: usize, bytes: usize) -> usize {
        // SAFETY: nobody asks for more than a test needs; 0 bytes become 1.
        let address = unsafe { alloc_zeroed(Layout::from_size_align(bytes.max(1), 512).expect("it is small")) } as usize;
        self.memory[kind].insert(address, bytes.max(1));
        address
    }

    unsafe fn free(&mut self, call: &str, kind: usize, address: usize) -> u32 {
        let Some(bytes) = self.memory[kind].remove(&address) else {
            mistake(call, &format!("{address:#x} is not allocated"));
        };
        // SAFETY: it was allocated so.
        unsafe { dealloc(address as *mut u8, Layout::from_size_align(bytes, 512).expect("it was one")) };
        0
    }

    /// Whether there are so many bytes of device memory, in an allocation or a variable of a module.
    fn check(&self, call: &str, address: usize, bytes: usize) {
        let holds = |(first, len): (usize, usize)| first <= address && address + bytes <= first + len;
        let variables = self.objects.values().filter_map(|object| match object {
            Object::Module { variables, .. } => Some(variables.iter().map(|(_, first, len)| (*first, *len))),
            _ => None,
        });
        let allocations = self.memory[0].iter().chain(&self.mapped).map(|(first, len)| (*first, *len));
        if !allocations.chain(variables.flatten()).any(holds) {
            mistake(call, &format!("{bytes} bytes from {address:#x} on are not allocated"));
        }
    }

    /// The bytes of a texel of an array, and of a plane or layer.
    fn array(&self, call: &str, handle: Handle) -> (usize, usize) {
        match self.objects.get(&handle) {
            Some(Object::Array { texel, plane }) => (*texel, *plane),
            other => mistake(call, &format!("{handle:#x} is no array: {other:?}")),
        }
    }

    /// Whether there is page-locked memory of the host.
    fn is_page_locked(&self, address: usize) -> bool {
        let allocated = self.memory[1].iter().filter(|(first, _)| !self.reserved.contains_key(first));
        let mut locked = allocated.chain(&self.registered);
        locked.any(|(first, len)| (*first..first + len).contains(&address))
    }

    /// Adds a node to a graph.
    unsafe fn add_node(
        &mut self,
        call: &str,
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        (kind, graphs): (u32, usize),
    ) -> u32 {
        let mut edges = Vec::new();
        for index in 0..count {
            // SAFETY: the caller has `count` handles there.
            let before = unsafe { *after.add(index) };
            if !self.nodes(call, graph).contains(&before) {
                mistake(call, &format!("{before:#x} is no node of the graph"));
            }
            edges.push((before, 0));
        }
        let graphs: Vec<Handle> = (0..graphs).map(|_| self.add(Object::Graph { nodes: Vec::new() })).collect();
        let graphs = Vec::leak(graphs);
        let (params, attributes) = (Vec::new(), Attributes::new());
        let node = self.add(Object::Node { kind, graphs, after: edges, params, attributes });
        self.nodes(call, graph).push(node);
        // SAFETY: the caller has room for the handle.
        unsafe { *out = node };
        0
    }

    /// Notes the parameters of a node, if it was added.
    unsafe fn note(&mut self, added: u32, node: *const Handle, from: *const c_void, bytes: usize) -> u32 {
        // SAFETY: the caller has a handle there if the node was added, and so many bytes of parameters.
        if added == 0 && let Some(Object::Node { params, .. }) = self.objects.get_mut(unsafe { &*node }) {
            // SAFETY: as above.
            *params = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) }.to_vec();
        }
        added
    }

    /// Changes the parameters of a node.
    unsafe fn change(&mut self, call: &str, node: Handle, from: *const c_void, bytes: usize) -> u32 {
        self.node(call, node);
        // SAFETY: by the caller's promise.
        unsafe { self.note(0, &node, from, bytes) }
    }

    /// The nodes of a graph, in the order in which they were added.
    fn copy_of(&self, call: &str, graph: Handle) -> Vec<(Handle, u32, Vec<u8>)> {
        let Some(Object::Graph { nodes }) = self.objects.get(&graph) else {
            mistake(call, &format!("{graph:#x} is no graph"));
        };
        let node = |handle: &Handle| match self.objects.get(handle) {
            Some(Object::Node { kind, params, .. }) => (*handle, *kind, params.clone()),
            other => mistake(call, &format!("{handle:#x} is no node: {other:?}")),
        };
        nodes.iter().map(node).collect()
    }

    /// Tells the parameters of a node of a kind.
    unsafe fn params(&self, call: &str, node: Handle, kind: u32, out: *mut c_void) -> u32 {
        match self.objects.get(&node) {
            Some(Object::Node { kind: found, params, .. }) if *found == kind => {
                // SAFETY: the caller has room for them.
                unsafe { ptr::copy_nonoverlapping(params.as_ptr(), out.cast(), params.len()) };
                0
            }
            other => mistake(call, &format!("{node:#x} is no node of that kind: {other:?}")),
        }
    }

    /// Something is queued on a stream: it runs at once, or is captured.
    fn queue(&mut self, call: &str, stream: Handle) -> Result<bool, u32> {
        let (capture, nodes) = self.stream(call, stream);
        match *capture {
            0 => Ok(true),
            1 => {
                *nodes += 1;
                Ok(false)
            }
            _ => Err(CAPTURE_INVALIDATED),
        }
    }
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
        let mut state = state();
        state.check(CALL, to, bytes);
        match state.queue(CALL, stream) {
            Ok(true) => {
                drop(state);
                late::run(stream, true, move || ptr::write_bytes(to as *mut u8, value, bytes));
            }
            Ok(false) => {}
            Err(code) => return code,
        }
        0
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
        let mut state = state();
        state.check(CALL, to, bytes);
        match state.queue(CALL, stream) {
            Ok(true) => {
                let (is_late, from) = (state.is_page_locked(from as usize), from as usize);
                drop(state);
                late::run(stream, is_late, move || ptr::copy(from as *const u8, to as *mut u8, bytes));
            }
            Ok(false) => {}
            Err(code) => return code,
        }
        0
    }
    bound cuMemcpyDtoHAsync_v2(to: *mut u8, from: usize, bytes: usize, stream: Handle) {
        let mut state = state();
        state.check(CALL, from, bytes);
        match state.queue(CALL, stream) {
            Ok(true) => {
                let (is_late, to) = (state.is_page_locked(to as usize), to as usize);
                drop(state);
                late::run(stream, is_late, move || ptr::copy(from as *const u8, to as *mut u8, bytes));
            }
            Ok(false) => {}
            Err(code) => return code,
        }
        0
    }
    bound cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: Handle) {
        let mut state = state();
        state.check(CALL, from, bytes);
        state.check(CALL, to, bytes);
        match state.queue(CALL, stream) {
            Ok(true) => {
                drop(state);
                late::run(stream, true, move || ptr::copy(from as *const u8, to as *mut u8, bytes));
            }
            Ok(false) => {}
            Err(code) => return code,
        }
        0
    }

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

    bound cuGraphCreate(out: *mut Handle, _flags: u32) { put(out, state().add(Object::Graph { nodes: Vec::new() })) }
    bound cuGraphDestroy(graph: Handle) {
        state().remove_graph(CALL, graph);
        0
    }
    bound cuGraphAddKernelNode_v2(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const Handle
    ) {
        let mut state = state();
        state.function(CALL, *params); // the first field
        let added = state.add_node(CALL, out, graph, after, count, (KERNEL, 0));
        state.note(added, out, params.cast(), LAUNCH)
    }
    bound cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: *const [u8; 64]) {
        match state().objects.get_mut(&node) {
            Some(Object::Node { kind: KERNEL, attributes, .. }) => attributes.insert(attribute, *value),
            other => mistake(CALL, &format!("{node:#x} is no kernel: {other:?}")),
        };
        0
    }
    bound cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, out: *mut [u8; 64]) {
        match state().objects.get(&node) {
            Some(Object::Node { kind: KERNEL, attributes, .. }) => {
                put(out, attributes.get(&attribute).copied().unwrap_or([0; 64]))
            }
            other => mistake(CALL, &format!("{node:#x} is no kernel: {other:?}")),
        }
    }
    bound cuGraphKernelNodeGetParams_v2(node: Handle, out: *mut c_void) { state().params(CALL, node, KERNEL, out) }
    bound cuGraphMemcpyNodeGetParams(node: Handle, out: *mut c_void) { state().params(CALL, node, MEMCPY, out) }
    bound cuGraphMemsetNodeGetParams(node: Handle, out: *mut c_void) { state().params(CALL, node, MEMSET, out) }
    bound cuFuncGetName(out: *mut *const c_char, function: Handle) {
        match state().objects.get(&function) {
            Some(Object::Function { name, .. }) => put(out, name.as_ptr()), // nobody removes functions
            other => mistake(CALL, &format!("{function:#x} is no function: {other:?}")),
        }
    }
    bound cuGraphAddMemcpyNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void, _context: Handle
    ) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (MEMCPY, 0));
        state.note(added, out, params, COPY)
    }
    bound cuGraphAddMemsetNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void, _context: Handle
    ) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (MEMSET, 0));
        state.note(added, out, params, SET)
    }
    bound cuGraphAddHostNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (HOST, 0));
        state.note(added, out, params, FUNCTION)
    }
    bound cuGraphAddEmptyNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        state().add_node(CALL, out, graph, after, count, (EMPTY, 0))
    }
    bound cuGraphAddEventRecordNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    ) {
        let mut state = state();
        state.event(CALL, event);
        state.add_node(CALL, out, graph, after, count, (RECORD, 0))
    }
    bound cuGraphAddEventWaitNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    ) {
        let mut state = state();
        state.event(CALL, event);
        state.add_node(CALL, out, graph, after, count, (WAIT, 0))
    }
    bound cuGraphAddChildGraphNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle
    ) {
        let mut state = state();
        state.nodes(CALL, child);
        state.add_node(CALL, out, graph, after, count, (CHILD, 1))
    }
    bound cuGraphChildGraphNodeGetGraph(node: Handle, out: *mut Handle) {
        match state().node(CALL, node) {
            (CHILD, &[graph]) => put(out, graph),
            _ => INVALID_VALUE,
        }
    }
    bound cuGraphConditionalHandleCreate(out: *mut u64, graph: Handle, _context: Handle, _default: u32, _flags: u32) {
        state().nodes(CALL, graph);
        put(out, 1)
    }
    bound cuGraphAddNode_v2(
        out: *mut Handle, graph: Handle, after: *const Handle, _data: *const c_void, count: usize, params: *mut u8
    ) {
        let mut state = state();
        // `size` and `phGraph_out` of `CUDA_CONDITIONAL_NODE_PARAMS`, which begins at byte 16.
        let size = params.add(16 + 12).cast::<u32>().read();
        let added = state.add_node(CALL, out, graph, after, count, (CONDITIONAL, size as usize));
        let (_, graphs) = state.node(CALL, *out);
        params.add(16 + 16).cast::<*const Handle>().write(graphs.as_ptr());
        added
    }
    bound cuGraphAddDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        let mut state = state();
        for index in 0..count {
            let (from, to) = (*from.add(index), *to.add(index));
            let nodes = state.nodes(CALL, graph);
            if !nodes.contains(&from) || !nodes.contains(&to) {
                mistake(CALL, "not nodes of the graph");
            }
            if let Some(Object::Node { after, .. }) = state.objects.get_mut(&to) {
                after.push((from, *data.add(index)));
            }
        }
        0
    }
    bound cuGraphGetNodes(graph: Handle, out: *mut Handle, count: *mut usize) {
        let mut state = state();
        let nodes = state.nodes(CALL, graph);
        if !out.is_null() {
            let room = (*count).min(nodes.len());
            ptr::copy_nonoverlapping(nodes.as_ptr(), out, room);
        }
        put(count, nodes.len())
    }
    bound cuGraphNodeGetDependencies_v2(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) {
        let state = state();
        let Some(Object::Node { after, .. }) = state.objects.get(&node) else {
            mistake(CALL, "this is no node");
        };
        if !out.is_null() {
            for (index, (before, edge)) in after.iter().take(*count).enumerate() {
                put(out.add(index), *before);
                put(data.add(index), *edge);
            }
        }
        put(count, after.len())
    }
    bound cuGraphNodeGetType(node: Handle, out: *mut u32) { put(out, state().node(CALL, node).0) }
    bound cuGraphMemcpyNodeSetParams(node: Handle, params: *const c_void) { state().change(CALL, node, params, COPY) }
    bound cuGraphMemsetNodeSetParams(node: Handle, params: *const c_void) { state().change(CALL, node, params, SET) }
    bound cuGraphInstantiateWithParams(out: *mut Handle, graph: Handle, _params: *mut c_void) {
        let mut state = state();
        let nodes = state.copy_of(CALL, graph);
        let exec = state.add(Object::Exec { nodes: nodes.len() });
        late::instantiated(exec, nodes.into_iter());
        put(out, exec)
    }
    bound cuGraphInstantiateWithFlags(out: *mut Handle, graph: Handle, _flags: u64) {
        cuGraphInstantiateWithParams(out, graph, ptr::null_mut())
    }
    bound cuGraphExecDestroy(exec: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        state.remove(CALL, exec);
        0
    }
    bound cuGraphExecUpdate_v2(exec: Handle, graph: Handle, _info: *mut c_void) {
        let state = state();
        let nodes = state.copy_of(CALL, graph);
        if state.exec(CALL, exec) != nodes.len() {
            return UPDATE_FAILURE;
        }
        late::instantiated(exec, nodes.into_iter());
        0
    }
    bound cuGraphDebugDotPrint(graph: Handle, _path: *const c_char, _flags: u32) {
        state().nodes(CALL, graph);
        0
    }
    bound cuGraphUpload(exec: Handle, stream: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        state.queue(CALL, stream).err().unwrap_or(0)
    }
    free cuGraphLaunch(exec: Handle, stream: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        let (capture, _) = state.stream(CALL, stream);
        if *capture != 0 && !*CAPTURES_LAUNCHES {
            *capture = 2;
            return CAPTURE_UNSUPPORTED;
        }
        match state.queue(CALL, stream) {
            Ok(true) => late::launch(exec, stream),
            Ok(false) => {}
            Err(code) => return code,
        }
        0
    }
    bound cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, _params: *const c_void) {
        let state = state();
        state.exec(CALL, exec);
        state.node(CALL, node);
        0
    }
    bound cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: *const c_void, _context: Handle) {
        late::set(exec, node, params, SET);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: *const c_void, _context: Handle) {
        late::set(exec, node, params, COPY);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: *const c_void) {
        late::set(exec, node, params, FUNCTION);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32) {
        late::enable(exec, node, enabled != 0);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
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
