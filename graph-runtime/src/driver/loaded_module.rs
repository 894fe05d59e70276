//! Modules as the two interfaces of graphs need them: the driver's calls take functions of modules, the runtime's take
//! kernels of libraries.

use super::{CUdeviceptr, CUfunction, CUkernel, CUmodule, module};
#[cfg(feature = "cudart")]
use super::{CUlibrary, interop};
use crate::error::CudaError;
use std::ffi::CStr;
use std::ptr;

/// A module that is loaded into the context that was current then.
#[derive(Clone, Copy)]
pub(crate) struct LoadedModule {
    module: CUmodule,
    /// The library that the module is of, for the runtime; null otherwise.
    #[cfg(feature = "cudart")]
    library: CUlibrary,
}

/// A kernel for both interfaces.
#[derive(Clone, Copy)]
pub(crate) struct KernelHandle {
    /// The handle for the driver.
    pub(crate) function: CUfunction,
    /// The handle for the runtime; null if there is none.
    pub(crate) kernel: CUkernel,
}

impl KernelHandle {
    /// The handle of no kernel.
    pub(crate) const NULL: Self = Self::of_driver(ptr::null_mut());

    /// The handle of a function that only the driver takes.
    pub(crate) const fn of_driver(function: CUfunction) -> Self {
        let kernel = ptr::null_mut();
        Self { function, kernel }
    }
}

impl LoadedModule {
    /// A module whose kernels only the driver takes.
    pub(super) fn of_driver(module: CUmodule) -> Self {
        Self {
            module,
            #[cfg(feature = "cudart")]
            library: ptr::null_mut(),
        }
    }

    /// Loads a module for the runtime.
    ///
    /// # Safety
    ///
    /// A context is current. The image is PTX with a zero at its end, or a cubin.
    #[cfg(feature = "cudart")]
    pub(super) unsafe fn of_runtime(image: &[u8]) -> Result<Self, CudaError> {
        // SAFETY: by the caller's promise; the image outlives the call.
        let (library, module) = unsafe { interop::load(image) }?;
        Ok(Self { module, library })
    }

    /// Finds a kernel.
    ///
    /// # Safety
    ///
    /// The module is loaded, and its context is current.
    pub(crate) unsafe fn function(self, name: &CStr) -> Result<KernelHandle, CudaError> {
        #[cfg(feature = "cudart")]
        if !self.library.is_null() {
            // SAFETY: by the caller's promise.
            let (kernel, function) = unsafe { interop::kernel(self.library, name) }?;
            return Ok(KernelHandle { function, kernel });
        }
        // SAFETY: by the caller's promise.
        unsafe { module::function(self.module, name) }.map(KernelHandle::of_driver)
    }

    /// The address and the size in bytes of a variable.
    ///
    /// # Safety
    ///
    /// The module is loaded, and its context is current.
    pub(crate) unsafe fn variable(self, name: &CStr) -> Result<(CUdeviceptr, usize), CudaError> {
        // SAFETY: by the caller's promise.
        unsafe { module::variable(self.module, name) }
    }

    /// Unloads the module.
    ///
    /// # Safety
    ///
    /// The module is loaded and not used again, nor are its kernels and variables; its context is current.
    pub(crate) unsafe fn unload(self) -> Result<(), CudaError> {
        #[cfg(feature = "cudart")]
        if !self.library.is_null() {
            // SAFETY: by the caller's promise.
            return unsafe { interop::unload(self.library) };
        }
        // SAFETY: by the caller's promise.
        unsafe { module::unload(self.module) }
    }
}
