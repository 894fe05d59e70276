//! NCCL, which carries the data of collectives where kernels of this crate cannot. The library is loaded when a
//! communicator needs it. Its functions are rows of a table, as the driver's are, and [`Comm`] makes the calls.
//!
//! Each asks of its caller what NCCL asks (<https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html>):
//! communicators are live, memory is of their devices, and streams live. Communicators are made so that no call blocks:
//! a call may return before it is done, and [`Comm::is_ready`] asks.

use super::calls::{Out, calls};
use super::search::{Wanted, search};
use super::{CUdeviceptr, CUstream};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

/// `ncclComm_t`
type RawComm = *mut c_void;

/// A communicator of NCCL's.
#[derive(Clone, Copy)]
pub(crate) struct Comm(RawComm);

// SAFETY: any thread may make calls with a communicator, one at a time (NCCL's guide, "Thread Safety").
unsafe impl Send for Comm {}

/// `ncclUniqueId`
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([u8; 128]);

/// The work of NCCL for a collective, at these addresses.
pub(crate) enum Carried {
    /// Replaces so many numbers of a type (`ncclDataType_t`) by those of all ranks, combined by an operation
    /// (`ncclRedOp_t`).
    AllReduce {
        memory: CUdeviceptr,
        count: usize,
        number: u32,
        operation: u32,
    },
    /// Combines rows of so many numbers, one for each rank.
    ReduceScatter {
        from: CUdeviceptr,
        to: CUdeviceptr,
        count: usize,
        number: u32,
        operation: u32,
    },
    AllGather {
        from: CUdeviceptr,
        to: CUdeviceptr,
        bytes: usize,
    },
    Broadcast {
        memory: CUdeviceptr,
        bytes: usize,
        root: usize,
    },
    /// All at once.
    Exchange(Vec<Side>),
}

/// Memory that is sent to a rank, or received from it.
pub(crate) struct Side {
    pub(crate) memory: CUdeviceptr,
    pub(crate) bytes: usize,
    pub(crate) peer: usize,
    pub(crate) sends: bool,
}

impl Out for UniqueId {
    const EMPTY: Self = Self([0; 128]);
}

/// The oldest version that is used: 10,000 x major + 100 x minor + patch. It has the settings of communicators in the
/// form that newer ones take, too.
const MIN_VERSION: i32 = 21_800;
/// The first version with [`Config::graph_usage_mode`].
const GRAPH_USAGE: i32 = 22_900;

/// `ncclConfig_t` of version 2.29. Older versions take the fields that they have.
#[repr(C)]
struct Config {
    size: usize,
    magic: u32,
    version: i32,
    blocking: c_int,
    cga_cluster_size: c_int,
    min_ctas: c_int,
    max_ctas: c_int,
    net_name: *const c_char,
    split_share: c_int,
    traffic_class: c_int,
    comm_name: *const c_char,
    collnet_enable: c_int,
    cta_policy: c_int,
    shrink_share: c_int,
    nvls_ctas: c_int,
    channels_per_net_peer: c_int,
    nvlink_centric_sched: c_int,
    /// 1: all work of the communicator is in graphs. So NCCL needs no events between that and other work.
    graph_usage_mode: c_int,
    rma_contexts: c_int,
}

impl Config {
    /// The settings of a communicator whose calls do not block.
    fn of(version: i32) -> Self {
        /// `NCCL_CONFIG_UNDEF_INT`
        const UNSET: c_int = c_int::MIN;
        let (size, known) = match version >= GRAPH_USAGE {
            true => (size_of::<Self>(), GRAPH_USAGE),
            false => (std::mem::offset_of!(Self, comm_name), MIN_VERSION),
        };
        Self {
            size,
            magic: 0xcafe_beef,
            version: known,
            blocking: 0,
            cga_cluster_size: UNSET,
            min_ctas: UNSET,
            max_ctas: UNSET,
            net_name: ptr::null(),
            split_share: UNSET,
            traffic_class: UNSET,
            comm_name: ptr::null(),
            collnet_enable: UNSET,
            cta_policy: UNSET,
            shrink_share: UNSET,
            nvls_ctas: UNSET,
            channels_per_net_peer: UNSET,
            nvlink_centric_sched: UNSET,
            graph_usage_mode: 1,
            rma_contexts: UNSET,
        }
    }
}

