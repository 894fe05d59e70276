//! The library of the CUDA driver, and its functions by name.

use cudarc::driver::sys;
use std::sync::OnceLock;

/// Whether a driver library is on this machine. Loads it at the first call.
pub(crate) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        // SAFETY: loading a library runs its initialisers; those of NVIDIA's driver are made for it.
        unsafe { sys::is_culib_present() }
    })
}

/// Looks a function up in the driver's library; `None` if there is no library, or it has no function of that name.
///
/// # Safety
///
/// The function has type `F`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    if !is_present() {
        return None;
    }
    // SAFETY: the library is present.
    let library = unsafe { sys::culib() };
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
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
