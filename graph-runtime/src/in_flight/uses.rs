//! The current uses of memory that graphs share: claims of the host, and launches in flight.

use crate::error::CudaError;
use crate::in_flight::launches::{Access, Launches};
use crate::in_flight::lock::Lock;
use crate::in_flight::refused::Refused;
use crate::program::host_call;
use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Condvar, PoisonError};
use std::thread::{self, ThreadId};

/// The purpose of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// A single call: a copy, or a launch (on CUDA until it is queued, on the emulator until it has run). Conflicting
    /// claims wait for it.
    Call,
    /// A guard, which the user may keep for ever. Conflicting claims are refused.
    Guard,
}

thread_local! {
    /// The number of claims of calls that this thread holds.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Whether a claim waits for conflicting claims of calls of other threads: fact 5 of [`Uses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Waits,
    /// Conflicting claims are refused.
    Refuses,
}

impl Patience {
    /// The patience of the claims that a call on this thread begins to make. Only a thread that holds no claims of
    /// calls waits, and no host function does.
    pub(crate) fn of_this_thread() -> Self {
        match host_call::is_running() || CALLS.get() > 0 {
            true => Patience::Refuses,
            false => Patience::Waits,
        }
    }
}

/// The terms on which memory may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// It belongs to its block.
    Owned,
    /// Its owner has lent it: fact 6 of [`Uses`].
    Lent {
        /// Whether it may be written.
        write: bool,
    },
    /// Its owner has it back.
    Returned,
}

impl Terms {
    /// Refuses a claim against the terms.
    pub(crate) fn check(self, write: bool, kind: ClaimKind) -> Result<(), Refused> {
        match self {
            Terms::Owned => Ok(()),
            Terms::Lent { .. } if kind == ClaimKind::Guard => Err(Refused::Borrowed),
            Terms::Lent { write: false } if write => Err(Refused::ReadOnly),
            Terms::Lent { .. } => Ok(()),
            Terms::Returned => Err(Refused::Returned),
        }
    }
}

/// An event that is recorded after launches. Waiting for it is waiting for them.
pub(crate) trait Awaited: Sized {
    /// Waits for the launches that it was recorded after.
    fn wait(&self) -> Result<(), CudaError>;

    /// Whether the launches that the events were recorded after are known to have ended. This may be called in a host
    /// function, and does not wait for launches.
    fn have_ended(events: Vec<Arc<Self>>) -> bool;
}