/// A failed call of NCCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NcclError {
    call: &'static str,
    code: u32,
}

impl NcclError {
    fn new(call: &'static str, code: u32) -> Self {
        Self { call, code }
    }
}

impl fmt::Display for NcclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        type GetErrorString = unsafe extern "C" fn(u32) -> *const c_char;
        // SAFETY: the type is that of NCCL's header, with an integer for its enum.
        let get = unsafe { find::<GetErrorString>("ncclGetErrorString") };
        // SAFETY: NCCL takes any number.
        let text = get.map(|get| unsafe { get(self.code) }).filter(|text| !text.is_null());
        // SAFETY: NCCL points to a NUL-terminated string in the library, which is never unloaded.
        let text = text.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
        write!(f, "{} failed: {}", self.call, text.unwrap_or("unknown error".into()))
    }
}

/// The library with its version, which is searched and loaded at the first call, and never unloaded. The error says
/// what was tried: a sentence each.
fn library() -> Result<&'static (Library, i32), &'static [String]> {
    static LIBRARY: OnceLock<Result<(Library, i32), Vec<String>>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        let library = search(&NCCL)?;
        let version = version(&library).unwrap_or(MIN_VERSION);
        Ok((library, version))
    });
    found.as_ref().map_err(Vec::as_slice)
}

const NCCL: Wanted = Wanted {
    names: &["libnccl.so.2", "libnccl.so"],
    file: ("libnccl.so", ""),
    wheel: "nvidia/nccl/lib",
    functions: NAMES,
    check: |library| match version(library) {
        Some(version) if version >= MIN_VERSION => Ok(()),
        Some(version) => Err(format!(
            "is too old: it is version {version}, and 2.18 ({MIN_VERSION}) is needed"
        )),
        None => Err("does not tell its version".to_owned()),
    },
};

/// `ncclGetVersion` of a library.
fn version(library: &Library) -> Option<i32> {
    // SAFETY: the type is that of NCCL's header, with an integer for its enum.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> u32>(b"ncclGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: `version` is valid for the write; the call needs no device.
    let code = unsafe { get(&mut version) };
    (code == 0).then_some(version)
}

/// Refuses to go on without the library. The error says what was tried: a sentence each.
pub(crate) fn present() -> Result<(), &'static [String]> {
    library().map(drop)
}

/// Looks a function up in the library; `None` if there is no library, or it has no function of that name.
///
/// # Safety
///
/// The function has type `F`.
unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let (library, _) = library().ok()?;
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

calls! {
    {find, NcclError::new, NcclError, nccl} NAMES;
    fn unique_id() -> id: UniqueId = ncclGetUniqueId(id: *mut UniqueId = &mut id), newer;
    fn async_error(comm: RawComm) -> state: u32 = ncclCommGetAsyncError(comm: RawComm, state: *mut u32 = &mut state), newer;
    fn finalize(comm: RawComm) = ncclCommFinalize, newer;
    fn destroy(comm: RawComm) = ncclCommDestroy, newer;
    fn abort(comm: RawComm) = ncclCommAbort, newer;
    fn group_start() = ncclGroupStart, newer;
    fn group_end() = ncclGroupEnd, newer;
    fn all_reduce(
        from: CUdeviceptr, to: CUdeviceptr, count: usize, number: u32, operation: u32, comm: RawComm, stream: CUstream,
    ) = ncclAllReduce, newer;
    fn reduce_scatter(
        from: CUdeviceptr, to: CUdeviceptr, count: usize, number: u32, operation: u32, comm: RawComm, stream: CUstream,
    ) = ncclReduceScatter, newer;
    fn all_gather(
        from: CUdeviceptr, to: CUdeviceptr, count: usize, number: u32, comm: RawComm, stream: CUstream,
    ) = ncclAllGather, newer;
    fn broadcast(
        from: CUdeviceptr, to: CUdeviceptr, count: usize, number: u32, root: c_int, comm: RawComm, stream: CUstream,
    ) = ncclBroadcast, newer;
    fn send(
        from: CUdeviceptr, count: usize, number: u32, peer: c_int, comm: RawComm, stream: CUstream,
    ) = ncclSend, newer;
    fn recv(
        to: CUdeviceptr, count: usize, number: u32, peer: c_int, comm: RawComm, stream: CUstream,
    ) = ncclRecv, newer;
}

