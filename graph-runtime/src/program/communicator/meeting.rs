//! Meetings of ranks: each gives bytes, and gets those of all.
//!
//! Ranks are threads of one process, or processes. Each process has a copy of the state then. A rank changes its own
//! copy, and tells the others, which do the same to theirs: events of one rank arrive in order, and what is found in a
//! copy follows from events alone, so all copies find it.
//!
//! A meeting ends with an error on all ranks that wait if one of them has left, is late, or waits elsewhere for one of
//! them. Then the group is broken: all later meetings of it end with the same error, so that nobody waits for ranks
//! that have given up.
//!
//! A rank runs one launch at a time of all graphs that have communicators of one world: see [`World::take_turn`]. So a
//! launch that waits keeps its rank from coming anywhere else. That makes it certain that ranks that wait for each
//! other in a circle wait for ever.

mod state;

use super::link::Link;
use super::peer::{Peer, place};
use super::rank_event::{Key, RankEvent, Seated};
use super::station::{Around, Reason, Report, Station};
use super::{Given, Member};
use state::{DROPPED, ENDED, Group, Meeting, PANICKED, Rank, State, group_number};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// All ranks that may meet.
pub(crate) struct World {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) timeout: Duration,
    /// The most ranks that are one GPU.
    pub(super) sharing: usize,
    /// The connections to the other ranks, if these are other processes.
    link: OnceLock<Link>,
}

