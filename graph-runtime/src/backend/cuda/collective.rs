//! Collectives as kernel nodes, whose kernels meet those of the other ranks: `graph-runtime/kernels/collective.cu`. And
//! how ranks are told of failures, whatever carries their data.

use super::CudaExecutable;
use super::add::launch;
use super::builtin::Builtin;
use crate::devices::cuda_memory::CudaMemory;
use crate::driver::{CUgraph, CUgraphNode, KernelNodeParams};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::ownership::station::{CudaStation, MAX_BLOCKS, MAX_RANKS, STAGING};
use crate::program::communicator::Communicator;
use crate::program::communicator::call::{CollectiveCall, Move as Side};
use crate::program::communicator::seat::Seats;
use crate::shape::part::Part;
use graph_plan::{Draft, LaunchConfig, Mode, NodeKind};
use graph_ptx::GuardForm;
use std::ffi::c_void;
use std::sync::Arc;

/// The most parts of an exchange: the size of a parameter of the kernel.
const MAX_MOVES: usize = 64;
/// The bytes of a round that are worth a block.
const MIN_CHUNK: usize = 4096;
/// The most threads of a block, and the number that runs together.
const MAX_THREADS: usize = 512;
const WARP: usize = 32;
/// The bytes that a thread loads at once.
const PACK: usize = 16;

/// The parameters of the built-in kernels of collectives.
struct CollectiveArguments {
    group: Group,
    from: u64,
    to: u64,
    bytes: u64,
    numbers: [u32; 2],
    moves: Moves,
    count: u32,
}

