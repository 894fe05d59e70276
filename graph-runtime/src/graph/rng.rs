//! Random numbers: the states of Philox generators in device memory, which the graph advances by itself.
//!
//! A generator is at an offset of its sequence. It belongs to the graph or, as a [`Generator`], to several. Each use of
//! an `rng` (a node that takes its state, in one iteration of a `for`) has a state of its own, in the graph's memory:
//! the seed, and the offset at which it draws. Each use has a lane: the numbers from `lane` to `lane + draws` of every
//! `step` numbers, where `step` is the sum of the draws of all uses of the generator in the graph.
//!
//! A launch begins with the generator at `base`, and each use at `base + lane`. At the end of each iteration of a
//! `while`, a built-in kernel advances the uses that are directly in it by `step`. At the end of the launch, another
//! kernel advances the generator by `step`, as often as the use did that drew most often, and sets all uses to begin
//! there. So no two draws overlap, in whatever order and however often bodies run: the offsets of one use grow by
//! `step`, those of two uses are in different lanes, and those of two launches are on different sides of a `base`. If
//! the generator is shared, a third kernel sets the uses when the launch begins; the launches, of all graphs, follow
//! each other, since all of them write the memory of the generator (facts 1 to 3 of `Uses`).

pub(crate) mod kernels;

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::graph::change::rebind::Rebound;
use crate::graph::change::update::update;
use crate::graph::rng::kernels::States;
use crate::in_flight::lock::Lock;
use crate::memory::{Beginning, Generator, Philox};
use crate::ownership::storage::Storage;
use crate::shape::NO_LENGTHS;
use crate::shape::place::{OnDevice, Place, Span};
use bytemuck::{Pod, Zeroable};
use graph_plan::Draft;
use std::collections::HashMap;
use std::sync::Arc;

/// A state in device memory: `State` in `rng.cu`. Its first two words are the [`Philox`] that kernels get.
#[derive(Clone, Copy)]
#[repr(C)]
struct RngState {
    philox: Philox,
    /// The distance of the offset from that of the generator, when a launch begins.
    lane: u64,
    /// The body at whose end it advances; 0 for the whole graph.
    scope: u64,
}

// SAFETY: all zeroes is a value of every field.
unsafe impl Zeroable for RngState {}
// SAFETY: `repr(C)`, four words of eight bytes, so without padding.
unsafe impl Pod for RngState {}

/// The first byte of the states. Before them is the graph's own generator, a [`Philox`].
const STATES: usize = size_of::<RngState>();

/// Random numbers of a graph under construction: see [`GraphBuilder::rng`](crate::GraphBuilder::rng).
///
/// It is a counted handle: a clone refers to the same random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    pub(crate) graph: u64,
    /// The declared resource. It holds the states, unless an earlier `rng` of the graph shares the same generator.
    pub(crate) resource: usize,
    /// The resource that holds the states.
    pub(crate) states: usize,
    /// The number that each thread draws at most in one use.
    draws: u64,
    uses: Arc<Lock<RngUses>>,
}

/// The uses of a generator in one graph so far.
#[derive(Debug, Default)]
struct RngUses {
    /// The number that each use draws at most.
    draws: Vec<u64>,
    /// Whether the graph is built, so that its memory has room for these uses only.
    closed: bool,
    /// The states of uses to which an expansion has given names.
    named: HashMap<UseName, Place<Philox, OnDevice>>,
}

/// The name of a use in an expansion: the resource of its `rng`, and numbers that are its own in the graph.
type UseName = (usize, Box<[usize]>);

impl RngUses {
    /// The state of one more use of `rng`. After `rng` is closed, the place is out of bounds.
    fn next(&mut self, rng: &Rng) -> Place<Philox, OnDevice> {
        let index = self.draws.len();
        if !self.closed {
            self.draws.push(rng.draws);
        }
        Place::new(Span {
            graph: rng.graph,
            resource: rng.states,
            start: bytes(index),
            bytes: size_of::<Philox>(),
            outside: self.closed,
        })
    }
}

impl Rng {
    pub(crate) fn new(graph: u64, resource: usize, draws: u64) -> Self {
        Self {
            graph,
            resource,
            states: resource,
            draws,
            uses: Arc::default(),
        }
    }

    /// Another `rng` with the generator of this one.
    pub(crate) fn beside(&self, resource: usize, draws: u64) -> Self {
        Self {
            resource,
            draws,
            ..self.clone()
        }
    }

