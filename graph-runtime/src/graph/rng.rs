//! Random numbers: the states of Philox generators in device memory, which the graph advances by itself.
//!
//! Each use of an `rng` (a node that takes its state, in one iteration of a `for`) has its own state: the seed, and the
//! offset at which it draws. With `users` uses, each of which draws at most `draws` numbers in a thread, use `i` starts
//! at offset `i * draws`. A built-in kernel advances it by `users * draws` after all uses, at the end of each launch,
//! or of each iteration of the `while` that it is in. So no two draws overlap, in whatever order and however often
//! bodies run: the offsets of one use differ by multiples of `users * draws`, and those of two uses never do.

use crate::backend::storage::Storage;
use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::kernel::source::{Ptx, Source};
use crate::kernel::{CallArgument, Kernel, KernelCall, KernelFacts, Launch};
use crate::shape::place::{OnDevice, Place, Span};
use bytemuck::{Pod, Zeroable};
use graph_plan::{Draft, GridDependency, KernelLimits, Mode, Param, ParamKind, Scalar};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The state of an `rng`, which a kernel takes as `&[Philox]`: the point in the sequence of a Philox 4x32-10 generator
/// at which its threads begin to draw.
///
/// In CUDA C++ it is `struct { unsigned long long seed, offset; }`. The kernel passes it to
/// `curand_init(seed, thread, offset, &state)`, or to a Philox of its own. Source: Salmon et al., "Parallel random
/// numbers: as easy as 1, 2, 3" (SC 2011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Philox {
    /// The key of the generator.
    pub seed: u64,
    /// The number of 32-bit numbers that each thread skips.
    pub offset: u64,
}

// SAFETY: all zeroes is a value of both fields.
unsafe impl Zeroable for Philox {}
// SAFETY: `repr(C)`, two fields of eight bytes that are `Pod`, so without padding.
unsafe impl Pod for Philox {}

/// A state in device memory. Its first two words are the [`Philox`] that kernels get.
#[derive(Clone, Copy)]
#[repr(C)]
struct RngState {
    philox: Philox,
    /// The number that advancing adds to the offset.
    step: u64,
    /// The body at whose end it advances; 0 for the whole graph.
    scope: u64,
}

// SAFETY: all zeroes is a value of every field.
unsafe impl Zeroable for RngState {}
// SAFETY: `repr(C)`, four words of eight bytes, so without padding.
unsafe impl Pod for RngState {}

/// Random numbers of a graph under construction: see [`GraphBuilder::rng`](crate::GraphBuilder::rng).
///
/// It is a counted handle: a clone refers to the same generator.
#[derive(Clone, Debug)]
pub struct Rng {
    graph: u64,
    resource: usize,
    uses: Arc<Mutex<RngUses>>,
}

/// The uses of an `rng` so far.
#[derive(Debug, Default)]
struct RngUses {
    count: usize,
    /// Whether the graph is built, so that its memory has room for `count` uses only.
    closed: bool,
    /// The states of uses to which an expansion has given names.
    named: HashMap<Box<[usize]>, Place<Philox, OnDevice>>,
}

impl RngUses {
    /// The state of one more use of `rng`. After `rng` is closed, the place is out of bounds.
    fn next(&mut self, rng: &Rng) -> Place<Philox, OnDevice> {
        let index = self.count;
        self.count += usize::from(!self.closed);
        Place::new(Span {
            graph: rng.graph,
            resource: rng.resource,
            start: index * size_of::<RngState>(),
            bytes: size_of::<Philox>(),
            outside: self.closed,
        })
    }
}

impl Rng {
    pub(crate) fn new(graph: u64, resource: usize) -> Self {
        Self {
            graph,
            resource,
            uses: Arc::default(),
        }
    }

    /// Returns the state of one more use, as an argument for one node, which takes it as `&`. Nodes that share a state
    /// draw the same numbers. After the graph has been built, this returns a place that is out of bounds.
    pub fn draw(&self) -> Place<Philox, OnDevice> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.next(self)
    }

    /// The state of the use of this name: a new one if the name has none yet.
    pub(crate) fn named(&self, name: &[usize]) -> Place<Philox, OnDevice> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&state) = uses.named.get(name) {
            return state;
        }
        let state = uses.next(self);
        uses.named.insert(name.into(), state);
        state
    }

    /// Refuses further uses from now on, and returns the number of uses.
    pub(crate) fn close(&self) -> usize {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.closed = true;
        uses.count
    }

    pub(crate) fn resource(&self) -> usize {
        self.resource
    }

    pub(crate) fn graph(&self) -> u64 {
        self.graph
    }

    /// The states of all `uses` uses, as words.
    fn states(&self, uses: usize) -> Place<[u64], OnDevice> {
        Place::new(Span {
            graph: self.graph,
            resource: self.resource,
            start: 0,
            bytes: bytes(uses),
            outside: false,
        })
    }
}

