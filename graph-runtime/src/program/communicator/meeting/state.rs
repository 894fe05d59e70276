//! The state of a world: its groups, the meetings that ranks have come to, and the launches that wait at them.

use super::super::Given;
use super::super::peer::Peer;
use super::super::rank_event::{Key, Seated};
use super::super::station::Station;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The reasons why a rank does not come any more.
pub(super) const PANICKED: &str = "its thread has panicked";
pub(super) const DROPPED: &str = "it has dropped its communicator and its graphs";
pub(super) const ENDED: &str = "its process has ended";

pub(super) struct State {
    pub(super) groups: HashMap<u64, Group>,
    /// The ranks of the world whose processes have ended.
    pub(super) ended: BTreeSet<usize>,
    /// The stations that ranks have brought to splits, by the group, its meeting and the rank of the world.
    pub(super) brought: HashMap<(u64, u64, usize), Arc<dyn Station>>,
    pub(super) meetings: HashMap<(u64, Key), Arc<Meeting>>,
    /// The launch of each rank of the world.
    pub(super) ranks: Vec<Rank>,
}

#[derive(Default)]
pub(super) struct Group {
    /// The reason why each rank that has left cannot come any more.
    pub(super) left: HashMap<usize, &'static str>,
    /// The graphs that ranks have dropped.
    pub(super) dropped: HashSet<(u64, usize)>,
    pub(super) broken: Option<Peer>,
    /// For each rank, its rank in the world; empty before this process knows the group.
    pub(super) members: Arc<[usize]>,
    /// The stations of its ranks, where these are GPUs.
    pub(super) stations: Arc<[Arc<dyn Station>]>,
}

#[derive(Default)]
pub(super) struct Rank {
    /// The place where its launch waits.
    pub(super) waiting: Option<Waiting>,
    /// The number of the next launch.
    pub(super) next: u64,
    /// The number of the launch that runs or may run.
    pub(super) turn: u64,
    /// Launches that have ended before their turn.
    pub(super) ended: BTreeSet<u64>,
}

#[derive(Clone)]
pub(super) struct Waiting {
    pub(super) group: u64,
    pub(super) meeting: Arc<Meeting>,
}

pub(super) struct Meeting {
    /// The place, in words.
    pub(super) what: String,
    /// For each rank of the group, its rank in the world.
    pub(super) members: Arc<[usize]>,
    /// The bytes of each rank that has come.
    pub(super) given: Mutex<Vec<Option<Vec<u8>>>>,
    /// The bytes of all, once all have come.
    pub(super) result: OnceLock<Given>,
}

impl Meeting {
    /// The ranks of the group that have not come.
    pub(super) fn missing(&self) -> Vec<usize> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        (0..given.len()).filter(|&rank| given[rank].is_none()).collect()
    }

    /// Takes the bytes of a rank. Returns whether all have come.
    pub(super) fn give(&self, rank: usize, bytes: Vec<u8>) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = given.get_mut(rank) {
            *place = Some(bytes);
        }
        if given.contains(&None) {
            return false;
        }
        let all = given.iter_mut().filter_map(Option::take).collect();
        self.result.set(Arc::new(all)).is_ok()
    }
}

impl State {
    /// Brings a rank to a meeting.
    pub(super) fn come(
        &mut self,
        Seated { group, rank }: Seated,
        members: &Arc<[usize]>,
        key: Key,
        what: &str,
        given: Vec<u8>,
    ) -> Result<Arc<Meeting>, Peer> {
        if let Some(broken) = self.groups.get(&group).and_then(|group| group.broken.clone()) {
            return Err(broken);
        }
        let new = || {
            Arc::new(Meeting {
                what: what.to_owned(),
                members: members.clone(),
                given: Mutex::new(vec![None; members.len()]),
                result: OnceLock::new(),
            })
        };
        let place = (group, key);
        let meeting = self.meetings.entry(place).or_insert_with(new).clone();
        if meeting.give(rank, given) {
            self.meetings.remove(&place);
        }
        // A call of the host says nothing about the launch of the rank.
        if matches!(key, Key::Node { .. }) {
            let meeting = meeting.clone();
            self.ranks[members[rank]].waiting = Some(Waiting { group, meeting });
        }
        Ok(meeting)
    }

