//! Meetings of ranks that are threads of one process: each gives bytes, and gets those of all.
//!
//! A meeting ends with an error on all ranks that wait if one of them has left, is late, or waits elsewhere for one of
//! them. Then the group is broken: all later meetings of it end with the same error, so that nobody waits for ranks
//! that have given up.
//!
//! A rank runs one launch at a time of all graphs that have communicators of one world: see [`World::take_turn`]. So a
//! launch that waits keeps its rank from coming anywhere else. That makes it certain that ranks that wait for each
//! other in a circle wait for ever.

use super::peer::Peer;
use super::station::{Reason, Report, Station};
use super::{Given, Member};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The place where ranks of a group meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A call of the host, which is the so-manieth.
    Host(u64),
    /// A node of a graph. The graph is told by the meeting of the host at which its ranks have joined.
    Node { graph: u64, node: usize },
}

/// All ranks of this process that may meet.
pub(crate) struct World {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) timeout: Duration,
}

struct State {
    next_group: u64,
    groups: HashMap<u64, Group>,
    /// The groups that splits have made, by the group, its meeting and the color.
    splits: HashMap<(u64, u64, usize), u64>,
    /// The stations that ranks have brought to splits, by the group, its meeting and the rank of the world.
    brought: HashMap<(u64, u64, usize), Arc<dyn Station>>,
    meetings: HashMap<(u64, Key), Arc<Meeting>>,
    /// The launch of each rank of the world.
    ranks: Vec<Rank>,
}

#[derive(Default)]
struct Group {
    /// The reason why each rank that has left cannot come any more.
    left: HashMap<usize, &'static str>,
    /// The graphs that ranks have dropped.
    dropped: HashSet<(u64, usize)>,
    broken: Option<Peer>,
    /// The stations of its ranks, where these are GPUs.
    stations: Arc<[Arc<dyn Station>]>,
}

#[derive(Default)]
struct Rank {
    /// The place where its launch waits.
    waiting: Option<Waiting>,
    /// The number of the next launch.
    next: u64,
    /// The number of the launch that runs or may run.
    turn: u64,
    /// Launches that have ended before their turn.
    ended: BTreeSet<u64>,
}

#[derive(Clone)]
struct Waiting {
    group: u64,
    meeting: Arc<Meeting>,
}

struct Meeting {
    /// The place, in words.
    what: String,
    /// For each rank of the group, its rank in the world.
    members: Arc<[usize]>,
    /// The bytes of each rank that has come.
    given: Mutex<Vec<Option<Vec<u8>>>>,
    /// The bytes of all, once all have come.
    result: OnceLock<Given>,
}

impl Meeting {
    /// The ranks of the group that have not come.
    fn missing(&self) -> Vec<usize> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        (0..given.len()).filter(|&rank| given[rank].is_none()).collect()
    }

    /// Takes the bytes of a rank. Returns whether all have come.
    fn give(&self, rank: usize, bytes: Vec<u8>) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given[rank] = Some(bytes);
        if given.contains(&None) {
            return false;
        }
        let all = given.iter_mut().filter_map(Option::take).collect();
        self.result.set(Arc::new(all)).is_ok()
    }
}

