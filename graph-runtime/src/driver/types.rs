//! The types of the driver's interface: handles, structs and enums, as `cuda.h` has them since CUDA 12.0, and with its
//! names. They are declared here, since those of cudarc depend on its features. A test compares them with cudarc's, and
//! `calls` compares the functions.
//!
//! Handles that programs see are cudarc's types in a build with the feature `cudarc`: those are the same whatever its
//! features are.

#![expect(
    non_camel_case_types,
    non_snake_case,
    reason = "types and fields have the names of CUDA's header"
)]

use std::ffi::{c_int, c_uint, c_void};

/// Declares handles: pointers to what only the driver knows.
#[cfg(not(all(test, feature = "cudarc")))]
macro_rules! handles {
    ($($(#[$meta:meta])* $vis:vis $name:ident = $pointee:ident;)*) => {$(
        /// The object of a handle, which only the driver knows.
        #[derive(Debug)]
        $vis enum $pointee {}

        $(#[$meta])*
        #[doc = concat!("A handle: `", stringify!($name), "` of `cuda.h`.")]
        $vis type $name = *mut $pointee;
    )*};
}

#[cfg(feature = "cudarc")]
pub use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmodule, CUstream,
};

#[cfg(not(feature = "cudarc"))]
handles! {
    pub CUcontext = CUctx_st;
    pub CUevent = CUevent_st;
    pub CUfunction = CUfunc_st;
    pub CUgraph = CUgraph_st;
    pub CUgraphExec = CUgraphExec_st;
    pub CUgraphNode = CUgraphNode_st;
    pub CUmodule = CUmod_st;
    pub CUstream = CUstream_st;
}

/// A device: `CUdevice` of `cuda.h`.
#[cfg(not(feature = "cudarc"))]
pub type CUdevice = c_int;

/// The handle of an allocation for other processes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CUipcMemHandle {
    pub(crate) reserved: [u8; 64],
}

/// An address of device memory: `CUdeviceptr` of `cuda.h`.
#[cfg(not(feature = "cudarc"))]
pub type CUdeviceptr = std::ffi::c_ulonglong;

#[cfg(all(test, feature = "cudarc", feature = "cudart"))]
pub(crate) use cudarc::driver::sys::CUlibrary;
#[cfg(all(test, feature = "cudarc"))]
pub(crate) use cudarc::driver::sys::{CUarray, CUkernel};
#[cfg(all(test, feature = "cudarc"))]
pub(crate) use cudarc::nvrtc::sys::nvrtcProgram;

#[cfg(not(all(test, feature = "cudarc")))]
handles! {
    pub(crate) CUarray = CUarray_st;
    pub(crate) CUkernel = CUkern_st;
    pub(crate) nvrtcProgram = _nvrtcProgram;
}

#[cfg(all(feature = "cudart", not(all(test, feature = "cudarc"))))]
handles! {
    pub(crate) CUlibrary = CUlib_st;
}

pub(crate) type CUtexObject = u64;
pub(crate) type CUsurfObject = u64;

/// `CU_MEMHOSTALLOC_PORTABLE`
pub(crate) const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// `CU_MEMHOSTREGISTER_PORTABLE`
pub(crate) const CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1;
/// `CU_MEMHOSTREGISTER_READ_ONLY`
pub(crate) const CU_MEMHOSTREGISTER_READ_ONLY: c_uint = 8;
/// `CU_POINTER_ATTRIBUTE_CONTEXT`
pub(crate) const CU_POINTER_ATTRIBUTE_CONTEXT: c_uint = 1;
/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`
pub(crate) const CU_POINTER_ATTRIBUTE_MEMORY_TYPE: c_uint = 2;
/// `CU_POINTER_ATTRIBUTE_IS_MANAGED`
pub(crate) const CU_POINTER_ATTRIBUTE_IS_MANAGED: c_uint = 8;
/// `CU_EVENT_DEFAULT`
pub(crate) const CU_EVENT_DEFAULT: c_uint = 0;
/// `CU_EVENT_DISABLE_TIMING`
pub(crate) const CU_EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_STREAM_NON_BLOCKING`
pub(crate) const CU_STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_CAPTURE_STATUS_NONE`
pub(crate) const CU_STREAM_CAPTURE_STATUS_NONE: u32 = 0;
/// `CU_STREAM_CAPTURE_STATUS_INVALIDATED`
pub(crate) const CU_STREAM_CAPTURE_STATUS_INVALIDATED: u32 = 2;
/// `CU_JIT_ERROR_LOG_BUFFER`
pub(crate) const CU_JIT_ERROR_LOG_BUFFER: u32 = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`
pub(crate) const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;

