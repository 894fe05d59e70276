//! The library of CUDA's runtime, libcudart, and its functions by name. `xtask/cudart.cpp` compares their types with
//! the headers of CUDA 12 and 13.
//!
//! Two functions changed in CUDA 13 without a new name: see [`RENAMED`].

use super::context;
use super::search::{Wanted, search};
use crate::error::CudaError;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

/// The functions that have no data of edges in CUDA 12. There, the ones that have it end in `_v2`, from 12.3 on.
const RENAMED: [&str; 2] = ["cudaGraphAddDependencies", "cudaGraphAddNode"];
/// The first CUDA version in which [`RENAMED`] have data of edges.
const EDGE_DATA: u32 = 13_000;
/// The oldest CUDA version whose `cudaGraphAddKernelNode` takes kernels that the driver has loaded (`cudaKernel_t`).
const MIN_VERSION: u32 = 12_010;

/// The library and its version.
struct Runtime {
    library: Library,
    version: u32,
}

/// The library, which is searched and loaded at the first call, and never unloaded. The error says what was tried: a
/// sentence each.
fn library() -> Result<&'static Runtime, &'static [String]> {
    static LIBRARY: OnceLock<Result<Runtime, Vec<String>>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        let library = search(&CUDART)?;
        let version = version(&library).unwrap_or(MIN_VERSION);
        Ok(Runtime { library, version })
    });
    found.as_ref().map_err(Vec::as_slice)
}

/// The newest version that the driver may run comes first.
const CUDART: Wanted = Wanted {
    names: if cfg!(windows) {
        &["cudart64_13.dll", "cudart64_12.dll"]
    } else {
        &["libcudart.so.13", "libcudart.so.12", "libcudart.so"]
    },
    file: if cfg!(windows) {
        ("cudart64_", ".dll")
    } else {
        ("libcudart.so", "")
    },
    wheel: "nvidia/cuda_runtime/lib",
    functions: &[], // every version that `check` does not refuse has those that are called
    check,
};

/// Refuses a library that is too old, or whose major version is newer than the driver's.
fn check(library: &Library) -> Result<(), String> {
    let text = |version: u32| format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    let version = version(library).ok_or("does not tell its version")?;
    if version < MIN_VERSION {
        return Err(format!(
            "is too old: it is of {}, but {} is needed",
            text(version),
            text(MIN_VERSION)
        ));
    }
    // SAFETY: devices are opened before graphs are built, so the driver's library is loaded.
    let driver = unsafe { context::driver_version() }.map_err(|error| format!("cannot be compared: {error}"))?;
    if version / 1000 > driver / 1000 {
        return Err(format!(
            "is of {}, but the driver is of {}",
            text(version),
            text(driver)
        ));
    }
    Ok(())
}

/// `cudaRuntimeGetVersion` of a library: 1000 x major + 10 x minor.
fn version(library: &Library) -> Option<u32> {
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> u32>(b"cudaRuntimeGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: `version` is valid for the write; the call needs no device.
    let code = unsafe { get(&mut version) };
    u32::try_from(version).ok().filter(|_| code == 0)
}

/// Refuses to go on without the library. The error says what was tried: a sentence each.
pub(crate) fn present() -> Result<(), &'static [String]> {
    library().map(drop)
}

/// Looks a function up in the library; `None` if there is no library, or it has no function of that name and of the
/// type that is declared here.
///
/// # Safety
///
/// The function, or before CUDA 13 the one of that name and `_v2` if it is one of [`RENAMED`], has type `F`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let Runtime { library, version } = library().ok()?;
    let symbol = if RENAMED.contains(&name) && *version < EDGE_DATA {
        format!("{name}_v2")
    } else {
        name.to_owned()
    };
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(symbol.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

/// The error of a failed call, with CUDA's own name for its code.
///
/// The runtime remembers the error of each thread's last call, for whoever asks. This one is known now, and is
/// forgotten: code of the user would take it for its own.
#[cold]
pub(super) fn error(call: &'static str, code: u32) -> CudaError {
    type GetLastError = unsafe extern "C" fn() -> u32;
    static FORGET: OnceLock<Option<GetLastError>> = OnceLock::new();
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    if let Some(forget) = *FORGET.get_or_init(|| unsafe { find("cudaGetLastError") }) {
        // SAFETY: it takes nothing, and asks nothing of its caller.
        unsafe { forget() };
    }
    let name = name(code).unwrap_or("unknown error");
    CudaError::new(call, name, code)
}

/// `cudaGetErrorName`: CUDA's name for a code. It is in no list of calls, since it returns no code.
fn name(code: u32) -> Option<&'static str> {
    type GetErrorName = unsafe extern "C" fn(u32) -> *const c_char;
    static FOUND: OnceLock<Option<GetErrorName>> = OnceLock::new();
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = (*FOUND.get_or_init(|| unsafe { find("cudaGetErrorName") }))?;
    // SAFETY: CUDA takes any number.
    let name = unsafe { get(code) };
    if name.is_null() {
        return None;
    }
    // SAFETY: CUDA points to a NUL-terminated string in the library, which is never unloaded.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    name.starts_with("cudaError").then_some(name)
}
