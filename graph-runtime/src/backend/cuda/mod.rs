//! Graphs in a CUDA context.

/// Tells the subscribers of `tracing` about a driver call that comes next, and makes the context current again: a
/// subscriber is code of the user, and may make another one current. Nothing else in this folder tells them anything
/// (but for warnings at the end of `drop`), so that no such code runs between [`Cuda::bind`] and the calls that rely on
/// it.
macro_rules! announce {
    ($cuda:expr, $level:ident, $($fields:tt)*) => {{
        tracing::$level!(target: "graph_runtime", $($fields)*);
        $cuda.bind_after_trace()
    }};
}

/// As [`announce!`], of the call that adds a node: with its name, other fields, and the number of nodes that it runs
/// after.
macro_rules! announce_node {
    ($cuda:expr, $call:ident, $name:expr, $after:expr $(, $fields:ident = $value:expr)*) => {
        announce!($cuda, trace, node = $name, $($fields = $value,)* after = $after.len(), "{}", $cuda.api().names().$call)
    };
}

mod debug;
mod build;
mod add_nodes;
mod shared;
mod change;
mod executable;
mod child;
mod conditional;
mod library;
mod host;
mod delay;
mod programmatic;
mod memory_nodes;
mod collective;
mod nccl;
mod add;
mod attribute;
mod texture;
mod kernels;
mod builtin;
mod uploads;
mod forms;
mod passes;
mod prices;
mod predicated;
mod user_objects;
mod capture;
mod fill;
mod failure;

use crate::backend::cuda::add::Adder;
use crate::backend::cuda::change::prepared_launch::PreparedLaunches;
use crate::backend::cuda::conditional::Setter;
use crate::backend::cuda::kernels::Kernels;
use crate::backend::cuda::predicated::Predicated;
use crate::backend::cuda::user_objects::UserObjects;
use crate::devices::bodies::BodyForm;
use crate::devices::cuda::Cuda;
use crate::devices::launch_event::LaunchEvent;
use crate::devices::options::InstantiateOptions;
use crate::devices::uploads::UploadForm;
use crate::driver::{CUgraph, CUgraphExec, CUgraphNode, CUstream};
use crate::ownership::storage::Storage;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;

pub use change::update_from::Updated;
pub(crate) use debug::{DebugExecutable, ProfileClock};
pub(crate) use executable::{CAPTURED, ToolIds, launch_error};