/// Declares enums that the driver reads, with the values that this crate passes, and a test of their numbers.
macro_rules! enums {
    ($($name:ident { $($value:ident = $number:literal,)* })*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[repr(u32)]
            pub(crate) enum $name {
                $($value = $number,)*
            }
        )*

        #[cfg(all(test, feature = "cudarc"))]
        #[test]
        fn enums_are_those_of_the_bindings() {
            use cudarc::driver::sys;
            $($(assert_eq!($name::$value as u32, sys::$name::$value as u32, stringify!($value));)*)*
        }
    };
}

enums! {
    CUdevice_attribute {
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    }
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    }
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
        CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }
    CUmemorytype {
        CU_MEMORYTYPE_HOST = 1,
        CU_MEMORYTYPE_DEVICE = 2,
        CU_MEMORYTYPE_ARRAY = 3,
    }
    CUarray_format {
        CU_AD_FORMAT_UNSIGNED_INT8 = 1,
        CU_AD_FORMAT_UNSIGNED_INT16 = 2,
        CU_AD_FORMAT_UNSIGNED_INT32 = 3,
        CU_AD_FORMAT_SIGNED_INT8 = 8,
        CU_AD_FORMAT_SIGNED_INT16 = 9,
        CU_AD_FORMAT_SIGNED_INT32 = 10,
        CU_AD_FORMAT_FLOAT = 32,
    }
    CUaddress_mode {
        CU_TR_ADDRESS_MODE_WRAP = 0,
        CU_TR_ADDRESS_MODE_CLAMP = 1,
        CU_TR_ADDRESS_MODE_MIRROR = 2,
        CU_TR_ADDRESS_MODE_BORDER = 3,
    }
    CUfilter_mode {
        CU_TR_FILTER_MODE_POINT = 0,
        CU_TR_FILTER_MODE_LINEAR = 1,
    }
    CUresourcetype {
        CU_RESOURCE_TYPE_ARRAY = 0,
        CU_RESOURCE_TYPE_LINEAR = 2,
        CU_RESOURCE_TYPE_PITCH2D = 3,
    }
    CUkernelNodeAttrID {
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
        CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
    }
}

/// Declares structs, and a test that their fields lie where those of the bindings do.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            $(#[$meta])*
            #[derive(Clone, Copy)]
            #[repr(C)]
            pub(crate) struct $name {
                $(pub(crate) $field: $type,)*
            }
        )*

        #[cfg(all(test, feature = "cudarc"))]
        #[test]
        fn structs_are_those_of_the_bindings() {
            use cudarc::driver::sys;
            use std::mem::{align_of, offset_of, size_of};
            $(
                let name = stringify!($name);
                assert_eq!(size_of::<$name>(), size_of::<sys::$name>(), "{name}");
                assert_eq!(align_of::<$name>(), align_of::<sys::$name>(), "{name}");
                $(
                    let field = stringify!($field);
                    assert_eq!(offset_of!($name, $field), offset_of!(sys::$name, $field), "{name}, {field}");
                )*
            )*
        }
    };
}

structs! {
    CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
        kern: CUkernel,
        ctx: CUcontext,
    }
    CUDA_MEMSET_NODE_PARAMS {
        dst: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
    }
    CUDA_MEMCPY3D {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        reserved0: *mut c_void,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        reserved1: *mut c_void,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }
    #[derive(Debug)]
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Depth: usize,
        Format: CUarray_format,
        NumChannels: c_uint,
        Flags: c_uint,
    }
    CUDA_RESOURCE_DESC {
        resType: CUresourcetype,
        res: Resource,
        flags: c_uint,
    }
    CUDA_TEXTURE_DESC {
        addressMode: [CUaddress_mode; 3],
        filterMode: CUfilter_mode,
        flags: c_uint,
        maxAnisotropy: c_uint,
        mipmapFilterMode: CUfilter_mode,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        borderColor: [f32; 4],
        reserved: [c_int; 12],
    }
}

/// The memory of a [`CUDA_RESOURCE_DESC`]
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Resource {
    pub(crate) array: CUarray,
    pub(crate) linear: Linear,
    pub(crate) pitch2D: Pitch2d,
    reserved: [c_int; 32],
}

