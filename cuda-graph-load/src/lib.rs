//! Graph files for C, and graphs that others have captured: `include/cuda_graph_load.h` has the functions, and what
//! callers promise. Python calls the same functions.

mod lift;

use graph_runtime::handles::CUstream;
use graph_runtime::{Device, DeviceMemory, Loaded};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

pub use lift::{CudaGraphLift, CudaGraphMemory, cuda_graph_lift, cuda_graph_lift_build, cuda_graph_lift_text};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// A graph that was opened.
#[derive(Debug)]
pub struct CudaGraph {
    device: Device,
    loaded: Loaded,
}

/// The result of a call, with the message of a failure.
type Outcome<T> = Result<T, String>;

/// Memory of a caller.
struct Foreign {
    address: u64,
    bytes: usize,
    /// The address of the `CUcontext`; 0 on the emulator.
    context: usize,
}

// SAFETY: by the promise of the caller of `cuda_graph_bind`, the memory is there as long as it is bound, and the caller
// orders work with it: so there is nothing to wait for.
unsafe impl DeviceMemory for Foreign {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn context(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.context)
    }

    fn before(&self, _: CUstream) {}

    fn after(&self, _: CUstream) {}
}

/// Keeps the message of a failure for `cuda_graph_error`. A panic is a failure, too: C has no panics.
fn caught<T>(call: impl FnOnce() -> Outcome<T>) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(call));
    let failed = match outcome {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(message)) => message,
        Err(_) => "the library panicked".to_owned(),
    };
    let message = CString::new(failed.replace('\0', " ")).unwrap_or_default();
    ERROR.with(|error| error.replace(message));
    None
}

/// The code of an outcome: 0 or 1.
fn code(call: impl FnOnce() -> Outcome<()>) -> c_int {
    caught(call).is_none().into()
}

/// A text of C.
///
/// # Safety
///
/// The text is null, or ends with a zero byte, and lives as long as the result is used.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(format!("{what} is NULL"));
    }
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("{what} is not UTF-8"))
}

/// A graph of C.
///
/// # Safety
///
/// The graph is null, or one that `cuda_graph_open` has returned and that nobody has closed. Nobody else uses it as
/// long as the result is used.
unsafe fn graph<'a>(graph: *mut CudaGraph) -> Outcome<&'a mut CudaGraph> {
    // SAFETY: by the caller's promise.
    unsafe { graph.as_mut() }.ok_or_else(|| "the graph is NULL".to_owned())
}

fn device(name: &str) -> Outcome<Device> {
    if name == "emulator" {
        return Ok(Device::emulator());
    }
    let number = match name.strip_prefix("cuda") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix(':').and_then(|number| number.parse().ok()),
        None => None,
    };
    let number = number.ok_or_else(|| format!("there is no device `{name}`: say `cuda:0` or `emulator`"))?;
    Device::cuda(number).map_err(|error| error.to_string())
}

/// Opens a graph file.
///
/// # Safety
///
/// The texts end with zero bytes. The kernels of the file stay within their memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_open(device_name: *const c_char, path: *const c_char) -> *mut CudaGraph {
    let opened = caught(|| {
        // SAFETY: by the caller's promise.
        let name = unsafe { text(device_name, "the device") }?;
        // SAFETY: by the caller's promise.
        let path = unsafe { text(path, "the path") }?;
        let device = device(name)?;
        // SAFETY: by the caller's promise.
        let loaded = unsafe { Loaded::open_trusted(&device, path) }.map_err(|error| error.to_string())?;
        Ok(Box::new(CudaGraph { device, loaded }))
    });
    opened.map_or(ptr::null_mut(), Box::into_raw)
}

/// Binds device memory.
///
/// # Safety
///
/// As the header says of `cuda_graph_bind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_bind(
    to: *mut CudaGraph,
    name: *const c_char,
    address: *mut c_void,
    bytes: usize,
) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let CudaGraph { device, loaded } = unsafe { graph(to) }?;
        // SAFETY: by the caller's promise.
        let name = unsafe { text(name, "the name") }?;
        let memory = Foreign {
            address: address.expose_provenance() as u64,
            bytes,
            context: device
                .raw()
                .map_or(0, |context| context.cast::<c_void>().expose_provenance()),
        };
        let bind = || loaded.bind(name, &device.adopt(memory)?);
        bind().map_err(|error| error.to_string())
    })
}

/// Launches a graph on its own stream.
///
/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_launch(to_launch: *mut CudaGraph) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let graph = unsafe { graph(to_launch) }?;
        graph.loaded.launch().map_err(|error| error.to_string())
    })
}

/// Launches a graph on a stream.
///
/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_launch_on(to_launch: *mut CudaGraph, stream: *mut c_void) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let graph = unsafe { graph(to_launch) }?;
        // SAFETY: by the caller's promise.
        let launched = unsafe { graph.loaded.launch_on_raw(stream) };
        launched.map_err(|error| error.to_string())
    })
}

/// Waits for all launches.
///
/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_synchronize(waiting: *mut CudaGraph) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let graph = unsafe { graph(waiting) }?;
        graph.loaded.synchronize().map_err(|error| error.to_string())
    })
}

/// Copies memory of a graph to the host.
///
/// # Safety
///
/// `to` has `bytes` bytes, and as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_read(
    from: *mut CudaGraph,
    name: *const c_char,
    to: *mut c_void,
    bytes: usize,
) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let graph = unsafe { graph(from) }?;
        // SAFETY: by the caller's promise.
        let name = unsafe { text(name, "the name") }?;
        let contents = graph.loaded.read::<u8>(name).map_err(|error| error.to_string())?;
        if contents.len() != bytes {
            return Err(format!(
                "`{name}` has {} bytes, but there is room for {bytes}",
                contents.len()
            ));
        }
        // SAFETY: there is room for so many bytes, by the caller's promise, and the copy is nobody else's.
        unsafe { ptr::copy_nonoverlapping(contents.as_ptr(), to.cast(), bytes) };
        Ok(())
    })
}

/// Copies memory of the host to a graph.
///
/// # Safety
///
/// `from` has `bytes` bytes, and as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_write(
    to: *mut CudaGraph,
    name: *const c_char,
    from: *const c_void,
    bytes: usize,
) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let graph = unsafe { graph(to) }?;
        // SAFETY: by the caller's promise.
        let name = unsafe { text(name, "the name") }?;
        let contents: &[u8] = if bytes == 0 {
            &[]
        } else {
            // SAFETY: there are so many bytes, by the caller's promise.
            unsafe { slice::from_raw_parts(from.cast(), bytes) }
        };
        graph.loaded.write(name, contents).map_err(|error| error.to_string())
    })
}

/// Frees a graph.
///
/// # Safety
///
/// As the header says; the graph is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_close(to_close: *mut CudaGraph) {
    if !to_close.is_null() {
        // SAFETY: `cuda_graph_open` made it of a box, and nobody uses it again, by the caller's promise.
        let graph = unsafe { Box::from_raw(to_close) };
        caught(|| {
            drop(graph);
            Ok(())
        });
    }
}

/// The message of this thread's last failure.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_graph_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}
