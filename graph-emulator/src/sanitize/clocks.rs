//! Vector clocks: the knowledge that each thread of a block, or of a cluster, has of the others.
//!
//! A thread's clock ticks whenever others may learn from it. A thread learns of the ticks of others through a barrier,
//! or through an atomic operation on the same memory. An access at one tick comes before all that follows in the
//! threads that have learnt of that tick.

use std::collections::HashMap;

/// A place where threads meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Meeting {
    /// A barrier of a block, or that of the cluster, and the number of times that it had opened before.
    Barrier(u32, u32),
    /// `bar.warp.sync`: the first thread of the warp, the members, and the number of times that a member was there.
    Warp(usize, u32, u32),
}

/// The number of barriers of a block. Those of the blocks of a cluster are numbered one block after the other.
pub(super) const BARRIERS: u32 = 16;
/// The number of the cluster's barrier.
const CLUSTER: u32 = u32::MAX;

/// The clocks of a block, or of a cluster.
pub(super) struct Clocks {
    threads: usize,
    /// For each thread a row: the latest tick of every thread that it has learnt of.
    known: Vec<u32>,
    /// The knowledge of all threads that came to a meeting.
    meetings: HashMap<Meeting, Vec<u32>>,
    /// The meeting that a thread has left and not yet learnt from.
    left: Vec<Option<Meeting>>,
    /// The meeting of the cluster at which a thread has arrived, and for which it has not waited.
    arrived: Vec<Option<Meeting>>,
    /// The number of times that a thread was at `bar.warp.sync` with given members.
    visits: HashMap<(usize, u32), u32>,
    /// The knowledge that atomic operations on an address pass on.
    places: HashMap<u64, Vec<u32>>,
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Clocks {
        let mut clocks = Clocks {
            threads,
            known: vec![0; threads * threads],
            meetings: HashMap::new(),
            left: vec![None; threads],
            arrived: vec![None; threads],
            visits: HashMap::new(),
            places: HashMap::new(),
        };
        clocks.reset();
        clocks
    }

    pub(super) fn reset(&mut self) {
        self.known.fill(0);
        for thread in 0..self.threads {
            self.known[thread * self.threads + thread] = 1;
        }
        self.meetings.clear();
        self.left.fill(None);
        self.arrived.fill(None);
        self.visits.clear();
        self.places.clear();
    }

    fn row(&mut self, thread: usize) -> &mut [u32] {
        &mut self.known[thread * self.threads..][..self.threads]
    }

    /// The current tick of a thread.
    pub(super) fn now(&self, thread: usize) -> u32 {
        self.known[thread * self.threads + thread]
    }

    /// Whether `thread` has learnt of a tick of `other`.
    pub(super) fn knows(&self, thread: usize, other: usize, tick: u32) -> bool {
        self.known[thread * self.threads + other] >= tick
    }

    /// Makes a thread come to a meeting. If it waits there, it learns what all who came know when it goes on.
    pub(super) fn meet(&mut self, thread: usize, meeting: Meeting, waits: bool) {
        self.catch_up(thread);
        if let Meeting::Barrier(id, generation) = meeting
            && !self.meetings.contains_key(&meeting)
        {
            // No thread can still be leaving the meeting before the last.
            self.meetings
                .retain(|known, _| !matches!(*known, Meeting::Barrier(of, past) if of == id && past + 1 < generation));
        }
        let row = &self.known[thread * self.threads..][..self.threads];
        let all = self.meetings.entry(meeting).or_insert_with(|| vec![0; row.len()]);
        learn(all, row);
        self.row(thread)[thread] += 1;
        if waits {
            self.left[thread] = Some(meeting);
        }
    }

    /// Makes a thread arrive at the barrier of the cluster.
    pub(super) fn arrive_at_cluster(&mut self, thread: usize, generation: u32) {
        let meeting = Meeting::Barrier(CLUSTER, generation);
        self.meet(thread, meeting, false);
        self.arrived[thread] = Some(meeting);
    }

    /// Makes a thread wait at the barrier of the cluster, where it has arrived.
    pub(super) fn leave_cluster(&mut self, thread: usize) {
        self.catch_up(thread);
        self.left[thread] = self.arrived[thread].take();
    }

    /// Makes a lane come to `bar.warp.sync`.
    pub(super) fn meet_warp(&mut self, first: usize, lane: usize, members: u32) {
        let visits = self.visits.entry((first + lane, members)).or_insert(0);
        *visits += 1;
        let meeting = Meeting::Warp(first, members, *visits);
        self.meet(first + lane, meeting, true);
    }

    /// Makes a thread learn from its last meeting, which is over if the thread goes on.
    pub(super) fn catch_up(&mut self, thread: usize) {
        if let Some(meeting) = self.left[thread].take()
            && let Some(all) = self.meetings.get(&meeting)
        {
            learn(&mut self.known[thread * self.threads..][..self.threads], all);
        }
    }

    /// Makes a thread learn from those that published at an address.
    pub(super) fn acquire(&mut self, thread: usize, address: u64) {
        if let Some(place) = self.places.get(&address) {
            learn(&mut self.known[thread * self.threads..][..self.threads], place);
        }
    }

    /// Makes a thread learn all that any thread has done: whatever it has read may come from any of them.
    pub(super) fn acquire_all(&mut self, thread: usize) {
        for other in 0..self.threads {
            let now = self.now(other);
            let known = &mut self.row(thread)[other];
            *known = (*known).max(now);
            if other != thread {
                self.row(other)[other] += 1;
            }
        }
    }

    /// Makes a thread publish its knowledge at an address.
    pub(super) fn release(&mut self, thread: usize, address: u64) {
        let row = &self.known[thread * self.threads..][..self.threads];
        let place = self.places.entry(address).or_insert_with(|| vec![0; row.len()]);
        learn(place, row);
        self.row(thread)[thread] += 1;
    }
}

fn learn(to: &mut [u32], from: &[u32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meetings_teach_what_came_before_them_only() {
        let mut clocks = Clocks::new(3);
        let before = clocks.now(1);
        clocks.meet(1, Meeting::Barrier(0, 0), true);
        let between = clocks.now(1);
        clocks.meet(0, Meeting::Barrier(0, 0), true);
        // Thread 1 is already at the next barrier when thread 0 goes on.
        clocks.meet(1, Meeting::Barrier(0, 1), true);
        clocks.catch_up(0);
        assert!(clocks.knows(0, 1, before) && !clocks.knows(0, 1, between));
        clocks.catch_up(2);
        assert!(!clocks.knows(2, 1, before));
    }

    #[test]
    fn addresses_pass_knowledge_on() {
        let mut clocks = Clocks::new(2);
        let tick = clocks.now(0);
        clocks.release(0, 64);
        clocks.acquire(1, 0);
        assert!(!clocks.knows(1, 0, tick));
        clocks.acquire(1, 64);
        assert!(clocks.knows(1, 0, tick) && !clocks.knows(1, 0, clocks.now(0)));
    }
}
