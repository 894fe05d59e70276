//! The library of the CUDA driver, and its functions by name.
//!
//! This crate loads it itself. So it does not matter how cudarc finds the library, or whether it is linked to it.

use libloading::Library;
use std::sync::OnceLock;

/// The library, which is loaded at the first call, and never unloaded.
fn library() -> Option<&'static Library> {
    /// The driver itself comes first. The other name may be that of a toolkit's stub, which has no driver.
    const NAMES: &[&str] = if cfg!(windows) {
        &["nvcuda.dll"]
    } else {
        &["libcuda.so.1", "libcuda.so"]
    };
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        // SAFETY: loading a library runs its initialisers; those of NVIDIA's driver are made for it.
        NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok())
    });
    found.as_ref()
}

/// Whether a driver library is on this machine. Loads it at the first call.
pub(crate) fn is_present() -> bool {
    library().is_some()
}

/// Looks a function up in the driver's library; `None` if there is no library, or it has no function of that name.
///
/// # Safety
///
/// The function has type `F`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library()?.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_the_library_lacks_are_absent() {
        // SAFETY: the type does not matter, since no library has a function of this name.
        let found = unsafe { find::<unsafe extern "C" fn() -> u32>("cuNobodyHasThis") };
        assert!(found.is_none());
    }
}
