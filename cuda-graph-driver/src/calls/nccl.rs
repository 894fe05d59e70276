//! NCCL's functions, of which the communicators are ranks of one process.

use super::calls;
use crate::argument::{In, Out};
use crate::code::{Done, fail};
use crate::handle::Handle;
use crate::module::Attributes;
use crate::nccl::{Collective, IN_PROGRESS, INVALID_ARGUMENT, INVALID_USAGE, Id, Kind, comm, free, join, unique_id};
use crate::state::state;
use crate::work::Work;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// The version that the library gives itself: the first whose communicators say how graphs use them.
const VERSION: i32 = 22_900;
/// The number at the beginning of settings.
const MAGIC: u32 = 0xcafe_beef;

/// `ncclUniqueId`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId(Id);

/// The beginning of `ncclConfig_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: i32,
}

/// The sends and receives of a group, on a stream.
#[derive(Default)]
struct Group {
    depth: usize,
    stream: Handle,
    comm: usize,
    sends: Vec<(usize, usize, usize)>,
    receives: Vec<(usize, usize, usize)>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Queues a collective on a stream. The work that a node has is one kernel, for all that others see.
fn queue(handle: usize, kind: Kind, stream: Handle) -> Done {
    let comm = comm(handle)?;
    if !comm.is_ready() {
        return fail(INVALID_USAGE, "the communicator is not ready");
    }
    let work = Work::Collective(Arc::new(Collective { comm, kind }));
    state().queue(stream, work, Attributes::new()).map(drop)
}

/// Adds to the group of this thread.
fn exchange(handle: usize, stream: Handle, number: u32, add: impl FnOnce(&mut Group)) -> Done {
    GROUP.with_borrow_mut(|group| {
        if group.depth == 0 || number != 1 {
            return fail(INVALID_USAGE, "here, sends and receives are of bytes, and in groups");
        }
        (group.comm, group.stream) = (handle, stream);
        add(group);
        Ok(())
    })
}

calls! {
    Nothing ncclGetVersion(out: Out<i32>) { out.put(VERSION) }
    Nothing ncclGetUniqueId(out: Out<UniqueId>) { out.put(UniqueId(unique_id())) }
    Context ncclCommInitRankConfig(out: Out<usize>, ranks: i32, id: UniqueId, rank: i32, config: In<Config>) {
        let config = config.get()?;
        if config.magic != MAGIC || config.blocking != 0 || config.size < size_of::<Config>() || config.version < 1 {
            return fail(INVALID_ARGUMENT, "here, communicators have settings, and do not block");
        }
        out.put(join(id.0, rank as usize, ranks as usize)?)?;
        fail(IN_PROGRESS, "the ranks come")
    }
    Nothing ncclCommGetAsyncError(handle: usize, out: Out<u32>) {
        out.put(if comm(handle)?.is_ready() { 0 } else { IN_PROGRESS })
    }
    Nothing ncclCommFinalize(handle: usize) { comm(handle).map(drop) }
    Nothing ncclCommDestroy(handle: usize) { free(handle, false) }
    Nothing ncclCommAbort(handle: usize) { free(handle, true) }
    Nothing ncclGroupStart() {
        GROUP.with_borrow_mut(|group| group.depth += 1);
        Ok(())
    }
    Context ncclGroupEnd() {
        let ended = GROUP.with_borrow_mut(|group| {
            group.depth = group.depth.saturating_sub(1);
            (group.depth == 0).then(|| std::mem::take(group))
        });
        match ended {
            Some(Group { stream, comm, sends, receives, .. }) if comm > 0 => {
                queue(comm, Kind::Exchange { sends, receives }, stream)
            }
            _ => Ok(()),
        }
    }
    Context ncclAllReduce(
        from: usize, to: usize, count: usize, number: u32, operation: u32, comm: usize, stream: Handle,
    ) {
        queue(comm, Kind::AllReduce { from, to, count, number, operation }, stream)
    }
    Context ncclReduceScatter(
        from: usize, to: usize, count: usize, number: u32, operation: u32, comm: usize, stream: Handle,
    ) {
        queue(comm, Kind::ReduceScatter { from, to, count, number, operation }, stream)
    }
    Context ncclAllGather(from: usize, to: usize, bytes: usize, _number: u32, comm: usize, stream: Handle) {
        queue(comm, Kind::AllGather { from, to, bytes }, stream)
    }
    Context ncclBroadcast(
        from: usize, to: usize, bytes: usize, _number: u32, root: i32, comm: usize, stream: Handle,
    ) {
        queue(comm, Kind::Broadcast { from, to, bytes, root: root as usize }, stream)
    }
    Nothing ncclSend(from: usize, bytes: usize, number: u32, peer: i32, comm: usize, stream: Handle) {
        exchange(comm, stream, number, |group| group.sends.push((from, bytes, peer as usize)))
    }
    Nothing ncclRecv(to: usize, bytes: usize, number: u32, peer: i32, comm: usize, stream: Handle) {
        exchange(comm, stream, number, |group| group.receives.push((to, bytes, peer as usize)))
    }
}

// Nobody asks for the address of one of these.
const _: &[(&str, *const ())] = TABLE;

/// `ncclGetErrorString`
#[unsafe(no_mangle)]
pub(super) extern "C" fn ncclGetErrorString(code: u32) -> *const c_char {
    let text: &CStr = match code {
        0 => c"no error",
        INVALID_ARGUMENT => c"invalid argument",
        INVALID_USAGE => c"invalid usage",
        IN_PROGRESS => c"NCCL operation in progress",
        _ => c"unhandled error",
    };
    text.as_ptr()
}

/// `ncclGetLastError`: the log has the words.
#[unsafe(no_mangle)]
pub(super) extern "C" fn ncclGetLastError(_comm: usize) -> *const c_char {
    c"".as_ptr()
}
