//! Memory of either kind of device: allocated zeroed, freed when dropped, and copied to and from slices.

use crate::devices::Backend;
use crate::devices::adopted::{DeviceMemory, Using};
use crate::devices::cuda_memory::CudaMemory;
#[cfg(feature = "cudarc")]
use crate::devices::cudarc_slice::CudarcSlice;
use crate::devices::emulated_memory::EmulatedMemory;
#[cfg(feature = "cudarc")]
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, CudaError, Error, Result, Site};
#[cfg(feature = "cudarc")]
use crate::in_flight::uses::Claim;
use std::ptr;

/// Zeroed device memory.
pub(crate) enum KernelMemory {
    Cuda(CudaMemory),
    Emulator(EmulatedMemory),
}

impl KernelMemory {
    /// Allocates `bytes` bytes, or 1 instead of 0, so that every resource has an address. The name appears in the
    /// emulator's messages.
    pub(crate) fn zeroed(backend: &Backend, name: &str, bytes: usize, site: impl Fn() -> Site) -> Result<Self> {
        match backend {
            Backend::Cuda(cuda) => CudaMemory::zeroed(cuda, bytes.max(1)).at(site).map(Self::Cuda),
            Backend::Emulator(device) => {
                let allocation = device.allocate(name, bytes.max(1), site)?;
                Ok(Self::Emulator(allocation.into()))
            }
        }
    }

    /// Takes memory of others, who keep it, and order their work with it.
    pub(crate) fn adopted(backend: &Backend, owner: Box<dyn DeviceMemory>) -> Result<Self> {
        let memory = (owner.address(), owner.bytes());
        match backend {
            Backend::Cuda(cuda) if CudaMemory::is_in(cuda, &*owner).at(Site::buffer)? => {
                check_end(memory)?;
                // SAFETY: whoever implements `DeviceMemory` promises it; the context is the one that it names, or that
                // the driver does.
                Ok(Self::Cuda(unsafe { CudaMemory::adopted(cuda, memory, owner) }))
            }
            Backend::Emulator(device) if owner.context().is_null() => {
                check_end(memory)?;
                // SAFETY: as above: the context is null, and this is an emulator, so the memory is the host's.
                unsafe { EmulatedMemory::of_host(device, memory, Some(owner)) }.map(Self::Emulator)
            }
            Backend::Cuda(_) | Backend::Emulator(_) => Err(Error::ForeignMemory { site: Site::buffer() }),
        }
    }

    /// Borrows the `bytes` bytes at an address.
    ///
    /// # Safety
    ///
    /// As for [`CudaMemory::at`]; on the emulator, as for [`EmulatedMemory::of_host`].
    pub(crate) unsafe fn at(backend: &Backend, address: u64, bytes: usize) -> Result<Self> {
        check_end((address, bytes))?;
        match backend {
            // SAFETY: by the caller's promise.
            Backend::Cuda(cuda) => unsafe { CudaMemory::at(cuda, address, bytes) }
                .at(Site::buffer)
                .map(Self::Cuda),
            Backend::Emulator(device) => {
                // SAFETY: by the caller's promise.
                unsafe { EmulatedMemory::of_host(device, (address, bytes), None) }.map(Self::Emulator)
            }
        }
    }

    /// The owner of adopted memory.
    pub(crate) fn owner(&self) -> Option<&dyn DeviceMemory> {
        match self {
            Self::Cuda(memory) => memory.owner(),
            Self::Emulator(memory) => memory.owner(),
        }
    }

    /// Lends the memory from the byte `start` on as a slice of cudarc's with `len` elements, under a claim to read that
    /// lasts as long as the slice.
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::as_cudarc`](crate::DeviceBuffer::as_cudarc).
    #[cfg(feature = "cudarc")]
    pub(crate) unsafe fn cudarc<'a, T: 'static>(
        &'a self,
        start: usize,
        len: usize,
        claim: impl FnOnce() -> Result<Claim<'a, LaunchEvent>>,
    ) -> Result<CudarcSlice<'a, T>> {
        if self.owner().is_some() {
            return Err(Error::Unsupported {
                site: Site::buffer(),
                message: "is memory of others, which is not lent on to cudarc: its owner has it",
            });
        }
        match self {
            // SAFETY: by the caller's promise.
            Self::Cuda(memory) => unsafe { memory.cudarc(start, len, claim()?) }.at(Site::buffer),
            Self::Emulator(_) => Err(Error::Unsupported {
                site: Site::buffer(),
                message: "memory of the CPU emulator is no CUDA memory",
            }),
        }
    }

    /// The address of the first byte, as kernels see it.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Cuda(memory) => memory.address(),
            Self::Emulator(allocation) => allocation.address(),
        }
    }

    /// The address of the first byte in the allocation that owns it. Pieces that share the byte have this address in
    /// common.
    pub(crate) fn home(&self) -> u64 {
        match self {
            Self::Cuda(memory) => memory.address(),
            Self::Emulator(allocation) => allocation.home(),
        }
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Cuda(memory) => memory.bytes(),
            Self::Emulator(allocation) => allocation.len(),
        }
    }

    /// Whether graphs on `backend` can use it.
    pub(crate) fn is_usable_on(&self, backend: &Backend) -> bool {
        match (self, backend) {
            (Self::Cuda(memory), Backend::Cuda(cuda)) => memory.context() == cuda.raw(),
            (Self::Emulator(allocation), Backend::Emulator(device)) => device.owns(allocation),
            (Self::Cuda(_), Backend::Emulator(_)) | (Self::Emulator(_), Backend::Cuda(_)) => false,
        }
    }

    /// Waits for work that was queued on the memory as a slice of cudarc's and must come before a launch.
    pub(crate) fn settle(&self, write: bool) -> Result<(), CudaError> {
        match self {
            Self::Cuda(memory) => memory.settle(write),
            Self::Emulator(_) => Ok(()),
        }
    }

    /// Zeroes all bytes. The caller has checked that nothing touches them.
    pub(crate) fn clear(&self, site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.clear().at(site),
            Self::Emulator(allocation) => {
                const ZEROS: [u8; 4096] = [0; 4096];
                let len = allocation.len();
                (0..len).step_by(ZEROS.len()).try_for_each(|start| {
                    let zeros = &ZEROS[..ZEROS.len().min(len - start)];
                    allocation.write(start, zeros).at(&site)
                })
            }
        }
    }

    /// Copies bytes out. The caller has checked that they are in bounds and that nothing writes them.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8], site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.read(offset, to).at(site),
            Self::Emulator(memory) => {
                let _using = Using::begin(memory.owner(), ptr::null_mut(), None).at(&site)?;
                memory.read(offset, to).at(site)
            }
        }
    }

    /// Copies bytes in. The caller has checked that they are in bounds and that nothing touches them.
    pub(crate) fn write(&self, offset: usize, from: &[u8], site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(memory) => memory.write(offset, from).at(site),
            Self::Emulator(memory) => {
                let _using = Using::begin(memory.owner(), ptr::null_mut(), None).at(&site)?;
                memory.write(offset, from).at(site)
            }
        }
    }
}

/// Refuses memory that would end beyond all addresses.
fn check_end((address, bytes): (u64, usize)) -> Result<()> {
    let end = address.checked_add(bytes as u64);
    end.map(drop).ok_or(Error::Unsupported {
        site: Site::buffer(),
        message: "there is no such memory: its end is beyond all addresses",
    })
}