    /// Returns the state of one more use, as an argument for one node, which takes it as `&`. Nodes that share a state
    /// draw the same numbers. After the graph has been built, this returns a place that is out of bounds.
    pub fn draw(&self) -> Place<Philox, OnDevice> {
        self.uses.lock().next(self)
    }

    /// The state of the use of this name: a new one if the name has none yet.
    #[doc(hidden)]
    pub fn named(&self, name: &[usize]) -> Place<Philox, OnDevice> {
        let mut uses = self.uses.lock();
        let key = (self.resource, name.into());
        if let Some(&state) = uses.named.get(&key) {
            return state;
        }
        let state = uses.next(self);
        uses.named.insert(key, state);
        state
    }

    /// Refuses further uses of the generator from now on, and returns the draws of each.
    pub(crate) fn close(&self) -> Vec<u64> {
        let mut uses = self.uses.lock();
        uses.closed = true;
        uses.draws.clone()
    }

    /// The memory for the built-in kernels, with a state for each use. `generator` is the place of a shared generator.
    pub(crate) fn kernels(&self, draws: &[u64], generator: Option<Place<Philox, OnDevice>>) -> States {
        let span = |start, bytes| Span {
            graph: self.graph,
            resource: self.states,
            start,
            bytes,
            outside: false,
        };
        States {
            generator: generator.unwrap_or_else(|| Place::new(span(0, size_of::<Philox>()))),
            states: Place::new(span(STATES, bytes(draws.len()) - STATES)),
            count: draws.len(),
            step: step(draws),
        }
    }
}

/// The sum of the draws. (Offsets count modulo 2^64, as Philox does.)
fn step(draws: &[u64]) -> u64 {
    draws.iter().fold(0, |sum, &draws| sum.wrapping_add(draws))
}

/// The index of the use whose state begins at this byte.
pub(crate) fn use_at(start: usize) -> Option<usize> {
    (start / size_of::<RngState>()).checked_sub(1)
}

/// The size in bytes of the graph's own generator and the states of `uses` uses.
pub(crate) fn bytes(uses: usize) -> usize {
    STATES + uses * size_of::<RngState>()
}

/// A generator in a built graph, and its uses there.
#[derive(Clone, Debug)]
pub(crate) struct BuiltRng {
    /// The statements that draw from it.
    pub(crate) rngs: Vec<Rng>,
    pub(crate) beginning: Beginning,
    /// The memory of a shared generator.
    pub(crate) generator: Option<Place<Philox, OnDevice>>,
    /// The most that each use draws.
    pub(crate) draws: Vec<u64>,
    /// The body at whose end each use advances; 0 for the whole graph.
    pub(crate) scopes: Vec<usize>,
}

impl BuiltRng {
    /// The statement with this resource, if it draws from the generator.
    pub(crate) fn find(&self, resource: usize) -> Option<&Rng> {
        self.rngs.iter().find(|rng| rng.resource == resource)
    }

    /// The graph's own generator in the state `begin`, and all states as they are then, as bytes.
    fn bytes(&self, begin: Philox) -> Vec<u8> {
        let generator = RngState {
            philox: begin,
            ..RngState::zeroed()
        };
        let mut lane = 0_u64;
        let states = self.scopes.iter().zip(&self.draws).map(|(&scope, &draws)| {
            let state = RngState {
                philox: Philox {
                    seed: begin.seed,
                    offset: begin.offset.wrapping_add(lane),
                },
                lane,
                scope: scope as u64,
            };
            lane = lane.wrapping_add(draws);
            state
        });
        let all: Vec<RngState> = std::iter::once(generator).chain(states).collect();
        bytemuck::cast_slice(&all).to_vec()
    }

    /// The states that a graph of the same statements begins with, if it has a generator of its own.
    pub(crate) fn contents(&self) -> Option<Vec<u8>> {
        match &self.beginning {
            Beginning::Own(state) => Some(self.bytes(*state)),
            Beginning::Shared(_) => None,
        }
    }

    /// Writes the states, as they are when the generator is in the state `begin`. No launch may be in flight.
    fn write(&self, draft: &Draft, storage: &[Storage], begin: Philox) -> Result<()> {
        let site = || self.site(draft);
        match storage[self.rngs[0].states].device() {
            Some((memory, start)) => memory.write(start, &self.bytes(begin), site),
            None => Err(Error::ForeignPlace { site: site() }),
        }
    }

    /// The state of the graph's own generator. No launch may be in flight.
    fn read(&self, graph: &Graph) -> Result<Philox> {
        let site = || self.site(&graph.data.draft);
        let mut state = Philox::zeroed();
        match graph.executable.storage()[self.rngs[0].states].device() {
            Some((memory, start)) => memory.read(start, bytemuck::bytes_of_mut(&mut state), site)?,
            None => return Err(Error::ForeignPlace { site: site() }),
        }
        Ok(state)
    }

