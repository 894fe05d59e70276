//! Meetings of ranks: each gives bytes, and gets those of all.
//!
//! Ranks are threads of one process, or processes. Each process has a copy of the state then. A rank changes its own
//! copy, and tells the others, which do the same to theirs: events of one rank arrive in order, and what is found in a
//! copy follows from events alone, so all copies find it. But events of two ranks arrive in any order. So each rank
//! that learns of a failure tells it, too, before anything that it does because of the failure: otherwise a third rank
//! could first hear that it has left, and take that for the failure.
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
                    self.break_circles(&mut state);
                }
            }
            Some(RankEvent::Leave { seat, has_panicked }) => {
                state.leave(&seat, if has_panicked { PANICKED } else { DROPPED });
            }
            Some(RankEvent::DropGraph { seat, graph }) => {
                let group = state.groups.entry(seat.group).or_default();
                group.dropped.insert((graph, seat.rank));
            }
            // It is sent by the thread that sends the next event: this one never waits for another rank.
            Some(RankEvent::Fail { seat, peer }) => self.break_group(&mut state, seat.group, &peer),
            None => state.end(from),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Ends all meetings of a group, and tells the other processes of that, once [`World::flush`] is called.
    fn break_group(&self, state: &mut State, group: u64, peer: &Peer) {
        if state.break_group(group, peer) {
            self.tell(|| RankEvent::fail(group, peer));
        }
    }

    /// Breaks the groups of launches that wait for each other for ever. Returns whether there are any.
    fn break_circles(&self, state: &mut State) -> bool {
        let circles = state.circles();
        circles
            .iter()
            .for_each(|(group, peer)| self.break_group(state, *group, peer));
        !circles.is_empty()
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
        self.break_group(&mut state, group, &peer);
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
        if self.break_circles(&mut state) {
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
                self.break_group(&mut state, member.group, &peer);
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
        let meeting = match state.come(seat.clone(), members, key, what, given) {
            Ok(meeting) => meeting,
            Err(broken) => {
                drop(state);
                self.flush();
                return Err(broken);
            }
        };
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
        self.break_group(&mut self.lock(), group, peer);
        self.flush();
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

#[cfg(test)]
mod tests {
    use super::super::link::{framed, receive};
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    /// Rank 1 of a world of processes, and the connections of the test, which is the ranks 0 and 2.
    fn second_of_three() -> (Arc<World>, TcpStream, TcpStream) {
        let (world, _) = World::new(3, 1, Duration::from_secs(60), &Arc::default());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || {
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (near, listener.accept().unwrap().0)
        };
        let ((near_0, far_0), (near_2, far_2)) = (connect(), connect());
        world.connect(vec![(0, near_0), (2, near_2)]).unwrap();
        (world, far_0, far_2)
    }

    fn send(stream: &mut TcpStream, event: &RankEvent) {
        stream.write_all(&framed(&event.encode())).unwrap();
    }

    fn seat(rank: usize) -> Seated {
        Seated { group: 0, rank }
    }

    /// A rank tells a failure that it has learned of before all that it does because of it.
    #[test]
    fn a_rank_that_leaves_because_of_a_failure_tells_the_failure_first() {
        let (world, mut first, mut third) = second_of_three();
        let peer = Peer::new(0, "rank 0 has failed");
        let fail = RankEvent::Fail {
            seat: seat(0),
            peer: peer.clone(),
        };
        send(&mut first, &fail);
        while world.broken(0).is_none() {
            thread::yield_now();
        }
        world.drop_graph(seat(1), 5);
        world.leave(&seat(1));
        let Some(RankEvent::Fail { peer: told, .. }) = receive(&mut third) else {
            panic!("the failure comes first");
        };
        assert_eq!(told, peer);
        let dropped = RankEvent::DropGraph {
            seat: seat(1),
            graph: 5,
        };
        assert_eq!(receive(&mut third), Some(dropped));
        let left = RankEvent::Leave {
            seat: seat(1),
            has_panicked: false,
        };
        assert_eq!(receive(&mut third), Some(left));
    }

    /// A rank tells a circle, which it has found in what others have told, before it leaves.
    #[test]
    fn a_rank_that_leaves_because_of_a_circle_tells_the_circle_first() {
        let (world, mut first, mut third) = second_of_three();
        // Ranks 0 and 2 wait for each other, at different nodes.
        for (rank, node, stream) in [(0, 1, &mut first), (2, 2, &mut third)] {
            let come = RankEvent::Come {
                seat: seat(rank),
                members: vec![0, 1, 2],
                key: Key::Node { graph: 3, node },
                what: format!("node {node}"),
                given: Vec::new(),
            };
            send(stream, &come);
        }
        while world.broken(0).is_none() {
            thread::yield_now();
        }
        world.leave(&seat(1));
        let Some(RankEvent::Fail { peer, .. }) = receive(&mut third) else {
            panic!("the circle comes first");
        };
        assert!(
            peer.message.starts_with("ranks wait for each other for ever: rank 0"),
            "{}",
            peer.message
        );
    }
}