/// The group of ranks, for one of them. (What has 4 bytes in C++ is followed by 4 unused ones.)
#[repr(C)]
struct Group {
    stations: [u64; MAX_RANKS],
    post: u64,
    timeout: u64,
    rank: u64,
    ranks: u64,
    node: u64,
    index: u64,
    graph: u64,
    chunk: u64,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Move {
    memory: u64,
    bytes: u64,
    peer: u64,
    sends: u64,
}

#[repr(C)]
struct Moves([Move; MAX_MOVES]);

impl Default for Moves {
    fn default() -> Self {
        Self([Move::default(); MAX_MOVES])
    }
}

/// The ways in which ranks combine, as the kernel numbers them: all give all to all; several combine a part of a large
/// row each, and give that to all; each combines its own row of several.
const ONCE: u32 = 0;
const TWICE: u32 = 1;
const SCATTER: u32 = 2;

/// The bytes, times the ranks after the second one, above which it is less to send a part to each rank and then its sum
/// to all than to send all to all.
const MIN_TWICE: usize = 1 << 20;

/// The bytes of a slot, where each of so many blocks has `slots` of them, and gives `bytes` bytes in as few rounds as
/// are worth it, `parts` slots in a round. It is the same on all ranks.
fn slot(blocks: usize, bytes: usize, (slots, parts): (usize, usize)) -> usize {
    let even = bytes.div_ceil(blocks).max(MIN_CHUNK).div_ceil(parts);
    even.min(most(slots)).next_multiple_of(PACK)
}

/// The most bytes of a slot, of which there are so many.
fn most(slots: usize) -> usize {
    STAGING / slots.max(1) / PACK * PACK
}

/// The blocks and threads of a launch of at most `most` blocks for `bytes` bytes, in chunks.
fn config(most: usize, bytes: usize, chunk: usize) -> LaunchConfig {
    let blocks = bytes.div_ceil(chunk).clamp(1, most);
    let threads = bytes.min(chunk).div_ceil(PACK).next_multiple_of(WARP);
    LaunchConfig {
        grid: [blocks as u32, 1, 1],
        block: [threads.clamp(WARP, MAX_THREADS) as u32, 1, 1],
        shared: 0,
    }
}

/// The built-in kernel of a collective.
pub(super) fn kernel(call: &CollectiveCall) -> Builtin {
    match (call.kind, call.reduction) {
        (NodeKind::Exchange, _) => Builtin::Exchange,
        (_, Some((_, number))) => Builtin::Reduce(number),
        (_, None) => Builtin::Gather,
    }
}

impl CollectiveArguments {
    /// The arguments of a collective, and its launch. It has the number `node` at the station, and `index` in its
    /// graph, whose number is at the address `graph`. `address` tells where memory is.
    fn of(
        call: &CollectiveCall,
        station: &CudaStation,
        (node, index, graph): (u32, usize, u64),
        address: impl Fn(Part) -> u64,
    ) -> (Self, LaunchConfig) {
        let member = &call.communicator.0;
        let (rank, ranks) = (call.communicator.rank(), call.communicator.size());
        // An exchange may have none.
        let nothing = Side::NOTHING;
        let first = call.moves.first().unwrap_or(&nothing);
        let last = call.moves.last().unwrap_or(&nothing);
        let [from, to] = [first, last].map(|one| address(one.part));
        let operation = call.reduction.map_or(0, |(reduction, _)| reduction as u32);
        let gives = call.kind != NodeKind::Broadcast || first.peer == rank;
        let (others, row) = (ranks - 1, first.part.bytes);
        let is_reduced_twice =
            call.kind == NodeKind::AllReduce && others.saturating_mul(row) > MIN_TWICE.saturating_add(row);
        // The bytes of a row, the number of slots, the slots for each round, and two numbers for the kernel.
        let (bytes, slots, parts, numbers) = match call.kind {
            NodeKind::ReduceScatter => (last.part.bytes, others, 1, [SCATTER, operation]),
            NodeKind::AllGather => (row, others, 1, [0, ranks as u32]),
            NodeKind::Broadcast => (row, others, 1, [first.peer as u32, u32::from(!gives)]),
            NodeKind::Exchange => (0, ranks, 1, [0; 2]),
            _ if is_reduced_twice => (row, others, ranks, [TWICE, operation]),
            _ => (row, others, 1, [ONCE, operation]),
        };
        // The blocks of all ranks that share a GPU run at the same time.
        let blocks = (MAX_BLOCKS / member.sharing()).max(1);
        let chunk = match call.kind {
            NodeKind::Exchange => most(slots),
            _ => slot(blocks, bytes, (slots, parts)),
        };
        let mut config = config(blocks, bytes, chunk * parts);
        if call.kind == NodeKind::Exchange {
            // As many on all ranks, whatever each sends and receives.
            (config.grid[0], config.block[0]) = (blocks as u32, MAX_THREADS as u32);
        }
        let mut stations = [0; MAX_RANKS];
        let known = member.stations.iter().filter_map(CudaStation::of);
        stations
            .iter_mut()
            .zip(known)
            .for_each(|(to, station)| *to = station.address());
        let group = Group {
            stations,
            post: station.post().address(),
            timeout: u64::try_from(member.timeout().as_nanos()).unwrap_or(u64::MAX),
            rank: rank as u64,
            ranks: ranks as u64,
            node: node.into(),
            index: index as u64,
            graph,
            chunk: chunk as u64,
        };
        let mut moves = Moves::default();
        let given = call.moves.iter().map(|one| Move {
            memory: address(one.part),
            bytes: one.part.bytes as u64,
            peer: one.peer as u64,
            sends: u64::from(one.mode == Mode::Read),
        });
        moves.0.iter_mut().zip(given).for_each(|(to, one)| *to = one);
        let arguments = Self {
            group,
            from: if gives { from } else { 0 },
            to,
            bytes: bytes as u64,
            numbers,
            moves,
            count: call.moves.len() as u32,
        };
        (arguments, config)
    }