impl World {
    /// A world of so many ranks, of which at most `sharing` are one GPU, and its group of all of them.
    pub(crate) fn new(
        ranks: usize,
        sharing: usize,
        timeout: Duration,
        stations: &Arc<[Arc<dyn Station>]>,
    ) -> (Arc<Self>, u64) {
        let all = Group {
            members: (0..ranks).collect(),
            stations: stations.clone(),
            ..Group::default()
        };
        let state = State {
            groups: HashMap::from([(0, all)]),
            ended: BTreeSet::new(),
            brought: HashMap::new(),
            meetings: HashMap::new(),
            ranks: (0..ranks).map(|_| Rank::default()).collect(),
        };
        let world = Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            timeout,
            sharing,
            link: OnceLock::new(),
        };
        (Arc::new(world), 0)
    }

    /// Takes connections to the other ranks, which are other processes.
    pub(super) fn connect(self: &Arc<Self>, connections: Vec<(usize, TcpStream)>) -> io::Result<()> {
        let world = Arc::downgrade(self);
        let take = move |rank, event| {
            if let Some(world) = world.upgrade() {
                world.apply(rank, event);
            }
        };
        let link = Link::new(connections, self.timeout, take)?;
        let _ = self.link.set(link);
        Ok(())
    }

    /// Whether the other ranks are other processes.
    pub(super) fn is_of_processes(&self) -> bool {
        self.link.get().is_some()
    }

    /// Tells the other processes of an event, once [`World::flush`] is called. The state is locked.
    fn tell(&self, event: impl FnOnce() -> RankEvent) {
        if let Some(link) = self.link.get() {
            link.put(&event());
        }
    }

    /// Sends what was told. The state is not locked.
    fn flush(&self) {
        if let Some(link) = self.link.get() {
            link.flush();
        }
    }

    /// Does what a rank of another process tells; `None` if that has ended.
    fn apply(&self, from: usize, event: Option<RankEvent>) {
        let mut state = self.lock();
        match event {
            Some(RankEvent::Come {
                seat,
                members,
                key,
                what,
                given,
            }) => {
                let ranks = state.ranks.len();
                if members.get(seat.rank) == Some(&from) && members.iter().all(|&member| member < ranks) {
                    // An error is that the group is broken, which the rank finds itself.
                    let _ = state.come(seat, &members.into(), key, &what, given);
                    state.break_circles();
                }
            }
            Some(RankEvent::Leave { seat, has_panicked }) => {
                state.leave(&seat, if has_panicked { PANICKED } else { DROPPED });
            }
            Some(RankEvent::DropGraph { seat, graph }) => {
                let group = state.groups.entry(seat.group).or_default();
                group.dropped.insert((graph, seat.rank));
            }
            Some(RankEvent::Fail { seat, peer }) => state.break_group(seat.group, &peer),
            None => state.end(from),
        }
        drop(state);
        self.changed.notify_all();
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
        let State {
            groups, brought, ended, ..
        } = &mut *state;
        let number = group_number(of, meeting, color);
        let group = groups.entry(number).or_default();
        if group.members.is_empty() {
            let own = members.iter().filter_map(|&rank| brought.remove(&(of, meeting, rank)));
            group.stations = own.collect();
            group.members = members.into();
            // Other processes may have told of it before.
            let gone = members.iter().enumerate().filter(|(_, member)| ended.contains(member));
            group.left.extend(gone.map(|(rank, _)| (rank, ENDED)));
            let missing = group
                .left
                .keys()
                .copied()
                .chain(group.broken.as_ref().map(|peer| peer.rank));
            missing.for_each(|rank| group.tell_of_leaving(rank));
        }
        (number, group.stations.clone())
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
            (None, Reason::Absent) => Peer::late(&[missing], &what, self.timeout),
            (None, Reason::Told) => Peer::absent(missing, &what, "another rank has waited for it in vain"),
            (None, Reason::Elsewhere) => Peer::absent(
                missing,
                &what,
                "it runs another collective; all ranks launch the graphs that share a communicator in one order",
            ),
            (None, Reason::Nccl) => {
                let said = &report.said;
                Peer::new(missing, format!("rank {missing} cannot go on at {what}: {said}"))
            }
        };
        state.break_group(group, &peer);
        self.tell(|| RankEvent::Fail {
            seat: Seated { group, rank: missing },
            peer: peer.clone(),
        });
        drop(state);
        self.flush();
        self.changed.notify_all();
        peer
    }

    /// The reason why a group cannot be used any more.
    pub(super) fn broken(&self, group: u64) -> Option<Peer> {
        self.lock().groups.get(&group)?.broken.clone()
    }

    /// Waits until all ranks of the member's group have come to the same place, and returns what each has given.
    pub(super) fn meet(&self, member: &Member, key: Key, what: &str, given: Vec<u8>) -> Result<Given, Peer> {
        let (meeting, mut state) = self.come(member.seated(), &member.members, key, what, given)?;
        if state.break_circles() {
            self.changed.notify_all();
        }
        let deadline = Instant::now().checked_add(self.timeout);
        let result = loop {
            if let Some(all) = meeting.result.get() {
                break Ok(all.clone());
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_late =
                || (left == Some(Duration::ZERO)).then(|| Peer::late(&meeting.missing(), &meeting.what, self.timeout));
            if let Some(peer) = state.hindrance(member.group, key, &meeting).or_else(is_late) {
                state.break_group(member.group, &peer);
                self.tell(|| RankEvent::Fail {
                    seat: member.seated(),
                    peer: peer.clone(),
                });
                self.changed.notify_all();
                break Err(peer);
            }
            // A minute is no limit, but keeps the wait within what every platform takes.
            let left = left.unwrap_or(Duration::from_secs(60));
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if matches!(key, Key::Node { .. }) {
            state.ranks[member.of_world()].waiting = None;
        }
        drop(state);
        self.flush();
        result
    }

    /// Brings a rank to a meeting, and tells the other processes of that.
    fn come(
        &self,
        seat: Seated,
        members: &Arc<[usize]>,
        key: Key,
        what: &str,
        given: Vec<u8>,
    ) -> Result<(Arc<Meeting>, MutexGuard<'_, State>), Peer> {
        let copy = self.link.get().map(|_| given.clone());
        let mut state = self.lock();
        let meeting = state.come(seat.clone(), members, key, what, given)?;
        if meeting.result.get().is_some() {
            self.changed.notify_all();
        }
        self.tell(|| RankEvent::Come {
            seat,
            members: members.to_vec(),
            key,
            what: what.to_owned(),
            given: copy.unwrap_or_default(),
        });
        if self.is_of_processes() {
            drop(state);
            self.flush();
            state = self.lock();
        }
        Ok((meeting, state))
    }

    /// Gives the bytes of a rank that does not wait for the others.
    pub(super) fn announce(&self, member: &Member, key: Key, what: &str, given: Vec<u8>) {
        let _ = self.come(member.seated(), &member.members, key, what, given);
        self.changed.notify_all();
    }

    /// Changes the state, and tells the other processes of the event.
    fn change(&self, event: impl FnOnce() -> RankEvent, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        self.tell(event);
        drop(state);
        self.flush();
        self.changed.notify_all();
    }

    /// Notes that a rank has no handle of a group any more.
    pub(super) fn leave(&self, seat: &Seated) {
        let has_panicked = std::thread::panicking();
        let reason = if has_panicked { PANICKED } else { DROPPED };
        let seat_again = seat.clone();
        let event = || RankEvent::Leave {
            seat: seat_again,
            has_panicked,
        };
        self.change(event, |state| state.leave(seat, reason));
    }

    /// Notes that a rank has dropped a graph.
    pub(super) fn drop_graph(&self, seat: Seated, graph: u64) {
        let Seated { group, rank } = seat;
        let event = || RankEvent::DropGraph { seat, graph };
        self.change(event, |state| {
            if let Some(group) = state.groups.get_mut(&group) {
                group.dropped.insert((graph, rank));
            }
        });
    }

    /// Ends all meetings of a group, now and later, because of a rank.
    pub(super) fn fail(&self, group: u64, peer: &Peer) {
        let event = || RankEvent::Fail {
            seat: Seated { group, rank: peer.rank },
            peer: peer.clone(),
        };
        self.change(event, |state| state.break_group(group, peer));
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

/// A rank, for the thread that watches its collectives. It keeps nothing alive.
pub(super) struct Watched {
    world: Weak<World>,
    seat: Seated,
    members: Arc<[usize]>,
    timeout: Duration,
    /// The meeting of the ranks that wait in the same collective as this one, and the words of this rank.
    waiting: Mutex<Option<(Arc<Meeting>, String)>>,
}

impl Watched {
    pub(super) fn new(member: &Member) -> Self {
        Self {
            world: Arc::downgrade(&member.world),
            seat: member.seated(),
            members: member.members.clone(),
            timeout: member.timeout(),
            waiting: Mutex::default(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<(Arc<Meeting>, String)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Around for Watched {
    fn rank(&self) -> usize {
        self.seat.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn is_broken(&self) -> bool {
        let world = self.world.upgrade();
        world.is_none_or(|world| world.broken(self.seat.group).is_some())
    }

    fn wait_at(&self, count: u32, what: &str) {
        /// The meetings that calls of the host have numbers below this.
        const WATCHED: u64 = 1 << 63;
        let Some(world) = self.world.upgrade() else {
            return;
        };
        let key = Key::Host(WATCHED | u64::from(count));
        let came = world.come(self.seat.clone(), &self.members, key, what, what.into());
        let came = came.map(|(meeting, _)| (meeting, what.to_owned()));
        *self.waiting() = came.ok();
        world.changed.notify_all();
    }

    fn missing(&self) -> Option<(usize, Reason)> {
        let waiting = self.waiting();
        let (meeting, own) = waiting.as_ref()?;
        let others = |given: &[Option<Vec<u8>>]| {
            let differs = |given: &Option<Vec<u8>>| given.as_ref().is_some_and(|given| *given != own.as_bytes());
            let elsewhere = given.iter().position(differs).map(|rank| (rank, Reason::Elsewhere));
            let absent = || {
                given
                    .iter()
                    .position(Option::is_none)
                    .map(|rank| (rank, Reason::Absent))
            };
            elsewhere.or_else(absent)
        };
        match meeting.result.get() {
            Some(all) => others(&all.iter().cloned().map(Some).collect::<Vec<_>>()),
            None => others(&meeting.given.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