/// An instantiated graph with everything that its launches use.
///
/// # Safety
///
/// These facts allow the GPU to use memory at times that Rust does not see. `SAFETY` comments refer to them by number.
/// The assumptions about others are numbered in `docs/safety.md`: D1 and so on.
///
/// 1. *Handles are ours and live.* `graph`, `exec`, `stream`, `event`, `events`, the modules and `nodes` were made by
///    `with_nodes` and `instantiate` in the context of `cuda`, are given to nobody who could destroy them without
///    `unsafe`, and are destroyed in `drop` only (events, which are counted, after it; a module that graphs share, with
///    the last of them: [`SharedModules`](crate::devices::shared_modules::SharedModules)). Only `exec` may be replaced
///    before, when no launch is in flight: by a new one (`instantiate_again`), or by that of another `CudaExecutable`,
///    which has none afterwards (`update_from`), or gets it back to destroy it. Where there is none, it is null, and
///    nothing is launched (fact 12). And a captured graph, whose `graph` was captured by `with_nodes`, gets another one
///    when it is recorded again (`record_again`): `exec` needs it no longer (D1). `exec` was instantiated from `graph`
///    or, if there is an `origin`, from that one's graph, which lives as long as `exec`; [`CudaExecutable::handle`] is
///    a node of it. `cuda` keeps the context alive (C1).
/// 2. *Memory outlives its use.* Nodes refer to `storage` and to the modules. (`storage` has heap allocations, nothing
///    inline: moving or swapping graphs moves nothing that the driver knows.) An `exec` that was taken over refers to
///    those of its new owner: `cuGraphExecUpdate` gave every node of it the parameters of the node of `graph` (D9),
///    when no launch was in flight. If that call fails, `exec` is not launched again. Both are freed only in `drop`,
///    after `wait` has returned `Ok`, which it does only when no launch is in flight. If it fails they are leaked, and
///    the events with them. A graph that is forgotten frees nothing. Variables of modules in `storage` belong to
///    modules that `build` loaded for this graph alone. Shared memory in `storage` is counted, and may also be replaced
///    while launches are in flight: fact 4 of `in_flight::uses::Uses` keeps it for those. Scratch memory of a pool is
///    counted, too, and launches of its graphs follow each other: facts 1 and 2 of
///    `ownership::pool_memory::PoolMemory`.
/// 3. *All launches are waited for.* Before a launch is put in flight, it is noted in `in_flight`: a launch on `stream`
///    as [`OWN`]; a launch on a user's stream as [`LOST`] and, once `event` is recorded after it, as [`EVENT`]; one
///    with shared memory on `stream` as [`LOST`] and, once `event` is deferred after it, as [`OWN`]. Only then does an
///    event name `stream`: `change_event` records `event` before it takes another, and `wait`, which comes before
///    `stream` is destroyed, makes `event` forget it. Launches of one `exec` run in the order in which they were made,
///    on whatever streams (D1), so the last event stands for all. A launch that fails is not in flight (D3), but is
///    waited for all the same.
/// 4. *No Rust reference meets the GPU.* References into host memory are lent by `Graph`, after a wait, for as long as
///    it is borrowed; starting a launch takes the graph by `&mut`. `Graph` is not `Sync`, so no thread launches while
///    another waits. Shared host memory is lent by guards instead: facts 1 to 3 of `in_flight::uses::Uses`.
/// 5. *Nodes stay within memory and within their access.* `build` lowers what passed the plan's checks: typed places
///    that are byte ranges of this graph's resources, and kernels whose [`Kernel`](crate::Kernel) implementation
///    vouches for theirs. An update changes the part of a copy or memset only to one within the memory that passed
///    those checks (`Update::push_part`). A kernel does what is known of it (D6, U1, U2, U4). Where it takes a texture
///    or a surface, it gets the handle of one that reaches the memory of its argument alone (D10, D13): `adder` has the
///    objects, which are destroyed after `exec` and `graph`, or when nodes have others and no launch is in flight. The
///    kernel of a collective touches the parts of its node, and stations of its ranks, which `user_objects` keeps
///    (facts 1 to 3 of [`CudaStation`](crate::ownership::station::CudaStation)); the kernels of NCCL touch the same
///    parts, and memory that its communicator keeps ([`NcclRank`](crate::ownership::nccl_rank::NcclRank)). For captured
///    work, the `unsafe` of the calls vouches; for a raw node, the `unsafe` of `GraphBuilder::raw` (U2, U3).
/// 6. *Argument values are copied* by CUDA (D1) when a node is added or changed; scratch memory need only live for the
///    call.
/// 7. *Conditions are numbers in memory that nodes read.* Conditional handles and body graphs belong to the CUDA graph
///    that they were made with, which fact 1 keeps. A handle is given to one conditional node of that graph and to
///    built-in kernels that run before it, or at the end of its `while` body. These read four bytes of `storage` that
///    passed the plan's checks; the driver takes any value. The nodes of a body are like others: in `nodes`, and under
///    facts 2 and 5. Those of a body that is predicated are in `predicated`. Their kernels are the program's after a
///    few instructions that read such four bytes, or a copy of them in `user_objects`, and do nothing if their body
///    does not run ([`graph_ptx::predicated`]). Nothing writes these bytes meanwhile: what is around the conditional
///    does not, by the plan's race rule. A body that does tests a copy, which was made before it, or is the body of a
///    `while`, whose nodes decide alike by what `passes` proves. Copies and tickets are words in `user_objects`, each
///    of one pass.
/// 8. *Host functions stay, and have their memory for themselves.* A host node of `exec` points into an `Arc` in
///    `user_objects`. That is dropped, or leaked, with the memory of fact 2; or it is dropped when other memory has
///    taken its place and no launch is in flight. (The node of `graph` may still point there: `instantiate_again` sets
///    that of a new `exec`.) `user_objects` also has the events of event nodes, and the closures, streams and
///    workspaces of captured and raw ones. While a function runs, the references that it gets are the only ones: other
///    nodes that touch the same memory come before or after it (the plan's race rule), one launch ends before the next
///    begins (fact 3), and the host has none (fact 4). A mutex around each function also keeps it from being entered
///    twice at once; since launches follow each other, it never waits.
/// 9. *Any thread may call.* Driver handles are not bound to threads (D2). Calls that need a current context get it by
///    [`Cuda::bind`]. No code of the user runs between that and those calls: subscribers of `tracing` run only in
///    `announce`, which binds again, and closures and destructors are followed by another `bind`.
/// 10. *No captured graph has our memory.* A launch on a user's stream is refused if the stream is being captured. If
///     another thread begins that between the question and the launch, the driver may refuse the launch: then the
///     capture is invalid (D7). Other drivers make the launch a part of the capture, or the recording of the event is
///     captured. So `launch_on_checked` asks again after both. A capture that is still open then is made invalid, and
///     CUDA makes no graph of it. If it has been ended by then, or while it was made invalid, the event tells: it is
///     given up if its recording was captured. Waiting for it fails for ever, so memory is neither lent (fact 4) nor
///     freed (fact 2), nor used by others (facts 2 to 4 of `Uses`), and `Graph` launches no more. In one case nothing
///     shows: a driver captures the launch, and the capture ends just between that and the recording. That this does
///     not happen is assumed of programs (P1).
/// 11. *Prepared launches are of the nodes as they are.* `prepared` has copies of addresses, handles and dimensions,
///     and no pointers into the program. Whatever changes one of these clears it: `rebind` of memory, `discard` of the
///     origin whose nodes it names, and `apply`, by which all changes are made but those of values, and values are
///     given back after a refusal. An executable that takes over `exec` has an empty one. So each names the kernel,
///     memory and dimensions that facts 2 and 5 are about.
/// 12. *Nothing is launched in the middle of a change.* `Graph` launches only a graph that is `State::Whole`. Whoever
///     changes `exec` in several steps, or runs code of the user between them (closures, copies of values, subscribers
///     of `tracing`), leaves that state before the first step, and returns to it after the last one. If that code
///     panics, the graph stays in `State::Broken`; `stale` tells the next change to make `exec` anew.
pub(crate) struct CudaExecutable {
    cuda: Arc<Cuda>,
    stream: CUstream,
    /// The stream's number: see [`CudaExecutable::launch_shared`].
    stream_id: Option<u64>,
    /// The event that is recorded after each launch on a user's stream and, when somebody waits for them, after
    /// launches with shared memory on the graph's own.
    event: Arc<LaunchEvent>,
    /// The events of launches before the last rebinding, and before earlier ones.
    events: VecDeque<Arc<LaunchEvent>>,
    /// Whether memory has been rebound since the last launch.
    rebound: bool,
    graph: CUgraph,
    exec: CUgraphExec,
    /// If `exec` was taken over, the graph that it was instantiated from.
    origin: Option<Origin>,
    options: InstantiateOptions,
    /// Whether `exec` is null, or lacks changes of nodes. Then it is made anew before the next launch.
    stale: bool,
    /// Whether the user has changed `graph`, which may have more nodes than the program.
    changed: bool,
    /// Whether driver and device support programmatic edges, if the graph has some.
    programmatic: bool,
    /// The handle of each node of the program in `graph`, by index.
    nodes: Vec<CUgraphNode>,
    /// The kernels that set the conditions of nodes.
    setters: Vec<Setter>,
    /// The nodes of bodies that run as predicated kernels.
    predicated: Predicated,
    /// The forms of bodies, for a reader.
    body_forms: Vec<BodyForm>,
    upload_forms: Vec<UploadForm>,
    kernels: Kernels,
    adder: Adder,
    prepared: PreparedLaunches,
    user_objects: ManuallyDrop<UserObjects>,
    storage: ManuallyDrop<Vec<Storage>>,
    in_flight: Cell<u8>,
}

/// The graph that an executable graph was instantiated from. CUDA knows the nodes of the executable graph by those of
/// that graph.
struct Origin {
    graph: CUgraph,
    /// The handle of each node of the program in `graph`, by index.
    nodes: Vec<CUgraphNode>,
}

/// A bit of `in_flight`: work on the graph's own stream.
const OWN: u8 = 1;
/// A bit of `in_flight`: a launch after which `event` is recorded.
const EVENT: u8 = 2;
/// A bit of `in_flight`: a launch for which neither the stream nor `event` can be waited. The whole context is waited
/// for instead.
const LOST: u8 = 4;

// SAFETY: fact 9; everything else in it may be sent.
unsafe impl Send for CudaExecutable {}
// SAFETY: no two threads ever share one: it is a private field of `Graph`, which is not `Sync` (its `not_sync`, and a
// doctest that must not compile). This impl exists only for rustc's message about shared graphs, which would otherwise
// list every handle in here.
unsafe impl Sync for CudaExecutable {}
