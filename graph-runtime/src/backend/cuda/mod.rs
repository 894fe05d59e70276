//! Graphs in a CUDA context.

mod build;
mod renew;
mod shared;
mod skip;
mod executable;
mod child;
mod conditional;
mod library;
mod host;
mod delay;
mod programmatic;
mod memory_nodes;
mod add;
mod attribute;
mod kernels;
mod kept;
mod capture;
mod fill;
mod failure;

use crate::backend::cuda::add::Adder;
use crate::backend::cuda::conditional::Setter;
use crate::backend::cuda::kept::KeptObjects;
use crate::backend::cuda::kernels::Kernels;
use crate::backend::device::cuda::Cuda;
use crate::backend::device::event::LaunchEvent;
use crate::backend::storage::Storage;
use crate::driver::{CUgraph, CUgraphExec, CUgraphNode, CUstream};
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;

pub(crate) use executable::launch_error;

/// An instantiated graph with everything that its launches use.
///
/// # Safety
///
/// The GPU may use memory that Rust knows nothing of because of these facts. Blocks elsewhere refer to them by number.
///
/// 1. *Handles are ours and live.* `graph`, `exec`, `stream`, `event`, `events`, the modules and `nodes` were made by
///    `build` in the context of `cuda`, are given to nobody who could destroy them without `unsafe`, and are destroyed
///    in `drop` only (events, which are counted, after it). `exec` alone may be made anew before, when no launch is in
///    flight (`renew`); it is null where that failed, and nothing is launched then. `cuda` keeps the context alive.
/// 2. *Memory outlives its use.* What nodes refer to is `storage` (heap allocations; nothing inline, so moving or
///    swapping graphs moves nothing the driver knows) and the modules. Both are freed only in `drop`, after `wait` has
///    returned `Ok`, which it does only when no launch is in flight; where it fails they are leaked, and the events
///    with them. A graph that is forgotten frees nothing. Shared memory in `storage` is counted, and may also be
///    replaced while launches are in flight: fact 4 of `backend::uses::Uses` keeps it for those.
/// 3. *All launches are waited for.* Whatever could put a launch in flight first notes so in `in_flight`: those on
///    `stream` as [`OWN`], those with shared memory or on a user's stream as [`EVENT`] once `event` is recorded after
///    them, and as [`LOST`] until then. Launches of one `exec` run in the order in which they were made, on whatever
///    streams (CUDA, "cuGraphLaunch"), so the last event stands for all.
/// 4. *No Rust reference meets the GPU.* References into host memory are lent by `Graph`, after a wait, for as long as
///    it is borrowed; starting a launch takes the graph by `&mut`. `Graph` is not `Sync`, so no thread launches while
///    another waits. Shared host memory is lent by guards instead: facts 1 to 3 of `backend::uses::Uses`.
/// 5. *Nodes stay within memory and within their access.* `build` lowers what passed the plan's checks: typed places
///    that are byte ranges of this graph's resources, and kernels whose [`Kernel`](crate::Kernel) implementation
///    vouches for theirs. For what is captured the `unsafe` of the calls vouches, for a raw node that of
///    `GraphBuilder::raw`.
/// 6. *Argument values are copied* by CUDA when a node is added or changed; scratch memory need only live for the call.
/// 7. *Conditions are numbers in memory that nodes read.* Conditional handles and body graphs belong to the CUDA graph
///    that they were made with, which fact 1 keeps. A handle is given to one conditional node of that graph and to
///    built-in kernels that run before it, or at the end of its `while` body, and read four bytes of `storage` that
///    passed the plan's checks; the driver takes any value. What is in a body is a node like others: in `nodes`, and
///    under facts 2 and 5.
/// 8. *Host functions stay, and have their memory for themselves.* What a host node of `exec` points to is behind an
///    `Arc` in `kept`, which is dropped with the memory of fact 2, or leaked with it, or once other memory took its
///    place and no launch is in flight (the node of `graph` may point there still: `renew` tells that of a new `exec`).
///    KeptObjects are also the events of event nodes, and the closures, streams and workspaces of captured and raw
///    ones. While a function runs, the references it gets are the only ones: other nodes that touch the same memory
///    come before or after it (the plan's race rule), one launch ends before the next begins (fact 3), and the host has
///    none (fact 4). A mutex around each function also keeps it from being entered twice at once; as launches follow
///    each other it never waits.
/// 9. *Any thread may call.* Driver handles are not bound to threads; those calls that want the context current get it
///    by [`Cuda::bind`].
pub(crate) struct CudaExecutable {
    cuda: Arc<Cuda>,
    stream: CUstream,
    /// The stream's number: see [`CudaExecutable::launch_shared`].
    stream_id: Option<u64>,
    /// Behind the last launch that was recorded.
    event: Arc<LaunchEvent>,
    /// The events of launches before the last rebinding, and before earlier ones.
    events: VecDeque<Arc<LaunchEvent>>,
    /// Whether memory has been rebound since the last launch.
    rebound: bool,
    graph: CUgraph,
    exec: CUgraphExec,
    /// Whether `exec` is null, or not as nodes were told to be. Then nothing is launched before it is made anew.
    stale: bool,
    /// One for each node of the program, by index.
    nodes: Vec<CUgraphNode>,
    /// The kernels that set the conditions of nodes.
    setters: Vec<Setter>,
    kernels: Kernels,
    adder: Adder,
    kept: ManuallyDrop<KeptObjects>,
    storage: ManuallyDrop<Vec<Storage>>,
    in_flight: Cell<u8>,
}

/// Bits of `in_flight`: work on the graph's own stream.
const OWN: u8 = 1;
/// A launch after which `event` is recorded.
const EVENT: u8 = 2;
/// A launch that neither waiting for the stream nor waiting for `event` covers.
const LOST: u8 = 4;

// SAFETY: fact 9; everything else in it may be sent.
unsafe impl Send for CudaExecutable {}
// SAFETY: no two threads ever share one: it is a private field of `Graph`, which is not `Sync` (its `not_sync`, and a
// doctest that fails to compile). This impl only keeps rustc from listing every handle in here to whoever tries to
// share a graph.
unsafe impl Sync for CudaExecutable {}