/// Memory in a row
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Linear {
    pub(crate) devPtr: CUdeviceptr,
    pub(crate) format: CUarray_format,
    pub(crate) numChannels: c_uint,
    pub(crate) sizeInBytes: usize,
}

/// Memory in rows
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pitch2d {
    pub(crate) devPtr: CUdeviceptr,
    pub(crate) format: CUarray_format,
    pub(crate) numChannels: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pitchInBytes: usize,
}

/// `CUkernelNodeAttrValue`: 64 bytes
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) union CUkernelNodeAttrValue {
    pub(crate) pad: [u64; 8],
    pub(crate) cooperative: c_int,
    pub(crate) cluster: [c_uint; 3],
    pub(crate) priority: c_int,
}

#[cfg(all(test, feature = "cudarc"))]
mod tests {
    use super::*;
    use cudarc::driver::sys;
    use std::mem::{align_of, offset_of, size_of};

    #[test]
    fn unions_are_those_of_the_bindings() {
        type Bound = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1;
        type BoundLinear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3;
        type BoundPitch = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4;
        assert_eq!(size_of::<Resource>(), size_of::<Bound>());
        assert_eq!(size_of::<Linear>(), size_of::<BoundLinear>());
        assert_eq!(offset_of!(Linear, format), offset_of!(BoundLinear, format));
        assert_eq!(offset_of!(Linear, numChannels), offset_of!(BoundLinear, numChannels));
        assert_eq!(offset_of!(Linear, sizeInBytes), offset_of!(BoundLinear, sizeInBytes));
        assert_eq!(size_of::<Pitch2d>(), size_of::<BoundPitch>());
        assert_eq!(offset_of!(Pitch2d, width), offset_of!(BoundPitch, width));
        assert_eq!(offset_of!(Pitch2d, height), offset_of!(BoundPitch, height));
        assert_eq!(offset_of!(Pitch2d, pitchInBytes), offset_of!(BoundPitch, pitchInBytes));
        type Value = sys::CUkernelNodeAttrValue;
        assert_eq!(size_of::<CUkernelNodeAttrValue>(), size_of::<Value>());
        assert_eq!(align_of::<CUkernelNodeAttrValue>(), align_of::<Value>());
        let mut value = Value { pad: [0; 64] };
        value.clusterDim.x = 1;
        value.clusterDim.y = 2;
        value.clusterDim.z = 3;
        // SAFETY: both unions are 64 bytes, which are initialised.
        let ours = unsafe { std::mem::transmute::<Value, CUkernelNodeAttrValue>(value) };
        // SAFETY: all bits are numbers.
        let ours = unsafe { ours.cluster };
        assert_eq!(ours, [1, 2, 3]);
    }

    #[test]
    fn numbers_are_those_of_the_bindings() {
        assert_eq!(CU_MEMHOSTALLOC_PORTABLE, sys::CU_MEMHOSTALLOC_PORTABLE);
        assert_eq!(CU_MEMHOSTREGISTER_PORTABLE, sys::CU_MEMHOSTREGISTER_PORTABLE);
        assert_eq!(CU_MEMHOSTREGISTER_READ_ONLY, sys::CU_MEMHOSTREGISTER_READ_ONLY);
        let context = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
        assert_eq!(CU_POINTER_ATTRIBUTE_CONTEXT, context as u32);
        let kind = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        assert_eq!(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kind as u32);
        let managed = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED;
        assert_eq!(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed as u32);
        assert_eq!(CU_EVENT_DEFAULT, sys::CUevent_flags::CU_EVENT_DEFAULT as u32);
        assert_eq!(
            CU_EVENT_DISABLE_TIMING,
            sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32
        );
        assert_eq!(
            CU_STREAM_NON_BLOCKING,
            sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32
        );
        type Status = sys::CUstreamCaptureStatus;
        assert_eq!(
            CU_STREAM_CAPTURE_STATUS_NONE,
            Status::CU_STREAM_CAPTURE_STATUS_NONE as u32
        );
        assert_eq!(
            CU_STREAM_CAPTURE_STATUS_INVALIDATED,
            Status::CU_STREAM_CAPTURE_STATUS_INVALIDATED as u32
        );
        type Option = sys::CUjit_option;
        assert_eq!(CU_JIT_ERROR_LOG_BUFFER, Option::CU_JIT_ERROR_LOG_BUFFER as u32);
        assert_eq!(
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32
        );
    }
}