impl World {
    /// A world of so many ranks, and its group of all of them.
    pub(crate) fn new(ranks: usize, timeout: Duration, stations: &Arc<[Arc<dyn Station>]>) -> (Arc<Self>, u64) {
        let state = State {
            next_group: 1,
            groups: HashMap::from([(0, Group::of(stations))]),
            splits: HashMap::new(),
            brought: HashMap::new(),
            meetings: HashMap::new(),
            ranks: (0..ranks).map(|_| Rank::default()).collect(),
        };
        let world = Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            timeout,
        };
        (Arc::new(world), 0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the station of a rank of the world to a split of a group, before all ranks of that meet.
    pub(super) fn bring(&self, of: u64, meeting: u64, rank: usize, station: Arc<dyn Station>) {
        self.lock().brought.insert((of, meeting, rank), station);
    }

    /// The group of a color that a split makes, and the stations of its members, which are ranks of the world: all of
    /// them get the same.
    pub(super) fn split(
        &self,
        of: u64,
        meeting: u64,
        color: usize,
        members: &[usize],
    ) -> (u64, Arc<[Arc<dyn Station>]>) {
        let mut state = self.lock();
        let next = state.next_group;
        let group = *state.splits.entry((of, meeting, color)).or_insert(next);
        if group == next {
            state.next_group += 1;
            let brought = members
                .iter()
                .filter_map(|&rank| state.brought.remove(&(of, meeting, rank)));
            let stations = brought.collect();
            state.groups.insert(group, Group::of(&stations));
        }
        let stations = state.groups.get(&group).map(|group| group.stations.clone());
        (group, stations.unwrap_or_default())
    }

    /// The failure that a kernel has reported, after which the group is broken.
    pub(super) fn reported(&self, group: u64, report: &Report) -> Peer {
        let Report { missing, reason, .. } = *report;
        let what = place(&report.graph, &report.node);
        let mut state = self.lock();
        let known = state.groups.get(&group);
        if let Some(broken) = known.and_then(|group| group.broken.clone()) {
            return broken;
        }
        let left = known.and_then(|group| group.left.get(&missing)).copied();
        let peer = match (left, reason) {
            (Some(left), _) => Peer::absent(missing, &what, left),
            (None, Reason::Absent) => late(&[missing], &what, self.timeout),
            (None, Reason::Told) => Peer::absent(missing, &what, "another rank has waited for it in vain"),
            (None, Reason::Elsewhere) => Peer::absent(
                missing,
                &what,
                "it runs another collective; all ranks launch the graphs that share a communicator in one order",
            ),
        };
        state.break_group(group, &peer);
        drop(state);
        self.changed.notify_all();
        peer
    }

    /// The reason why a group cannot be used any more.
    pub(super) fn broken(&self, group: u64) -> Option<Peer> {
        self.lock().groups.get(&group)?.broken.clone()
    }

    /// Waits until all ranks of the member's group have come to the same place, and returns what each has given.
    pub(super) fn meet(&self, member: &Member, key: Key, what: &str, given: Vec<u8>) -> Result<Given, Peer> {
        let mut state = self.lock();
        let meeting = state.come(member, key, what, given)?;
        if meeting.result.get().is_some() {
            self.changed.notify_all();
        }
        let rank = member.of_world();
        let waits_in_launch = matches!(key, Key::Node { .. });
        if waits_in_launch && meeting.result.get().is_none() {
            let (group, meeting) = (member.group, meeting.clone());
            state.ranks[rank].waiting = Some(Waiting { group, meeting });
            if state.break_circles() {
                self.changed.notify_all();
            }
        }
        let deadline = Instant::now().checked_add(self.timeout);
        let result = loop {
            if let Some(all) = meeting.result.get() {
                break Ok(all.clone());
            }
            if let Some(peer) = state.hindrance(member, key, &meeting) {
                state.break_group(member.group, &peer);
                self.changed.notify_all();
                break Err(peer);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                let peer = late(&meeting.missing(), &meeting.what, self.timeout);
                state.break_group(member.group, &peer);
                self.changed.notify_all();
                break Err(peer);
            }
            // A minute is no limit, but keeps the wait within what every platform takes.
            let left = left.unwrap_or(Duration::from_secs(60));
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if waits_in_launch {
            state.ranks[rank].waiting = None;
        }
        result
    }

    /// Gives the bytes of a rank that does not wait for the others.
    pub(super) fn announce(&self, member: &Member, key: Key, what: &str, given: Vec<u8>) {
        let _ = self.lock().come(member, key, what, given);
        self.changed.notify_all();
    }

    /// Notes that a rank has no handle of a group any more.
    pub(super) fn leave(&self, group: u64, rank: usize) {
        let reason = match std::thread::panicking() {
            true => "its thread has panicked",
            false => "it has dropped its communicator and its graphs",
        };
        let mut state = self.lock();
        if let Some(group) = state.groups.get_mut(&group) {
            group.left.insert(rank, reason);
            group.tell_of_leaving(rank);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Notes that a rank has dropped a graph.
    pub(super) fn drop_graph(&self, group: u64, graph: u64, rank: usize) {
        if let Some(group) = self.lock().groups.get_mut(&group) {
            group.dropped.insert((graph, rank));
        }
        self.changed.notify_all();
    }

    /// Ends all meetings of a group, now and later, because of a rank.
    pub(super) fn fail(&self, group: u64, peer: &Peer) {
        self.lock().break_group(group, peer);
        self.changed.notify_all();
    }

    /// The number of the next launch of a rank. Launches run in the order in which they have got their numbers.
    pub(super) fn take_number(&self, rank: usize) -> u64 {
        let mut state = self.lock();
        let rank = &mut state.ranks[rank];
        rank.next += 1;
        rank.next - 1
    }

    /// Waits until all earlier launches of the rank have ended.
    pub(super) fn take_turn(&self, rank: usize, number: u64) {
        let mut state = self.lock();
        while state.ranks[rank].turn != number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends a launch, also one whose turn has not come.
    pub(super) fn end_turn(&self, rank: usize, number: u64) {
        let mut state = self.lock();
        let rank = &mut state.ranks[rank];
        rank.ended.insert(number);
        while rank.ended.remove(&rank.turn) {
            rank.turn += 1;
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl State {
    /// Brings a rank to a meeting.
    fn come(&mut self, member: &Member, key: Key, what: &str, given: Vec<u8>) -> Result<Arc<Meeting>, Peer> {
        if let Some(broken) = self.groups.get(&member.group).and_then(|group| group.broken.clone()) {
            return Err(broken);
        }
        let new = || {
            Arc::new(Meeting {
                what: what.to_owned(),
                members: member.members.clone(),
                given: Mutex::new(vec![None; member.members.len()]),
                result: OnceLock::new(),
            })
        };
        let place = (member.group, key);
        let meeting = self.meetings.entry(place).or_insert_with(new).clone();
        if meeting.give(member.rank, given) {
            self.meetings.remove(&place);
        }
        Ok(meeting)
    }

    /// The reason why a meeting certainly does not take place.
    fn hindrance(&self, member: &Member, key: Key, meeting: &Meeting) -> Option<Peer> {
        let group = self.groups.get(&member.group)?;
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

    fn break_group(&mut self, group: u64, peer: &Peer) {
        if let Some(group) = self.groups.get_mut(&group) {
            group.broken.get_or_insert_with(|| peer.clone());
            group.tell_of_leaving(peer.rank);
        }
        self.meetings.retain(|(of, _), _| *of != group);
    }

    /// Breaks the groups of launches that wait for each other for ever: each of them waits for a rank whose launch is
    /// one of them, at another place. Returns whether there are any.
    fn break_circles(&mut self) -> bool {
        // A rank whose meeting has taken place may not have woken up yet.
        let is_open = |waiting: &&Waiting| waiting.meeting.result.get().is_none();
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
        let broken: Vec<(u64, Peer)> = broken.collect();
        broken.iter().for_each(|(group, peer)| self.break_group(*group, peer));
        !broken.is_empty()
    }
}

impl Group {
    fn of(stations: &Arc<[Arc<dyn Station>]>) -> Self {
        Self {
            stations: stations.clone(),
            ..Self::default()
        }
    }

    /// Tells kernels that wait that a rank does not come any more.
    fn tell_of_leaving(&self, rank: usize) {
        self.stations.iter().for_each(|station| station.tell_of_leaving(rank));
    }
}

/// A node as the place of a meeting, in words.
pub(super) fn place(graph: &str, node: &str) -> String {
    format!("node `{node}` of graph `{graph}`")
}

/// The failure that ranks do not come in time.
fn late(missing: &[usize], what: &str, timeout: Duration) -> Peer {
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let (ranks, have) = match missing.len() {
        1 => ("rank", "has"),
        _ => ("ranks", "have"),
    };
    let message = format!(
        "{ranks} {} {have} not come to {what} within {timeout:?}",
        names.join(", ")
    );
    Peer::new(missing.first().copied().unwrap_or(0), message)
}
