//! Driver calls about device memory whose addresses are reserved apart from the memory itself.

use super::error::driver_calls;
use super::{CUdevice, CUdeviceptr};
use std::ffi::{c_int, c_uchar, c_ulonglong, c_ushort, c_void};
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

impl AccessDescription {
    /// The device may read and write.
    fn of(device: CUdevice) -> Self {
        Self {
            location: Location::device(device),
            flags: READ_WRITE,
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

driver_calls! {
    NAMES;
    /// All sizes and addresses of a device's memory are multiples of the result.
    pub(crate) fn granularity(device: CUdevice) -> bytes: usize
        = cuMemGetAllocationGranularity(
            bytes: *mut usize = &mut bytes,
            properties: *const Properties as *const sys::CUmemAllocationProp = &Properties::device(device),
            option: u32 as sys::CUmemAllocationGranularity_flags = MINIMUM,
        );
    pub(crate) fn reserve(bytes: usize) -> address: CUdeviceptr
        = cuMemAddressReserve(
            address: *mut CUdeviceptr = &mut address, bytes: usize, alignment: usize = 0, wanted: CUdeviceptr = 0,
            flags: c_ulonglong = 0,
        );
    pub(crate) fn free_addresses(address: CUdeviceptr, bytes: usize) = cuMemAddressFree;
    pub(crate) fn create(device: CUdevice, bytes: usize) -> handle: MemoryHandle
        = cuMemCreate(
            handle: *mut MemoryHandle = &mut handle, bytes: usize,
            properties: *const Properties as *const sys::CUmemAllocationProp = &Properties::device(device),
            flags: c_ulonglong = 0,
        );
    /// The memory is freed when it has no addresses any more.
    pub(crate) fn release(handle: MemoryHandle) = cuMemRelease;
    /// Gives all of the memory addresses.
    pub(crate) fn map(address: CUdeviceptr, bytes: usize, handle: MemoryHandle)
        = cuMemMap(
            address: CUdeviceptr, bytes: usize, offset: usize = 0, handle: MemoryHandle, flags: c_ulonglong = 0,
        );
    pub(crate) fn unmap(address: CUdeviceptr, bytes: usize) = cuMemUnmap;
    /// Lets the device read and write.
    pub(crate) fn set_access(address: CUdeviceptr, bytes: usize, device: CUdevice)
        = cuMemSetAccess(
            address: CUdeviceptr, bytes: usize,
            access: *const AccessDescription as *const sys::CUmemAccessDesc = &AccessDescription::of(device),
            count: usize = 1,
        );
}