/// `ncclUint8`: the type of what is moved, and not combined.
const BYTES: u32 = 1;

/// `ncclInProgress`
const IN_PROGRESS: u32 = 7;

/// The result of a call, which may have returned before it is done.
fn begun(result: Result<(), NcclError>) -> Result<(), NcclError> {
    result.or_else(|error| if error.code == IN_PROGRESS { Ok(()) } else { Err(error) })
}

/// Makes a number by which ranks find each other, on any host. This process listens for them.
pub(crate) fn new_id() -> Result<Vec<u8>, NcclError> {
    // SAFETY: the call asks nothing of its caller.
    unsafe { unique_id() }.map(|id| id.0.to_vec())
}

impl Comm {
    /// Begins to make the communicator of a rank on the device of the current context: `ncclCommInitRankConfig`. It can
    /// be used once it is [ready](Comm::is_ready). `id` is that of all ranks: [`new_id`].
    ///
    /// # Safety
    ///
    /// The device's context is current, and lives until the communicator is destroyed.
    pub(crate) unsafe fn begin(id: [u8; 128], rank: usize, ranks: usize) -> Result<Self, NcclError> {
        // No row of the table: of a call that is not done, the result counts.
        type Init = unsafe extern "C" fn(*mut RawComm, c_int, UniqueId, c_int, *mut Config) -> u32;
        const NAME: &str = "ncclCommInitRankConfig";
        let version = library().map_or(MIN_VERSION, |(_, version)| *version);
        let (mut config, mut comm) = (Config::of(version), ptr::null_mut());
        // SAFETY: the type is that of NCCL's header, with integers for its enums.
        let Some(init) = (unsafe { find::<Init>(NAME) }) else {
            return Err(NcclError::new(NAME, super::MISSING));
        };
        // SAFETY: by the caller's promise; NCCL copies what it reads, and writes to local variables, in the call.
        let code = unsafe { init(&mut comm, ranks as c_int, UniqueId(id), rank as c_int, &mut config) };
        match code {
            0 | IN_PROGRESS => Ok(Self(comm)),
            _ => Err(NcclError::new(NAME, code)),
        }
    }

    /// Whether the calls so far are done. The error is that of one of them, or of the communicator.
    ///
    /// # Safety
    ///
    /// The communicator lives.
    pub(crate) unsafe fn is_ready(self) -> Result<bool, NcclError> {
        // SAFETY: by the caller's promise.
        match unsafe { async_error(self.0) }? {
            0 => Ok(true),
            IN_PROGRESS => Ok(false),
            code => Err(NcclError::new("NCCL", code)),
        }
    }

