//! Driver calls about device memory whose addresses are reserved apart from the memory itself.

use super::functions::call;
use super::{CUdevice, CUdeviceptr};
use crate::error::CudaError;
use std::ffi::{c_int, c_uchar, c_ushort, c_void};
use std::ptr;

/// A handle to memory without addresses: `CUmemGenericAllocationHandle`.
pub(crate) type MemoryHandle = u64;

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
const PINNED: c_int = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
const DEVICE: c_int = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: c_int = 3;
/// `CU_MEM_ALLOC_GRANULARITY_MINIMUM`
const MINIMUM: u32 = 0;

/// `CUmemLocation`, whose declaration differs between versions of the bindings.
#[repr(C)]
struct Location {
    kind: c_int,
    id: c_int,
}

/// `CUmemAllocationProp`
#[repr(C)]
struct Properties {
    kind: c_int,
    handle_types: c_int,
    location: Location,
    metadata: *mut c_void,
    compression: c_uchar,
    rdma: c_uchar,
    usage: c_ushort,
    reserved: [c_uchar; 4],
}

/// `CUmemAccessDesc`
#[repr(C)]
struct AccessDescription {
    location: Location,
    flags: c_int,
}

impl Location {
    fn device(device: CUdevice) -> Self {
        Self {
            kind: DEVICE,
            id: device,
        }
    }
}

impl Properties {
    /// Memory of a device, for this process alone.
    fn device(device: CUdevice) -> Self {
        Self {
            kind: PINNED,
            handle_types: 0,
            location: Location::device(device),
            metadata: ptr::null_mut(),
            compression: 0,
            rdma: 0,
            usage: 0,
            reserved: [0; 4],
        }
    }
}

/// `cuMemGetAllocationGranularity`: all sizes and addresses of a device's memory are multiples of it
pub(crate) unsafe fn granularity(device: CUdevice) -> Result<usize, CudaError> {
    let (mut granularity, properties) = (0, Properties::device(device));
    let properties = (&raw const properties).cast();
    call!(cuMemGetAllocationGranularity(&mut granularity, properties, MINIMUM))?;
    Ok(granularity)
}

/// `cuMemAddressReserve`
pub(crate) unsafe fn reserve(bytes: usize) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    call!(cuMemAddressReserve(&mut address, bytes, 0, 0, 0))?;
    Ok(address)
}

/// `cuMemAddressFree`
pub(crate) unsafe fn free_addresses(address: CUdeviceptr, bytes: usize) -> Result<(), CudaError> {
    call!(cuMemAddressFree(address, bytes))
}

/// `cuMemCreate`
pub(crate) unsafe fn create(device: CUdevice, bytes: usize) -> Result<MemoryHandle, CudaError> {
    let (mut handle, properties) = (0, Properties::device(device));
    call!(cuMemCreate(&mut handle, bytes, (&raw const properties).cast(), 0))?;
    Ok(handle)
}

/// `cuMemRelease`: the memory is freed when it has no addresses any more
pub(crate) unsafe fn release(handle: MemoryHandle) -> Result<(), CudaError> {
    call!(cuMemRelease(handle))
}

/// `cuMemMap`: gives all of the memory addresses
pub(crate) unsafe fn map(address: CUdeviceptr, bytes: usize, handle: MemoryHandle) -> Result<(), CudaError> {
    call!(cuMemMap(address, bytes, 0, handle, 0))
}

/// `cuMemUnmap`
pub(crate) unsafe fn unmap(address: CUdeviceptr, bytes: usize) -> Result<(), CudaError> {
    call!(cuMemUnmap(address, bytes))
}

/// `cuMemSetAccess`: lets the device read and write
pub(crate) unsafe fn set_access(address: CUdeviceptr, bytes: usize, device: CUdevice) -> Result<(), CudaError> {
    let access = AccessDescription {
        location: Location::device(device),
        flags: READ_WRITE,
    };
    call!(cuMemSetAccess(address, bytes, (&raw const access).cast(), 1))
}