    /// Notes that a rank has left a group.
    pub(super) fn leave(&mut self, seat: &Seated, reason: &'static str) {
        let group = self.groups.entry(seat.group).or_default();
        group.left.insert(seat.rank, reason);
        group.tell_of_leaving(seat.rank);
    }

    /// Notes that the process of a rank of the world has ended.
    pub(super) fn end(&mut self, rank: usize) {
        self.ended.insert(rank);
        self.ranks[rank].waiting = None;
        for group in self.groups.values_mut() {
            if let Some(rank) = group.members.iter().position(|&member| member == rank) {
                group.left.entry(rank).or_insert(ENDED);
                group.tell_of_leaving(rank);
            }
        }
    }

    /// The reason why a meeting certainly does not take place.
    pub(super) fn hindrance(&self, group: u64, key: Key, meeting: &Meeting) -> Option<Peer> {
        let group = self.groups.get(&group)?;
        if let Some(broken) = &group.broken {
            return Some(broken.clone());
        }
        meeting.missing().into_iter().find_map(|rank| {
            let has_dropped = match key {
                Key::Node { graph, .. } => group.dropped.contains(&(graph, rank)),
                Key::Host(_) => false,
            };
            let reason = group.left.get(&rank).copied();
            let reason = reason.or(has_dropped.then_some("it has dropped its graph"))?;
            Some(Peer::absent(rank, &meeting.what, reason))
        })
    }

    /// Ends all meetings of a group. Returns whether it was whole before.
    pub(super) fn break_group(&mut self, group: u64, peer: &Peer) -> bool {
        let broken = self.groups.entry(group).or_default();
        let was_whole = broken.broken.is_none();
        broken.broken.get_or_insert_with(|| peer.clone());
        broken.tell_of_leaving(peer.rank);
        self.meetings.retain(|(of, _), _| *of != group);
        was_whole
    }

    /// The groups of launches that wait for each other for ever, and what to say: each of the launches waits for a rank
    /// whose launch is one of them, at another place.
    pub(super) fn circles(&self) -> Vec<(u64, Peer)> {
        // A rank whose meeting has taken place, or whose group is broken, may not have woken up yet.
        let is_broken = |group| {
            self.groups
                .get(&group)
                .is_some_and(|group: &Group| group.broken.is_some())
        };
        let is_open = |waiting: &&Waiting| waiting.meeting.result.get().is_none() && !is_broken(waiting.group);
        let waiting = |rank: usize| self.ranks[rank].waiting.as_ref().filter(is_open);
        let mut stuck: BTreeSet<usize> = (0..self.ranks.len()).filter(|&rank| waiting(rank).is_some()).collect();
        loop {
            let awaits_stuck = |rank: &usize| {
                waiting(*rank).is_some_and(|waiting| {
                    let mut missing = waiting.meeting.missing().into_iter();
                    missing.any(|rank| stuck.contains(&waiting.meeting.members[rank]))
                })
            };
            let left: BTreeSet<usize> = stuck.iter().copied().filter(awaits_stuck).collect();
            if left.len() == stuck.len() {
                break;
            }
            stuck = left;
        }
        let told = stuck.iter().filter_map(|&rank| {
            let meeting = &waiting(rank)?.meeting;
            let missing: Vec<String> = meeting.missing().iter().map(ToString::to_string).collect();
            Some(format!(
                "rank {rank} waits at {} for rank {}",
                meeting.what,
                missing.join(", ")
            ))
        });
        let told: Vec<String> = told.collect();
        let message = format!("ranks wait for each other for ever: {}", told.join("; "));
        let broken = stuck.iter().filter_map(|&rank| {
            let waiting = waiting(rank)?;
            let missing = waiting.meeting.missing().first().copied()?;
            Some((waiting.group, Peer::new(missing, message.clone())))
        });
        broken.collect()
    }
}

impl Group {
    /// Tells kernels that wait that a rank does not come any more.
    pub(super) fn tell_of_leaving(&self, rank: usize) {
        self.stations.iter().for_each(|station| station.tell_of_leaving(rank));
    }
}

/// The number of a group that a split has made: the same in all processes, and other than that of other groups (but for
/// one chance in 2^64). It is FNV-1a, of what tells the split.
pub(super) fn group_number(of: u64, meeting: u64, color: usize) -> u64 {
    let bytes = [of, meeting, color as u64].map(u64::to_le_bytes);
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.as_flattened().iter().fold(0xcbf2_9ce4_8422_2325, add)
}