    /// `ncclGetLastError`: the words that NCCL has for the last error, if there are any.
    ///
    /// # Safety
    ///
    /// The communicator lives.
    pub(crate) unsafe fn last_words(self) -> String {
        type GetLastError = unsafe extern "C" fn(RawComm) -> *const c_char;
        // SAFETY: the type is that of NCCL's header.
        let get = unsafe { find::<GetLastError>("ncclGetLastError") };
        // SAFETY: by the caller's promise.
        let text = get.map(|get| unsafe { get(self.0) }).filter(|text| !text.is_null());
        // SAFETY: NCCL points to a NUL-terminated string of its own.
        let text = text.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned());
        text.unwrap_or_default()
    }

    /// Begins to wait, in the background, until all work of the communicator is done: `ncclCommFinalize`.
    ///
    /// # Safety
    ///
    /// The communicator lives, and gets no more work.
    pub(crate) unsafe fn finalize(self) -> Result<(), NcclError> {
        // SAFETY: by the caller's promise.
        begun(unsafe { finalize(self.0) })
    }

    /// Frees a communicator that [`Comm::finalize`] has finished: `ncclCommDestroy`.
    ///
    /// # Safety
    ///
    /// The communicator lives, and is not used again.
    pub(crate) unsafe fn destroy(self) -> Result<(), NcclError> {
        // SAFETY: by the caller's promise.
        begun(unsafe { destroy(self.0) })
    }

    /// Ends the kernels of the communicator at once, then waits until no graph has one, and frees it: `ncclCommAbort`.
    ///
    /// # Safety
    ///
    /// The communicator lives, and is not used again but by kernels in graphs.
    pub(crate) unsafe fn abort(self) -> Result<(), NcclError> {
        // SAFETY: by the caller's promise.
        begun(unsafe { abort(self.0) })
    }

    /// Queues work on a stream.
    ///
    /// # Safety
    ///
    /// The communicator and the stream live, and are of one device; the memory is of that, too, and lives as long as
    /// the work.
    pub(crate) unsafe fn queue(self, work: &Carried, stream: CUstream) -> Result<(), NcclError> {
        let queued = match *work {
            Carried::AllReduce {
                memory,
                count,
                number,
                operation,
            } => {
                // SAFETY: by the caller's promise.
                unsafe { all_reduce(memory, memory, count, number, operation, self.0, stream) }
            }
            Carried::ReduceScatter {
                from,
                to,
                count,
                number,
                operation,
            } => {
                // SAFETY: by the caller's promise.
                unsafe { reduce_scatter(from, to, count, number, operation, self.0, stream) }
            }
            // SAFETY: by the caller's promise.
            Carried::AllGather { from, to, bytes } => unsafe { all_gather(from, to, bytes, BYTES, self.0, stream) },
            Carried::Broadcast { memory, bytes, root } => {
                // SAFETY: by the caller's promise.
                unsafe { broadcast(memory, memory, bytes, BYTES, root as c_int, self.0, stream) }
            }
            // SAFETY: by the caller's promise.
            Carried::Exchange(ref sides) => unsafe { self.exchange(sides, stream) },
        };
        begun(queued)
    }

    /// Sends and receives, all at once.
    ///
    /// # Safety
    ///
    /// As for [`Comm::queue`].
    unsafe fn exchange(self, sides: &[Side], stream: CUstream) -> Result<(), NcclError> {
        // SAFETY: the call asks nothing of its caller.
        unsafe { group_start() }?;
        let moved = sides.iter().try_for_each(|side| {
            let (memory, bytes, peer) = (side.memory, side.bytes, side.peer as c_int);
            begun(match side.sends {
                // SAFETY: by the caller's promise.
                true => unsafe { send(memory, bytes, BYTES, peer, self.0, stream) },
                // SAFETY: as above.
                false => unsafe { recv(memory, bytes, BYTES, peer, self.0, stream) },
            })
        });
        // SAFETY: the group was begun above.
        let ended = unsafe { group_end() };
        moved.and(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes in the headers of the versions that are told.
    #[test]
    fn settings_have_the_sizes_of_ncclconfig() {
        assert_eq!(size_of::<Config>(), 88);
        assert_eq!((Config::of(21_803).size, Config::of(22_809).size), (48, 48));
        assert_eq!(Config::of(22_901).size, 88);
    }
}