/// The index of the use whose state begins at this byte.
pub(crate) fn use_at(start: usize) -> usize {
    start / size_of::<RngState>()
}

/// The size of the states of `uses` uses, in bytes.
pub(crate) fn bytes(uses: usize) -> usize {
    uses * size_of::<RngState>()
}

/// An `rng` of a built graph.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    pub(crate) rng: Rng,
    pub(crate) seed: u64,
    pub(crate) draws: u64,
    /// The body at whose end each use advances; 0 for the whole graph.
    pub(crate) scopes: Vec<usize>,
}

impl Generator {
    /// The initial states, as bytes.
    fn states(&self) -> Vec<u8> {
        let step = self.draws.wrapping_mul(self.scopes.len() as u64);
        let states = self.scopes.iter().zip(0_u64..).map(|(&scope, index)| RngState {
            philox: Philox {
                seed: self.seed,
                offset: index.wrapping_mul(self.draws),
            },
            step,
            scope: scope as u64,
        });
        let states: Vec<RngState> = states.collect();
        bytemuck::cast_slice(&states).to_vec()
    }

    /// Writes the initial states. No launch may be in flight.
    pub(crate) fn start(&self, draft: &Draft, storage: &[Storage]) -> Result<()> {
        let site = || Site::graph(&draft.name).at_memory(&draft.resources[self.rng.resource].name);
        match storage[self.rng.resource].device() {
            Some((memory, start)) => memory.write(start, &self.states(), site),
            None => Err(Error::ForeignPlace { site: site() }),
        }
    }
}

/// Random numbers of a built graph, which it borrows: see [`Graph::rng`](crate::Graph::rng).
#[derive(Debug)]
pub struct RngHandle<'g> {
    pub(crate) graph: &'g mut Graph,
    pub(crate) index: Option<usize>,
}

impl RngHandle<'_> {
    /// The seed; 0 if the graph has no such random numbers.
    pub fn seed(&self) -> u64 {
        self.index.map_or(0, |index| self.graph.rngs[index].seed)
    }

    /// Starts again with this seed: later launches draw the same numbers as those of a graph that is built with it.
    /// Waits for launches in flight.
    ///
    /// # Errors
    /// As [`Graph::synchronize`]; [`Error::ForeignPlace`] for an `rng` of another graph.
    pub fn reseed(&mut self, seed: u64) -> Result<()> {
        let Some(index) = self.index else {
            let site = Site::graph(&self.graph.draft.name);
            return Err(Error::ForeignPlace { site });
        };
        self.graph.synchronize()?;
        self.graph.rngs[index].seed = seed;
        self.graph.rngs[index].start(&self.graph.draft, self.graph.executable.storage())
    }
}

static PTX: Ptx = Ptx {
    path: "graph-runtime/kernels/rng.ptx",
    text: include_str!("../../kernels/rng.ptx"),
};

/// The built-in kernel that advances states.
enum Advance {}

const fn value(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Value(Scalar::U64),
    }
}

// SAFETY: the facts are those of `rng.ptx` (a test below compares them): three parameters of eight bytes, and loads and
// stores through the first only.
unsafe impl Kernel for Advance {
    const FACTS: &'static KernelFacts = &KernelFacts {
        name: "graph_runtime_rng_advance",
        entry: "graph_runtime_rng_advance",
        source: Source::Ptx(&PTX),
        params: &[
            Param {
                name: "states",
                kind: ParamKind::Buffer {
                    unit: 8,
                    mode: Mode::ReadWrite,
                },
            },
            value("count"),
            value("scope"),
        ],
        contracts: &[],
        limits: KernelLimits::NONE,
        static_shared: 0,
        target: "sm_70",
        variables: &[],
        loads: &[(0, 42)],
        dependency: GridDependency {
            early_exit: Some(52),
            ..GridDependency::NONE
        },
    };
}

/// The launch that advances the states of `scope`, which are some of `uses` states.
pub(crate) fn advance(rng: &Rng, uses: usize, scope: usize) -> (Launch, KernelCall<3>) {
    const BLOCK: usize = 256;
    let arguments = [
        CallArgument::write(&mut rng.states(uses)),
        CallArgument::value(uses as u64),
        CallArgument::value(scope as u64),
    ];
    // SAFETY: the arguments are those of `Advance::FACTS`. The kernel touches as many states as its second argument
    // says, and the first has this many.
    let call = unsafe { KernelCall::new::<Advance>(arguments) };
    (Launch::new(uses.div_ceil(BLOCK), BLOCK), call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::source::with_summary;
    use graph_ptx::{parse, summarize};

    #[test]
    fn the_facts_are_those_of_the_ptx() {
        let facts = Advance::FACTS;
        let module = parse(PTX.text).expect("the PTX can be read");
        let summary = summarize(&module, facts.entry, &[true, false, false]).expect("the kernel is there");
        let read = with_summary(facts, &summary, &PTX);
        assert_eq!(format!("{facts:?}"), format!("{read:?}"));
    }
}