/// The uses of one block of memory. `E` is the event that graphs record after their launches.
///
/// # Safety
///
/// The host, and graphs on any stream and thread, may share memory because of these facts. `SAFETY` comments refer to
/// them by number. They assume that events and streams order work (D1 of `docs/safety.md`), and that cudarc's work with
/// memory that was its own, or is lent to it, is work of the memory's context (C2, U5).
///
/// 1. *Claims exclude each other.* Whoever touches the memory holds a [`Claim`] for the bytes that it touches. Two
///    claims overlap only if both read. A copy by the host holds its claim until it is done; a guard as long as it
///    lives (for ever, if it is forgotten); a launch on CUDA until it is queued; a launch on the emulator until it has
///    run.
/// 2. *Launches are remembered before they are queued* ([`Claim::launched`]), with the event that is recorded after
///    them, at the latest when somebody waits for it. A launch is forgotten only if it is known to be done (somebody
///    waited for it, or its event is gone, which graphs destroy only after waiting), or if a later launch replaces
///    it that was queued after it and conflicts with all that it conflicts with.
/// 3. *Later uses come after conflicting launches*: the host waits for them on the CPU ([`Claim::wait`]); a launch
///    waits on the GPU, for their events or because it is on their stream ([`Claim::launches_elsewhere`]).
/// 4. *Memory outlives its uses.* A graph holds a counted handle to each block that its nodes refer to. The last
///    handle frees the memory once the remembered launches are done, or leaks it if waiting fails. A block under a
///    claim is borrowed.
/// 5. *Nobody waits in a circle.* Guards are never waited for. Code that a launch calls (host functions; on the
///    emulator, receivers of printed text, and all that runs on the thread of the launch) waits for no claim: conflicts
///    are refused ([`Patience`]). A launch that the emulator runs on a thread of its own claims there, but with the
///    patience of the thread that makes the launch, which waits for the answer and then for nothing. Graphs of one
///    definition share its host functions, and a launch waits for a function that another one runs, but not inside a
///    host function ([`HostCall`](crate::program::host_call::HostCall)): so a function that is waited for waits for
///    nothing. A thread that waits for a claim holds only claims of the launch that it claims for, and whoever holds a
///    claim without waiting for one gets done: launches that it waits for contain nothing that waits for a claim.
///    Circles of launches that wait for each other's claims do not exist, since a launch claims in the order of
///    addresses, that of [`SharedResources`](crate::ownership::shared_resources::SharedResources). (Here, blocks have
///    no addresses in common: they follow each other in some order. A pool, of which a launch claims at most one,
///    counts as an address before all memory, and the stations of communicators as addresses between.) Let a launch
///    hold `h` and wait for `w`, which conflicts with the claim `k` of another launch. If `h` and `w` do not overlap,
///    `h` ends before `w` begins, and therefore before `k` ends. If they overlap, both only read, so `k` writes. Then
///    it does not overlap `h`, which is held at the same time; it reaches `w`, which does not begin before `h`; so it
///    begins after `h` ends. In both cases `k` ends after `h`: around a circle, the ends would grow for ever.
/// 6. *Lent memory is returned unused.* A [`Scope`](crate::Scope) borrows memory from its owner while it runs, to be
///    read only or also to be written ([`Terms`]). At its end, [`Uses::end`] refuses all later claims, waits until
///    there are none, and waits for the remembered launches. After that, nothing uses the memory, whatever handles and
///    graphs are left (fact 1). No guard lends it, so only calls have claims, and they end (fact 5); the thread that
///    waits holds no claim of a call. If waiting for an event fails, nothing runs in the context any more when the
///    scope ends: it is waited for, or is lost (D3).
/// 7. *Memory of others is ordered by its owner.* A block of adopted memory has the
///    [`DeviceMemory`](crate::DeviceMemory) that owns it, which lives as long (fact 4). All work with the block,
///    whether a launch or a copy by the host, is queued, or done on the emulator, between a call of its `before` and
///    the call of its `after` that belongs to it, for the stream of the work
///    ([`Using`](crate::devices::adopted::Using)), under the claim of the work. So it neither meets work of others that
///    began before, nor work of others that begins later: points 2 and 3 of the owner's promise (U9). If `after`
///    panics, nothing runs in the context any more when the panic goes on. The memory is not lent to cudarc.
pub(crate) struct Uses<E> {
    state: Lock<UsesState<E>>,
    released: Condvar,
}

struct UsesState<E> {
    terms: Terms,
    claims: Vec<Claimed>,
    launches: Launches<E>,
    next: u64,
}

struct Claimed {
    id: u64,
    access: Access,
    kind: ClaimKind,
    thread: ThreadId,
}

impl<E> Uses<E> {
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            state: Lock::new(UsesState {
                terms,
                claims: Vec::new(),
                launches: Launches::default(),
                next: 0,
            }),
            released: Condvar::new(),
        }
    }

    /// The terms on which the memory may be used now.
    pub(crate) fn terms(&self) -> Terms {
        self.state.lock().terms
    }
}

impl<E: Awaited> Uses<E> {
    /// Claims the bytes. Fails if a guard conflicts. `patience` says whether it waits for conflicting claims of calls,
    /// or fails.
    pub(crate) fn claim(&self, access: Access, kind: ClaimKind, patience: Patience) -> Result<Claim<'_, E>, Refused> {
        let thread = thread::current().id();
        let mut state = self.state.lock();
        state.terms.check(access.writes(), kind)?;
        while let Some(other) = state.claims.iter().find(|other| other.access.conflicts(&access)) {
            if other.kind == ClaimKind::Guard {
                return Err(Refused::Lent);
            }
            if other.thread == thread {
                return Err(Refused::Nested);
            }
            if patience == Patience::Refuses {
                return Err(Refused::Busy);
            }
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.terms.check(access.writes(), kind)?;
        }
        let id = state.next;
        state.next += 1;
        state.claims.push(Claimed {
            id,
            access,
            kind,
            thread,
        });
        if kind == ClaimKind::Call {
            CALLS.set(CALLS.get() + 1);
        }
        Ok(Claim {
            uses: self,
            id,
            access,
            kind,
        })
    }

    /// Claims the bytes for the host, and waits for launches that conflict. In a host function, such launches must have
    /// ended: one of them may be the one that the function is called from, or may come after it.
    pub(crate) fn hold(&self, access: Access, kind: ClaimKind) -> Result<Claim<'_, E>, Refused> {
        let claim = self.claim(access, kind, Patience::of_this_thread())?;
        if !host_call::is_running() {
            claim.wait().map_err(Refused::Cuda)?;
        } else if !claim.launches_have_ended() {
            return Err(Refused::Nested);
        }
        Ok(claim)
    }

    /// Refuses all claims from now on, and waits until there are none, and for all launches: fact 6. The memory must be
    /// lent, and this thread must hold no claim of a call.
    pub(crate) fn end(&self) -> Result<(), CudaError> {
        let mut state = self.state.lock();
        state.terms = Terms::Returned;
        while !state.claims.is_empty() {
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.wait()
    }

    /// Waits for all launches. There are no claims: the block is being dropped, which they borrow, or [`Uses::end`] has
    /// waited for them.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        // Not locked while it waits: a host function may need the lock before it ends.
        let events = self.state.lock().launches.all();
        events.iter().try_for_each(|event| event.wait())
    }
}

