//! Collectives, and what they are over.

use super::GraphBuilder;
use crate::devices::Backend;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use crate::program::External;
use crate::program::communicator::Communicator;
use crate::program::communicator::call::{CollectiveCall, Move};
use crate::program::communicator::number::{Number, Reduction};
use crate::shape::part::Part;
use crate::shape::place::{OnDevice, Place, Span};
use graph_plan::{Mode, NodeKind, Origin};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// A part of an [`exchange`](GraphBuilder::exchange): memory that is sent or received.
#[derive(Clone, Copy, Debug)]
pub struct Exchange(Moved);

impl Exchange {
    /// Sends memory to a rank.
    pub fn send<S: ?Sized>(memory: &Place<S, OnDevice>, to: usize) -> Self {
        Self(Moved {
            span: memory.span,
            mode: Mode::Read,
            peer: to,
        })
    }

    /// Receives memory from a rank, which sends as much. If it sends several times, parts are received in the order in
    /// which they are sent.
    pub fn recv<S: ?Sized>(memory: &mut Place<S, OnDevice>, from: usize) -> Self {
        Self(Moved {
            span: memory.span,
            mode: Mode::Write,
            peer: from,
        })
    }
}

/// Memory that a collective sends, receives or combines, and the rank that it comes from or goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) span: Span,
    pub(super) mode: Mode,
    pub(super) peer: usize,
}

impl Moved {
    /// Memory that no rank in particular sends or receives.
    pub(super) fn new(span: Span, mode: Mode) -> Self {
        Self { span, mode, peer: 0 }
    }
}

impl GraphBuilder {
    /// Adds a node in which each rank sends memory to others and receives memory from others, all at the same time:
    /// `send(a, to)` of a rank meets `recv(b, from)` of the other, and both have the same length. `build` compares what
    /// ranks send and receive.
    pub fn exchange(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        moves: impl IntoIterator<Item = Exchange>,
        over: &Communicator,
    ) -> NodeId {
        let moves: Vec<Moved> = moves.into_iter().map(|Exchange(moved)| moved).collect();
        self.add_collective(name.into(), (NodeKind::Exchange, None), &moves, over)
    }

    /// Promises that memory holds the same on all ranks when a launch begins. Conditions that are computed from it may
    /// decide whether collectives run. If the promise is broken, ranks may wait for each other until their time is
    /// over.
    pub fn uniform<S: ?Sized, M>(&mut self, memory: &Place<S, M>) {
        if memory.span.graph == self.id {
            self.draft.resources[memory.span.resource].origin = Origin::Uniform;
        }
    }

    /// Adds a collective.
    pub(super) fn add_collective(
        &mut self,
        name: Cow<'static, str>,
        (kind, reduction): (NodeKind, Option<(Reduction, Number)>),
        moves: &[Moved],
        over: &Communicator,
    ) -> NodeId {
        let node = self.node(name, kind);
        let touched: Vec<bool> = moves
            .iter()
            .map(|moved| self.touch(node, moved.span, moved.mode))
            .collect();
        let communicator = self.index_of(over);
        self.draft.collective(node, communicator);
        let device: &dyn Any = &*over.0.device;
        let device = device.downcast_ref::<Backend>();
        if !device.is_some_and(|device| device.has_memory_of(&self.device.backend)) {
            self.fail(
                node,
                "the communicator is that of another device: each rank builds its graphs on its own device",
            );
        }
        if touched.iter().all(|&touched| touched) {
            self.check_collective(node, kind, moves, over);
        }
        let moves = moves.iter().map(|moved| Move {
            part: Part::of(moved.span),
            mode: moved.mode,
            peer: moved.peer,
        });
        let call = CollectiveCall {
            kind,
            reduction,
            moves: moves.collect(),
            communicator: over.clone(),
        };
        self.push(External::Collective(Arc::new(call)))
    }

    /// The index of a communicator in the draft.
    fn index_of(&mut self, over: &Communicator) -> usize {
        let known = self.communicators.iter().position(|known| known.is(over));
        known.unwrap_or_else(|| {
            self.communicators.push(over.clone());
            let number = self.draft.communicators.len();
            self.draft
                .communicator(format!("communicator {number} of {} ranks", over.size()))
        })
    }

    /// Reports ranks that do not exist, and a whole that does not have one row for each rank.
    fn check_collective(&mut self, node: usize, kind: NodeKind, moves: &[Moved], over: &Communicator) {
        let (ranks, name) = (over.size(), &self.draft.nodes[node].name);
        let mut found: Vec<graph_plan::Diagnostic> = moves
            .iter()
            .filter(|moved| moved.peer >= ranks)
            .map(|moved| mistakes::no_rank(node, name, moved.peer, ranks))
            .collect();
        let (part, whole) = match (kind, moves) {
            (NodeKind::AllGather, [part, whole]) | (NodeKind::ReduceScatter, [whole, part]) => (part.span, whole.span),
            _ => return self.findings.mistakes(found),
        };
        if part.bytes.checked_mul(ranks) != Some(whole.bytes) {
            let side = |span: Span| (&*self.draft.resources[span.resource].name, span.bytes);
            found.push(mistakes::other_ranks(node, name, side(part), side(whole), ranks));
        }
        self.findings.mistakes(found);
    }
}