    /// The addresses of the arguments of the kernel, which `self` keeps.
    fn pointers(&mut self, kind: NodeKind) -> Vec<*mut c_void> {
        let group = (&raw mut self.group).cast();
        if kind == NodeKind::Exchange {
            return vec![group, (&raw mut self.moves).cast(), (&raw mut self.count).cast()];
        }
        let [one, other] = &mut self.numbers;
        let numbers = [(&raw mut *one).cast(), (&raw mut *other).cast()];
        let memory = [
            (&raw mut self.from).cast(),
            (&raw mut self.to).cast(),
            (&raw mut self.bytes).cast(),
        ];
        [group].into_iter().chain(memory).chain(numbers).collect()
    }
}

impl CudaExecutable {
    /// Loads the kernel of a collective, and refuses one that it cannot do.
    pub(super) fn prepare_collective(&mut self, draft: &Draft, node: usize, call: &CollectiveCall) -> Result<()> {
        if self.capture_collective(draft, node, call)? {
            return Ok(());
        }
        if call.kind == NodeKind::Exchange && call.moves.len() > MAX_MOVES {
            return Err(Error::Unsupported {
                site: Site::graph(&draft.name).at_node(&draft.nodes[node].name),
                message: "on GPUs, an exchange has 64 parts at most that are sent or received; make two of it, one after the other",
            });
        }
        if self.user_objects.joined.is_none() {
            let bytes = size_of::<u32>() * self.communicators().len();
            let joined = CudaMemory::zeroed(&self.cuda, bytes).at(|| Site::graph(&draft.name))?;
            self.user_objects.joined = Some(joined);
        }
        self.kernels.load_builtin(draft, kernel(call), GuardForm::default())
    }

    /// Makes a call with the parameters of the node of a collective, which live until that returns. `None` if its
    /// communicator has no stations: but it is one of this device (the builder has compared them).
    fn with_collective<T>(
        &self,
        draft: &Draft,
        (node, call): (usize, &CollectiveCall),
        make: impl FnOnce(&KernelNodeParams) -> T,
    ) -> Option<T> {
        let member = &call.communicator.0;
        let station = CudaStation::of(member.stations.get(member.rank)?)?;
        let index = self
            .communicators()
            .iter()
            .position(|known| known.is(&call.communicator))?;
        let graph = self.user_objects.joined.as_ref()?.address() + (size_of::<u32>() * index) as u64;
        let number = station.post().number(&draft.name, &draft.nodes[node].name);
        let (mut arguments, config) =
            CollectiveArguments::of(call, &station, (number, node, graph), |part| self.adder.device(part));
        let mut pointers = arguments.pointers(call.kind);
        let handle = self.kernels.builtin(kernel(call), GuardForm::default());
        Some(make(&launch(handle, &config, &mut pointers)))
    }

    /// Adds the node of a collective.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_one`].
    pub(super) unsafe fn add_collective(
        &mut self,
        draft: &Draft,
        graph: CUgraph,
        after: &[CUgraphNode],
        (node, call): (usize, &CollectiveCall),
    ) -> Result<CUgraphNode, CudaError> {
        // SAFETY: by the caller's promise.
        if let Some(added) = unsafe { self.add_by_nccl(draft, graph, after, (node, call)) } {
            return added;
        }
        let name = &*draft.nodes[node].name;
        announce_node!(
            self.cuda,
            add_kernel_node,
            name,
            after,
            bytes = call.moves[0].part.bytes
        )?;
        let api = self.cuda.api();
        let added = self.with_collective(draft, (node, call), |params| {
            // SAFETY: by the caller's promise; `params` lives until this returns. `user_objects` keeps the stations of
            // all ranks (fact 1 of `CudaStation`).
            unsafe { api.add_kernel_node(graph, after, params) }
        });
        // SAFETY: by the caller's promise.
        added.unwrap_or_else(|| unsafe { api.add_empty_node(graph, after) })
    }