/// The right to touch some bytes, until it is dropped: fact 1 of [`Uses`].
pub(crate) struct Claim<'b, E> {
    uses: &'b Uses<E>,
    id: u64,
    access: Access,
    kind: ClaimKind,
}

impl<E: Awaited> Claim<'_, E> {
    /// Whether all launches that conflict have ended.
    fn launches_have_ended(&self) -> bool {
        let events = self.uses.state.lock().launches.conflicting(self.access);
        if events.is_empty() {
            return true;
        }
        let ended = E::have_ended(events);
        if ended {
            self.forget_launches();
        }
        ended
    }

    /// Waits for the launches that conflict.
    fn wait(&self) -> Result<(), CudaError> {
        let events = self.uses.state.lock().launches.conflicting(self.access);
        if events.is_empty() {
            return Ok(());
        }
        events.iter().try_for_each(|event| event.wait())?;
        self.forget_launches();
        Ok(())
    }

    /// Forgets the launches that conflict: all that were there when this claim was made have ended. None has been added
    /// since, as it would conflict with this claim.
    fn forget_launches(&self) {
        self.uses.state.lock().launches.forget(self.access);
    }

    /// The events of conflicting launches for which a launch on `stream` must wait explicitly: they are neither on that
    /// stream, nor launches of the same graph that `event` stands for. `event` is that of the graph about to be
    /// launched.
    pub(crate) fn launches_elsewhere(&self, stream: Option<u64>, event: &Arc<E>) -> Vec<Arc<E>> {
        self.uses.state.lock().launches.elsewhere(self.access, stream, event)
    }

    /// Remembers a launch that is about to be queued on `stream`, after waiting for [`Claim::launches_elsewhere`].
    pub(crate) fn launched(&self, stream: Option<u64>, event: &Arc<E>) {
        self.uses.state.lock().launches.add(self.access, stream, event);
    }
}

impl<E> Drop for Claim<'_, E> {
    fn drop(&mut self) {
        match self.kind {
            // Such claims are local variables of the call, so this is the thread that made it.
            ClaimKind::Call => CALLS.set(CALLS.get() - 1),
            ClaimKind::Guard => {}
        }
        self.uses.state.lock().claims.retain(|claimed| claimed.id != self.id);
        self.uses.released.notify_all();
    }
}