    /// Writes the states for the first time, or again.
    pub(crate) fn begin(&self, draft: &Draft, storage: &[Storage]) -> Result<()> {
        match &self.beginning {
            Beginning::Own(state) => self.write(draft, storage, *state),
            Beginning::Shared(_) => self.write(draft, storage, Philox::zeroed()), // each launch sets seeds and offsets
        }
    }

    #[cold]
    fn site(&self, draft: &Draft) -> Site {
        Site::graph(&draft.name).at_memory(&draft.resources[self.rngs[0].resource].name)
    }
}

/// Random numbers of a built graph, which it borrows: see [`Graph::rng`](crate::Graph::rng).
#[derive(Debug)]
pub struct RngHandle<'g> {
    pub(crate) graph: &'g mut Graph,
    pub(crate) index: Option<usize>,
}

impl RngHandle<'_> {
    fn index(&self) -> Result<usize> {
        let site = || Site::graph(&self.graph.data.draft.name);
        self.index.ok_or_else(|| Error::ForeignPlace { site: site() })
    }

    /// The seed; 0 if the graph has no such random numbers.
    pub fn seed(&self) -> u64 {
        self.index
            .map_or(0, |index| match &self.graph.data.rngs[index].beginning {
                Beginning::Own(state) => state.seed,
                Beginning::Shared(generator) => generator.seed(),
            })
    }

    /// Waits for launches in flight (of all graphs that share the generator, if it is shared), and returns the state at
    /// which the next launch begins. An `rng` that begins with it continues the sequence:
    /// [`GraphBuilder::rng`](crate::GraphBuilder::rng).
    ///
    /// # Errors
    /// As [`Graph::synchronize`]; [`Error::ForeignPlace`] for an `rng` of another graph; as [`Generator::state`] if the
    /// generator is shared.
    pub fn state(&self) -> Result<Philox> {
        let index = self.index()?;
        self.graph.synchronize()?;
        let rng = &self.graph.data.rngs[index];
        match &rng.beginning {
            Beginning::Own(_) => rng.read(self.graph),
            Beginning::Shared(generator) => generator.state(),
        }
    }

    /// Makes the next launch begin at `state`, of all graphs that share the generator if it is shared. Waits for
    /// launches in flight.
    ///
    /// # Errors
    /// As [`RngHandle::state`].
    pub fn set_state(&mut self, state: Philox) -> Result<()> {
        let index = self.index()?;
        self.graph.synchronize()?;
        if let Beginning::Shared(generator) = &self.graph.data.rngs[index].beginning {
            return generator.set_state(state);
        }
        let Graph { data, executable, .. } = &mut *self.graph;
        data.rngs[index].write(&data.draft, executable.storage(), state)?;
        data.rngs[index].beginning = Beginning::Own(state);
        Ok(())
    }

    /// Starts again with this seed: later launches draw the same numbers as those of a graph that is built with it.
    /// Waits for launches in flight.
    ///
    /// # Errors
    /// As [`RngHandle::state`].
    pub fn reseed(&mut self, seed: u64) -> Result<()> {
        self.set_state(Philox { seed, offset: 0 })
    }

    /// Makes later launches draw from another generator. The graph must have been built with a shared one. In [an
    /// edit](Graph::edit), it is done when that ends.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the graph has a generator of its own, which [`RngHandle::set_state`] sets;
    /// [`Error::ForeignPlace`] for an `rng` of another graph; as [`Graph::rebind`].
    pub fn set_generator(&mut self, generator: &Generator) -> Result<()> {
        let index = self.index()?;
        let rng = &self.graph.data.rngs[index];
        let Some(place) = rng.generator else {
            return Err(Error::Unsupported {
                site: rng.site(&self.graph.data.draft),
                message: "the graph has a generator of its own: build it with a `Generator` to give it another one later",
            });
        };
        update(self.graph, "generator", |update| {
            update.rebind_memory(Rebound {
                span: place.span,
                memory: generator.memory(),
                lengths: (NO_LENGTHS, NO_LENGTHS),
            })?;
            update.batch.begin_random(index, Beginning::Shared(generator.clone()));
            Ok(())
        })
    }

    /// The generator that the graph shares, if it shares one.
    pub fn generator(&self) -> Option<&Generator> {
        match &self.graph.data.rngs[self.index?].beginning {
            Beginning::Own(_) => None,
            Beginning::Shared(generator) => Some(generator),
        }
    }
}