    /// Makes later launches of a collective use its memory where that is now. The context is current. (The memory of
    /// what NCCL carries stays where it was.)
    pub(super) fn apply_collective(&self, draft: &Draft, node: usize, call: &CollectiveCall) -> Result<()> {
        if call.communicator.is_by_nccl() {
            return Ok(());
        }
        let (api, exec, handle) = (self.cuda.api(), self.exec, self.handle(node));
        let applied = self.with_collective(draft, (node, call), |params| {
            // SAFETY: facts 1, 2 and 5 of `CudaExecutable`; `params` lives until this returns.
            unsafe { api.set_kernel_node(exec, handle, params) }
        });
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        applied.unwrap_or(Ok(())).at(site)
    }

    /// The communicators of the graph.
    pub(crate) fn communicators(&self) -> &Arc<[Communicator]> {
        &self.user_objects.communicators
    }

    /// Notes the number that the graph has on all ranks of each communicator, and tells it to kernels.
    pub(crate) fn joined(&self, draft: &Draft, seats: &Seats) -> Result<()> {
        let all = self.communicators().iter();
        let numbers: Vec<u64> = all.map(|communicator| seats.joined(communicator)).collect();
        let written = match &self.user_objects.joined {
            Some(joined) => {
                let bytes: Vec<u8> = numbers
                    .iter()
                    .flat_map(|&number| (number as u32).to_le_bytes())
                    .collect();
                joined.write(0, &bytes)
            }
            None => Ok(()),
        };
        let _ = self.user_objects.numbers.set(numbers);
        written.at(|| Site::graph(&draft.name))
    }

    /// Tells the other ranks of a failed launch, after which nothing runs in the context. Returns the error.
    pub(crate) fn fail_ranks(&self, draft: &Draft, error: CudaError) -> CudaError {
        if error.is_of_kernel() {
            let message = error.to_string();
            let all = self.communicators().iter();
            all.for_each(|communicator| communicator.fail(&draft.name, &message));
        }
        error
    }

    /// Returns the failure that a kernel of a collective has reported, if there is one.
    pub(crate) fn check_ranks(&self) -> Result<()> {
        Communicator::check(self.communicators())
    }

    /// Refuses a launch, or a profile, of a graph whose communicators cannot be used any more, and where NCCL carries
    /// the data, one that the other ranks do not make. The caller has claimed the stations.
    pub(crate) fn check_communicators(&self, draft: &Draft, is_profile: bool) -> Result<()> {
        let site = || Site::graph(&draft.name);
        let all = self.communicators();
        if let Some(error) = all.iter().find_map(|communicator| communicator.0.broken(site)) {
            return Err(error);
        }
        let numbers = self.user_objects.numbers.get();
        let number = |index| numbers.and_then(|numbers: &Vec<u64>| numbers.get(index)).copied();
        let agreed = all.iter().enumerate().try_for_each(|(index, communicator)| {
            communicator.agree_on_launch(number(index).unwrap_or(u64::MAX), &draft.name, is_profile)
        });
        agreed
            .map_err(|peer| peer.at(site()))
            .inspect_err(|error| self.end_nccl(draft, error))
    }

    /// Tells the other ranks, where NCCL carries the data, that this one does not launch what they have agreed on: its
    /// later collectives would be taken for those of this launch.
    pub(crate) fn end_nccl(&self, draft: &Draft, error: &Error) {
        let all = self
            .communicators()
            .iter()
            .filter(|communicator| communicator.is_by_nccl());
        all.for_each(|communicator| communicator.fail(&draft.name, &error.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stay_within_the_staging() {
        for slots in 0..=MAX_RANKS {
            for bytes in [0, 1, 4096, 100_000, 1 << 20, 1 << 40, usize::MAX] {
                for (blocks, parts) in [(1, 1), (MAX_BLOCKS, 1), (MAX_BLOCKS, slots + 1)] {
                    let slot = slot(blocks, bytes, (slots, parts));
                    assert!(slot > 0 && slot.is_multiple_of(PACK), "{slot}");
                    assert!(slot * slots <= STAGING, "{slot} bytes for {slots}, {bytes}");
                }
            }
        }
    }
}