impl<E> fmt::Debug for Claim<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.access.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    /// The event of these tests: whether its launch has ended.
    struct Ended(bool);

    impl Awaited for Ended {
        fn wait(&self) -> Result<(), CudaError> {
            Ok(())
        }

        fn have_ended(events: Vec<Arc<Self>>) -> bool {
            events.iter().all(|event| event.0)
        }
    }

    const READ: Access = Access::new(0, 64, false);
    const WRITE: Access = Access::new(0, 64, true);

    fn claim(uses: &Uses<Ended>, access: Access, kind: ClaimKind) -> Result<Claim<'_, Ended>, Refused> {
        uses.claim(access, kind, Patience::of_this_thread())
    }

    #[test]
    fn guards_refuse_what_conflicts() {
        let uses = Uses::new(Terms::Owned);
        let guard = claim(&uses, READ, ClaimKind::Guard).expect("nobody else is there");
        assert!(claim(&uses, READ, ClaimKind::Call).is_ok());
        assert!(matches!(claim(&uses, WRITE, ClaimKind::Call), Err(Refused::Lent)));
        assert!(
            claim(&uses, Access::new(64, 65, true), ClaimKind::Guard).is_ok(),
            "other bytes"
        );
        drop(guard);
        assert!(claim(&uses, WRITE, ClaimKind::Guard).is_ok());
    }

    #[test]
    fn a_call_does_not_wait_for_its_caller() {
        let uses = Uses::new(Terms::Owned);
        let _caller = claim(&uses, READ, ClaimKind::Call).expect("nobody else is there");
        assert!(matches!(claim(&uses, WRITE, ClaimKind::Call), Err(Refused::Nested)));
        assert!(matches!(claim(&uses, WRITE, ClaimKind::Guard), Err(Refused::Nested)));
        assert!(claim(&uses, READ, ClaimKind::Guard).is_ok());
    }

    #[test]
    fn calls_of_other_threads_are_waited_for() {
        let uses = Uses::new(Terms::Owned);
        let call = claim(&uses, WRITE, ClaimKind::Call).expect("nobody else is there");
        let (claimed, wait) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| claimed.send(claim(&uses, READ, ClaimKind::Guard).is_ok()));
            assert!(wait.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
            drop(call);
            assert_eq!(wait.recv_timeout(Duration::from_secs(60)), Ok(true));
        });
    }

    /// Two calls, each of which uses the memory of the other in the middle, would wait for each other.
    #[test]
    fn calls_in_calls_wait_for_nobody() {
        let (first, second) = (Uses::new(Terms::Owned), Uses::new(Terms::Owned));
        let outer = claim(&first, WRITE, ClaimKind::Call).expect("nobody else is there");
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _other = claim(&second, WRITE, ClaimKind::Call).expect("nobody else is there");
                assert!(matches!(claim(&first, READ, ClaimKind::Guard), Err(Refused::Busy)));
            });
            other.join().expect("it does not wait");
        });
        let third = claim(&second, WRITE, ClaimKind::Call).expect("the other thread is done");
        drop(third);
        assert_eq!(Patience::of_this_thread(), Patience::Refuses, "the outer call goes on");
        drop(outer);
        assert_eq!(Patience::of_this_thread(), Patience::Waits);
    }

    #[test]
    fn lent_memory_is_refused_when_it_is_returned() {
        let uses = Uses::<Ended>::new(Terms::Lent { write: false });
        assert!(matches!(claim(&uses, WRITE, ClaimKind::Call), Err(Refused::ReadOnly)));
        assert!(matches!(claim(&uses, READ, ClaimKind::Guard), Err(Refused::Borrowed)));
        let (claimed, ended) = (mpsc::channel(), mpsc::channel());
        thread::scope(|scope| {
            let uses = &uses;
            let (claimed, wait) = claimed;
            let (end, has_ended) = ended;
            let other = scope.spawn(move || {
                let call = claim(uses, READ, ClaimKind::Call).expect("it may be read");
                claimed.send(()).expect("the test waits");
                assert!(has_ended.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
                assert!(matches!(claim(uses, READ, ClaimKind::Call), Err(Refused::Returned)));
                drop(call);
                assert_eq!(has_ended.recv_timeout(Duration::from_secs(60)), Ok(()));
            });
            wait.recv().expect("the other thread has claimed");
            uses.end().expect("there are no launches");
            end.send(()).expect("the other thread waits");
            other.join().expect("it does not wait");
        });
        assert!(matches!(claim(&uses, READ, ClaimKind::Call), Err(Refused::Returned)));
    }

    #[test]
    fn guards_do_not_make_a_thread_impatient() {
        let uses = Uses::new(Terms::Owned);
        let _guard = claim(&uses, READ, ClaimKind::Guard).expect("nobody else is there");
        assert_eq!(Patience::of_this_thread(), Patience::Waits);
    }

    #[test]
    fn host_functions_use_what_launches_have_ended_with() {
        let uses = Uses::new(Terms::Owned);
        let (ended, running) = (Arc::new(Ended(true)), Arc::new(Ended(false)));
        let launch = |access, event: &Arc<Ended>| {
            let claim = claim(&uses, access, ClaimKind::Call).expect("nobody else is there");
            claim.launched(None, event);
        };
        launch(WRITE, &ended);
        launch(Access::new(64, 128, true), &running);
        let _in_host_function = host_call::Running::enter();
        assert!(uses.hold(READ, ClaimKind::Guard).is_ok());
        let refused = uses.hold(Access::new(0, 65, false), ClaimKind::Guard);
        assert!(matches!(refused, Err(Refused::Nested)));
    }
}
