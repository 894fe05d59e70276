//! A collective of a graph as data: what each rank gives, and what it gets of what all have given.

use super::Communicator;
use super::number::{Number, Reduction};
use super::peer::Peer;
use crate::shape::part::Part;
use graph_plan::{Mode, NodeKind};

/// A collective.
#[derive(Clone, Debug)]
pub(crate) struct CollectiveCall {
    pub(crate) kind: NodeKind,
    pub(crate) reduction: Option<(Reduction, Number)>,
    pub(crate) moves: Vec<Move>,
    pub(crate) communicator: Communicator,
}

/// Memory that a collective sends, receives or combines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) part: Part,
    pub(crate) mode: Mode,
    /// The rank that it comes from or goes to; 0 if the collective names none.
    pub(crate) peer: usize,
}

impl Move {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self {
        part: Part {
            resource: 0,
            start: 0,
            bytes: 0,
        },
        mode: Mode::Read,
        peer: 0,
    };
}

impl CollectiveCall {
    /// The memory that the node touches.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Part, Mode)> + Clone + '_ {
        self.moves.iter().map(|one| (one.part, one.mode))
    }

    /// The words by which ranks compare the node: all but the ranks of an exchange, which may differ.
    pub(crate) fn described(&self) -> String {
        let mut words = self.kind.keyword().to_owned();
        if let Some((reduction, number)) = self.reduction {
            let count = self.moves[0].part.bytes / number.bytes();
            words = format!("{words} {} of {count} {}", reduction.word(), number.name());
        }
        for one in &self.moves {
            let verb = if one.mode == Mode::Write { "to" } else { "from" };
            words = format!("{words}, {verb} {} bytes", one.part.bytes);
        }
        if self.kind == NodeKind::Broadcast {
            words = format!("{words}, from rank {}", self.moves[0].peer);
        }
        format!("{words}, over {}", self.communicator.0.name())
    }

    /// The bytes that this rank gives, which `read` reads.
    pub(crate) fn given<E>(&self, read: impl Fn(Part) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let gives = |one: &&Move| match self.kind {
            NodeKind::Broadcast => one.peer == self.communicator.rank(),
            _ => one.mode.reads(),
        };
        let given = self.moves.iter().filter(gives).map(|one| read(one.part));
        given.collect::<Result<Vec<_>, E>>().map(|given| given.concat())
    }

    /// The memory that this rank gets, with its new contents.
    pub(crate) fn taken(&self, all: &[Vec<u8>]) -> Result<Vec<(Part, Vec<u8>)>, Peer> {
        let rank = self.communicator.rank();
        let first = self.moves[0];
        Ok(match (self.kind, self.reduction) {
            (NodeKind::AllReduce, Some((reduction, number))) => {
                vec![(first.part, number.reduce(reduction, all.iter().map(Vec::as_slice)))]
            }
            (NodeKind::ReduceScatter, Some((reduction, number))) => {
                let own = self.moves[1].part;
                let rows = all.iter().map(|given| row(given, rank, own.bytes));
                vec![(own, number.reduce(reduction, rows))]
            }
            (NodeKind::Broadcast, _) => vec![(first.part, all[first.peer].clone())],
            (NodeKind::Exchange, _) => return self.received(all),
            _ => vec![(self.moves[1].part, all.concat())],
        })
    }

    /// The memory that this rank receives in an exchange. Each rank has given what it sends, with the receivers before.
    fn received(&self, all: &[Vec<u8>]) -> Result<Vec<(Part, Vec<u8>)>, Peer> {
        let rank = self.communicator.rank();
        let mut next = vec![0; all.len()];
        let receives = self.moves.iter().filter(|one| one.mode == Mode::Write);
        receives
            .map(|one| {
                let sent = sent(&all[one.peer]).filter(|(to, _)| *to == rank).nth(next[one.peer]);
                next[one.peer] += 1;
                match sent {
                    Some((_, bytes)) if bytes.len() == one.part.bytes => Ok((one.part, bytes.to_vec())),
                    // The ranks have compared this when they built the graph.
                    _ => Err(Peer::new(one.peer, format!("rank {} sends something else", one.peer))),
                }
            })
            .collect()
    }

    /// The bytes that this rank gives to an exchange: for each part that it sends, the receiver, the length, and the
    /// bytes.
    pub(crate) fn sends<E>(&self, read: impl Fn(Part) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let mut given = Vec::new();
        for one in self.moves.iter().filter(|one| one.mode == Mode::Read) {
            given.extend((one.peer as u64).to_le_bytes());
            given.extend((one.part.bytes as u64).to_le_bytes());
            given.extend(read(one.part)?);
        }
        Ok(given)
    }
}

/// A row of this many bytes.
fn row(whole: &[u8], index: usize, bytes: usize) -> &[u8] {
    whole.get(index * bytes..(index + 1) * bytes).unwrap_or(&[])
}

/// The receivers and the bytes that [`CollectiveCall::sends`] has put together.
fn sent(mut given: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    std::iter::from_fn(move || {
        let (to, rest) = given.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(*bytes) as usize)?;
        given = rest;
        Some((u64::from_le_bytes(*to) as usize, bytes))
    })
}
