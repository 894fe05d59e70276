//! Devices without their graphs: a CUDA context or the emulator's memory, and the events that are recorded after
//! launches.

pub(crate) mod recording;
pub(crate) mod growing_memory;
#[cfg(feature = "cudarc")]
pub(crate) mod cudarc_slice;
pub(crate) mod opened_memory;
pub(crate) mod cuda_memory;
pub(crate) mod cuda_array;
pub(crate) mod emulated_memory;
pub(crate) mod adopted;
pub(crate) mod page_lock;
pub(crate) mod launch_event;
pub(crate) mod timer;
pub(crate) mod cuda;
pub(crate) mod shared_modules;
pub(crate) mod event_alarm;
#[cfg(feature = "emulator")]
mod emulated;
#[cfg(not(feature = "emulator"))]
mod absent_emulator;
pub(crate) mod options;
pub(crate) mod bodies;
pub(crate) mod uploads;

use crate::devices::cuda::Cuda;
use crate::driver::{self, CUcontext, CUdevice_attribute, RelaxedCapture};
use crate::error::{At, CudaError, Result, Site};
use crate::kernel::source::Architecture;
use crate::program::event::Event;
use crate::program::host_call::refuse_in_host_function;
use std::sync::Arc;

#[cfg(not(feature = "emulator"))]
pub(crate) use absent_emulator::{Allocation, Emulated};
#[cfg(feature = "emulator")]
pub(crate) use emulated::{Allocation, Emulated};

/// A device.
#[derive(Clone)]
pub(crate) enum Backend {
    Cuda(Arc<Cuda>),
    Emulator(Emulated),
}

impl Backend {
    /// Refuses the emulator if it is not in this build.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Backend::Cuda(_) => Ok(()),
            Backend::Emulator(device) => device.check(),
        }
    }

    /// Whether graphs on one of the two can use the memory of the other.
    pub(crate) fn has_memory_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Backend::Cuda(cuda), Backend::Cuda(other)) => cuda.raw() == other.raw(),
            (Backend::Emulator(device), Backend::Emulator(other)) => device.has_memory_of(other),
            (Backend::Cuda(_), Backend::Emulator(_)) | (Backend::Emulator(_), Backend::Cuda(_)) => false,
        }
    }

    /// The number of processors (SMs) of a GPU; `None` on the emulator.
    pub(crate) fn processors(&self) -> Option<u32> {
        match self {
            Backend::Cuda(cuda) => {
                let count = cuda.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
                count.ok().and_then(|count| count.try_into().ok())
            }
            Backend::Emulator(_) => None,
        }
    }

    /// The compute capability of a GPU, as 90 for 9.0; `None` on the emulator.
    pub(crate) fn capability(&self) -> Option<u32> {
        match self {
            Backend::Cuda(cuda) => {
                let (major, minor) = cuda.capability().ok()?;
                (10 * major + minor).try_into().ok()
            }
            Backend::Emulator(_) => None,
        }
    }

    /// The CUDA context; `None` on the emulator.
    pub(crate) fn context(&self) -> Option<CUcontext> {
        match self {
            Backend::Cuda(cuda) => Some(cuda.raw()),
            Backend::Emulator(_) => None,
        }
    }

    /// Waits until nothing runs on the device, where waiting for certain launches has failed: see [`Cuda::drain`].
    pub(crate) fn drain(&self) {
        match self {
            Backend::Cuda(cuda) => cuda.drain(),
            Backend::Emulator(_) => {} // a launch there has run when it returns
        }
    }

    /// Makes an event without timing, which has not been recorded yet.
    pub(crate) fn event(&self) -> Result<Event> {
        match self {
            Backend::Cuda(cuda) => {
                refuse_in_host_function().at(Site::default)?;
                let _relaxed = RelaxedCapture::enter();
                Ok(driver::objects::event(cuda.context()).at(Site::default)?.into())
            }
            Backend::Emulator(device) => device.check().map(|()| Event::EMULATOR),
        }
    }

    /// The architecture that CUDA sources are compiled for.
    pub(crate) fn architecture(&self) -> Result<Architecture, CudaError> {
        match self {
            Backend::Cuda(cuda) => {
                let (major, minor) = cuda.capability()?;
                Ok(Architecture::Device((10 * major + minor) as u32))
            }
            Backend::Emulator(_) => Ok(Architecture::Emulator),
        }
    }
}
