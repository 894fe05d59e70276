//! The messages of a rank to the ranks of other processes: all that happens to it in the meetings of a world, of which
//! each process keeps a copy of its own.

use super::peer::Peer;

/// The place where ranks of a group meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A call of the host, which is the so-manieth.
    Host(u64),
    /// A node of a graph. The graph is told by the meeting of the host at which its ranks have joined.
    Node { graph: u64, node: usize },
}

/// A rank of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seated {
    pub(crate) group: u64,
    pub(crate) rank: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RankEvent {
    /// The rank has come to a meeting, and gives bytes. The members are the ranks of the group, as ranks of the world.
    Come {
        seat: Seated,
        members: Vec<usize>,
        key: Key,
        what: String,
        given: Vec<u8>,
    },
    /// The rank has no handle of the group any more.
    Leave { seat: Seated, has_panicked: bool },
    /// The rank has dropped a graph.
    DropGraph { seat: Seated, graph: u64 },
    /// The rank has found that the group cannot be used any more.
    Fail { seat: Seated, peer: Peer },
}

impl RankEvent {
    /// The event that a group cannot be used any more because of a rank.
    pub(crate) fn fail(group: u64, peer: &Peer) -> Self {
        Self::Fail {
            seat: Seated { group, rank: peer.rank },
            peer: peer.clone(),
        }
    }

    /// The event as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (tag, seat) = match self {
            Self::Come { seat, .. } => (0, seat),
            Self::Leave { seat, .. } => (1, seat),
            Self::DropGraph { seat, .. } => (2, seat),
            Self::Fail { seat, .. } => (3, seat),
        };
        let mut bytes = Vec::new();
        [tag, seat.group, seat.rank as u64]
            .iter()
            .for_each(|&number| put(&mut bytes, number));
        match self {
            Self::Come {
                members,
                key,
                what,
                given,
                ..
            } => {
                let (first, second) = match *key {
                    Key::Host(number) => (number, u64::MAX),
                    Key::Node { graph, node } => (graph, node as u64),
                };
                put(&mut bytes, first);
                put(&mut bytes, second);
                put(&mut bytes, members.len() as u64);
                members.iter().for_each(|&member| put(&mut bytes, member as u64));
                put_all(&mut bytes, what.as_bytes());
                put_all(&mut bytes, given);
            }
            Self::Leave { has_panicked, .. } => put(&mut bytes, u64::from(*has_panicked)),
            Self::DropGraph { graph, .. } => put(&mut bytes, *graph),
            Self::Fail { peer, .. } => {
                put(&mut bytes, peer.rank as u64);
                put_all(&mut bytes, peer.message.as_bytes());
            }
        }
        bytes
    }

    /// The event that these bytes are; `None` if they are none.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let tag = take(from)?;
        let seat = Seated {
            group: take(from)?,
            rank: take(from)? as usize,
        };
        let event = match tag {
            0 => {
                let key = match (take(from)?, take(from)?) {
                    (number, u64::MAX) => Key::Host(number),
                    (graph, node) => Key::Node {
                        graph,
                        node: node as usize,
                    },
                };
                let count = take(from)?;
                let members = (0..count).map(|_| take(from).map(|member| member as usize));
                Self::Come {
                    seat,
                    members: members.collect::<Option<_>>()?,
                    key,
                    what: text(from)?,
                    given: take_all(from)?.to_vec(),
                }
            }
            1 => Self::Leave {
                seat,
                has_panicked: take(from)? != 0,
            },
            2 => Self::DropGraph {
                seat,
                graph: take(from)?,
            },
            3 => Self::Fail {
                seat,
                peer: Peer::new(take(from)? as usize, text(from)?),
            },
            _ => return None,
        };
        from.is_empty().then_some(event)
    }
}

fn put(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

fn put_all(bytes: &mut Vec<u8>, all: &[u8]) {
    put(bytes, all.len() as u64);
    bytes.extend(all);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn take_all<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take(bytes)?).ok()?;
    let (all, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(all)
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    String::from_utf8(take_all(bytes)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<RankEvent> {
        let seat = || Seated { group: 7, rank: 2 };
        let come = |key| RankEvent::Come {
            seat: seat(),
            members: vec![0, 3, 4],
            key,
            what: "node `sum` of graph `Step`".to_owned(),
            given: vec![1, 2, 3],
        };
        vec![
            come(Key::Host(5)),
            come(Key::Node { graph: 1, node: 9 }),
            RankEvent::Leave {
                seat: seat(),
                has_panicked: true,
            },
            RankEvent::DropGraph { seat: seat(), graph: 3 },
            RankEvent::Fail {
                seat: seat(),
                peer: Peer::new(1, "rank 1 is late"),
            },
        ]
    }

    #[test]
    fn events_come_back() {
        for event in events() {
            assert_eq!(RankEvent::decode(&event.encode()), Some(event));
        }
    }

    #[test]
    fn other_bytes_are_no_events() {
        for event in events() {
            let bytes = event.encode();
            (0..bytes.len()).for_each(|len| assert_eq!(RankEvent::decode(&bytes[..len]), None, "{event:?}"));
            assert_eq!(RankEvent::decode(&[&bytes[..], &[0]].concat()), None);
        }
        // A number of members that no bytes follow takes no memory.
        let huge: Vec<u8> = [0, 1, 2, 3, 4, u64::MAX]
            .iter()
            .flat_map(|number: &u64| number.to_le_bytes())
            .collect();
        assert_eq!(RankEvent::decode(&huge), None);
    }
}
