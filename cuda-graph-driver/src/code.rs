//! The codes that calls return, with CUDA's names, and the failure of a call.

use crate::rules::Rule;
use std::borrow::Cow;
use std::ffi::CStr;

/// Declares codes, with the names that the driver and the runtime have for them; in brackets, those that are only
/// named.
macro_rules! codes {
    (
        $($code:ident = $number:literal, $name:literal, $runtime:literal;)*
        [$($other:literal, $other_name:literal, $other_runtime:literal;)*]
    ) => {
        $(pub(crate) const $code: u32 = $number;)*

        /// CUDA's name for a code of the driver.
        pub(crate) fn name(code: u32) -> Option<&'static CStr> {
            match code {
                $($number => Some($name),)*
                $($other => Some($other_name),)*
                _ => None,
            }
        }

        /// CUDA's name for a code of the runtime.
        pub(crate) fn runtime_name(code: u32) -> &'static CStr {
            match code {
                $($number => $runtime,)*
                $($other => $other_runtime,)*
                _ => c"unrecognized error code",
            }
        }
    };
}

codes! {
    SUCCESS = 0, c"CUDA_SUCCESS", c"cudaSuccess";
    INVALID_VALUE = 1, c"CUDA_ERROR_INVALID_VALUE", c"cudaErrorInvalidValue";
    OUT_OF_MEMORY = 2, c"CUDA_ERROR_OUT_OF_MEMORY", c"cudaErrorMemoryAllocation";
    INVALID_IMAGE = 200, c"CUDA_ERROR_INVALID_IMAGE", c"cudaErrorInvalidKernelImage";
    PEER_ACCESS_UNSUPPORTED = 217, c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", c"cudaErrorPeerAccessUnsupported";
    INVALID_CONTEXT = 201, c"CUDA_ERROR_INVALID_CONTEXT", c"cudaErrorDeviceUninitialized";
    NO_BINARY_FOR_GPU = 209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"cudaErrorNoKernelImageForDevice";
    INVALID_PTX = 218, c"CUDA_ERROR_INVALID_PTX", c"cudaErrorInvalidPtx";
    ILLEGAL_STATE = 401, c"CUDA_ERROR_ILLEGAL_STATE", c"cudaErrorIllegalState";
    INVALID_HANDLE = 400, c"CUDA_ERROR_INVALID_HANDLE", c"cudaErrorInvalidResourceHandle";
    NOT_FOUND = 500, c"CUDA_ERROR_NOT_FOUND", c"cudaErrorSymbolNotFound";
    NOT_READY = 600, c"CUDA_ERROR_NOT_READY", c"cudaErrorNotReady";
    ILLEGAL_ADDRESS = 700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"cudaErrorIllegalAddress";
    LAUNCH_OUT_OF_RESOURCES = 701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"cudaErrorLaunchOutOfResources";
    LAUNCH_TIMEOUT = 702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"cudaErrorLaunchTimeout";
    PEER_ACCESS_ALREADY_ENABLED = 704, c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"cudaErrorPeerAccessAlreadyEnabled";
    PEER_ACCESS_NOT_ENABLED = 705, c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"cudaErrorPeerAccessNotEnabled";
    ASSERT = 710, c"CUDA_ERROR_ASSERT", c"cudaErrorAssert";
    ALREADY_REGISTERED = 712, c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"cudaErrorHostMemoryAlreadyRegistered";
    NOT_REGISTERED = 713, c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"cudaErrorHostMemoryNotRegistered";
    MISALIGNED_ADDRESS = 716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"cudaErrorMisalignedAddress";
    LAUNCH_FAILED = 719, c"CUDA_ERROR_LAUNCH_FAILED", c"cudaErrorLaunchFailure";
    COOPERATIVE_TOO_LARGE = 720, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"cudaErrorCooperativeLaunchTooLarge";
    NOT_PERMITTED = 800, c"CUDA_ERROR_NOT_PERMITTED", c"cudaErrorNotPermitted";
    NOT_SUPPORTED = 801, c"CUDA_ERROR_NOT_SUPPORTED", c"cudaErrorNotSupported";
    CAPTURE_UNSUPPORTED = 900, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"cudaErrorStreamCaptureUnsupported";
    CAPTURE_INVALIDATED = 901, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"cudaErrorStreamCaptureInvalidated";
    CAPTURE_MERGE = 902, c"CUDA_ERROR_STREAM_CAPTURE_MERGE", c"cudaErrorStreamCaptureMerge";
    CAPTURE_UNMATCHED = 903, c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", c"cudaErrorStreamCaptureUnmatched";
    CAPTURE_UNJOINED = 904, c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", c"cudaErrorStreamCaptureUnjoined";
    CAPTURE_ISOLATION = 905, c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", c"cudaErrorStreamCaptureIsolation";
    CAPTURE_IMPLICIT = 906, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", c"cudaErrorStreamCaptureImplicit";
    CAPTURED_EVENT = 907, c"CUDA_ERROR_CAPTURED_EVENT", c"cudaErrorCapturedEvent";
    CAPTURE_WRONG_THREAD = 908, c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", c"cudaErrorStreamCaptureWrongThread";
    UPDATE_FAILURE = 910, c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", c"cudaErrorGraphExecUpdateFailure";
    INVALID_CLUSTER_SIZE = 912, c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"cudaErrorInvalidClusterSize";
    UNKNOWN = 999, c"CUDA_ERROR_UNKNOWN", c"cudaErrorUnknown";

    [
    3, c"CUDA_ERROR_NOT_INITIALIZED", c"cudaErrorInitializationError";
    101, c"CUDA_ERROR_INVALID_DEVICE", c"cudaErrorInvalidDevice";
    715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"cudaErrorIllegalInstruction";
    301, c"CUDA_ERROR_FILE_NOT_FOUND", c"cudaErrorFileNotFound";
    304, c"CUDA_ERROR_OPERATING_SYSTEM", c"cudaErrorOperatingSystem";
    911, c"CUDA_ERROR_LOSSY_QUERY", c"cudaErrorLossyQuery";
    ]
}

/// The failure of a call, or of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    /// The reason, for the log.
    pub(crate) text: Cow<'static, str>,
}

/// The outcome of a call.
pub(crate) type Done<T = ()> = Result<T, Failure>;

/// A failure with a reason.
pub(crate) fn fail<T>(code: u32, text: impl Into<Cow<'static, str>>) -> Done<T> {
    Err(Failure {
        code,
        text: text.into(),
    })
}

/// Refuses a value.
pub(crate) fn refuse<T>(text: impl Into<Cow<'static, str>>) -> Done<T> {
    fail(INVALID_VALUE, text)
}

impl Rule {
    /// The failure of a call that the rule refuses.
    pub(crate) fn refuse<T>(&self) -> Done<T> {
        fail(self.code, self.when)
    }

    /// As [`Rule::refuse`], with the details.
    pub(crate) fn refuse_as<T>(&self, text: String) -> Done<T> {
        fail(self.code, text)
    }
}
