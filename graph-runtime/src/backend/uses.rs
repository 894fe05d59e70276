//! The current uses of memory that graphs share: claims of the host, and launches in flight.

use crate::backend::launches::{Access, Launches};
use crate::error::{CudaError, Error, Site};
use crate::program::host;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// The reason why memory cannot be used now.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A guard is alive.
    Lent,
    /// The call would wait for its own caller: a host function of a running graph uses the graph's memory.
    Nested,
    /// Waiting for launches failed.
    Cuda(CudaError),
}

impl Refused {
    /// Makes an error about the memory `site` of it.
    #[cold]
    pub(crate) fn at(self, site: Site) -> Error {
        let message = match self {
            Refused::Lent => "is lent by a guard that is alive: drop the guard first",
            Refused::Nested => "is in use by the launch that this is called from",
            Refused::Cuda(source) => return Error::Cuda { site, source },
        };
        Error::InUse { site, message }
    }
}

/// An event that is recorded after launches. Waiting for it is waiting for them.
pub(crate) trait Awaited {
    /// Waits for the launches that it was recorded after.
    fn wait(&self) -> Result<(), CudaError>;
}

/// The uses of one block of memory. `E` is the event that graphs record after their launches.
///
/// # Safety
///
/// The host, and graphs on any stream and thread, may share memory because of these facts. `SAFETY` comments refer to
/// them by number.
///
/// 1. *Claims exclude each other.* Whoever touches the memory holds a [`Claim`] for the bytes that it touches. Two
///    claims overlap only if both read. A copy by the host holds its claim until it is done; a guard as long as it
///    lives (for ever, if it is forgotten); a launch on CUDA until it is queued; a launch on the emulator until it has
///    run.
/// 2. *Launches are remembered before they are queued* ([`Claim::launched`]), with the event that is recorded after
///    them. A launch is forgotten only if it is known to be done (somebody waited for it, or its event is gone, which
///    graphs destroy only after waiting), or if a later launch replaces it that was queued after it and conflicts with
///    all that it conflicts with.
/// 3. *Later uses come after conflicting launches*: the host waits for them on the CPU ([`Claim::wait`]); a launch
///    waits on the GPU, for their events or because it is on their stream ([`Claim::launches_elsewhere`]).
/// 4. *Memory outlives its uses.* A graph holds a counted handle to each block that its nodes refer to. The last
///    handle frees the memory once the remembered launches are done, or leaks it if waiting fails. A block under a
///    claim is borrowed.
/// 5. *Launches claim their blocks in one order*, that of
///    [`SharedResources`](crate::backend::shared::SharedResources), so that no two wait for each other.
pub(crate) struct Uses<E> {
    state: Mutex<UsesState<E>>,
    released: Condvar,
}

struct UsesState<E> {
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

impl<E> Default for Uses<E> {
    fn default() -> Self {
        Self {
            state: Mutex::new(UsesState {
                claims: Vec::new(),
                launches: Launches::default(),
                next: 0,
            }),
            released: Condvar::new(),
        }
    }
}

impl<E: Awaited> Uses<E> {
    /// Waits for conflicting claims of calls, and claims the bytes. Fails if a guard conflicts.
    pub(crate) fn claim(&self, access: Access, kind: ClaimKind) -> Result<Claim<'_, E>, Refused> {
        let thread = thread::current().id();
        let mut state = self.lock();
        while let Some(other) = state.claims.iter().find(|other| other.access.conflicts(&access)) {
            if other.kind == ClaimKind::Guard {
                return Err(Refused::Lent);
            }
            if other.thread == thread {
                return Err(Refused::Nested);
            }
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let id = state.next;
        state.next += 1;
        state.claims.push(Claimed {
            id,
            access,
            kind,
            thread,
        });
        Ok(Claim { uses: self, id, access })
    }

    /// Claims the bytes for the host, and waits for launches that conflict.
    pub(crate) fn hold(&self, access: Access, kind: ClaimKind) -> Result<Claim<'_, E>, Refused> {
        let claim = self.claim(access, kind)?;
        if host::is_running() && claim.has_launches() {
            return Err(Refused::Nested);
        }
        claim.wait().map_err(Refused::Cuda)?;
        Ok(claim)
    }

    /// Waits for all launches. The block is being dropped, so there are no claims, which borrow it.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.lock().launches.all().iter().try_for_each(|event| event.wait())
    }
}

impl<E> Uses<E> {
    /// A panic elsewhere cannot leave the lists half-changed.
    fn lock(&self) -> MutexGuard<'_, UsesState<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to touch some bytes, until it is dropped: fact 1 of [`Uses`].
pub(crate) struct Claim<'b, E> {
    uses: &'b Uses<E>,
    id: u64,
    access: Access,
}

impl<E: Awaited> Claim<'_, E> {
    /// Whether there are launches that conflict.
    fn has_launches(&self) -> bool {
        !self.uses.lock().launches.conflicting(self.access).is_empty()
    }

    /// Waits for the launches that conflict.
    fn wait(&self) -> Result<(), CudaError> {
        let events = self.uses.lock().launches.conflicting(self.access);
        if events.is_empty() {
            return Ok(());
        }
        events.iter().try_for_each(|event| event.wait())?;
        // No such launch has been added since: it would conflict with this claim.
        self.uses.lock().launches.forget(self.access);
        Ok(())
    }

    /// The events of conflicting launches for which a launch on `stream` must wait explicitly: they are neither on that
    /// stream, nor launches of the same graph that `event` stands for. `event` is that of the graph about to be
    /// launched.
    pub(crate) fn launches_elsewhere(&self, stream: Option<u64>, event: &Arc<E>) -> Vec<Arc<E>> {
        self.uses.lock().launches.elsewhere(self.access, stream, event)
    }

    /// Remembers a launch that is about to be queued on `stream`, after waiting for [`Claim::launches_elsewhere`].
    pub(crate) fn launched(&self, stream: Option<u64>, event: &Arc<E>) {
        self.uses.lock().launches.add(self.access, stream, event);
    }
}

impl<E> Drop for Claim<'_, E> {
    fn drop(&mut self) {
        self.uses.lock().claims.retain(|claimed| claimed.id != self.id);
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

    /// The event of these tests, in which no launch is remembered.
    enum Never {}

    impl Awaited for Never {
        fn wait(&self) -> Result<(), CudaError> {
            match *self {}
        }
    }

    const READ: Access = Access::new(0, 64, false);
    const WRITE: Access = Access::new(0, 64, true);

    #[test]
    fn guards_refuse_what_conflicts() {
        let uses = Uses::<Never>::default();
        let guard = uses.claim(READ, ClaimKind::Guard).expect("nobody else is there");
        assert!(uses.claim(READ, ClaimKind::Call).is_ok());
        assert!(matches!(uses.claim(WRITE, ClaimKind::Call), Err(Refused::Lent)));
        assert!(
            uses.claim(Access::new(64, 65, true), ClaimKind::Guard).is_ok(),
            "other bytes"
        );
        drop(guard);
        assert!(uses.claim(WRITE, ClaimKind::Guard).is_ok());
    }

    #[test]
    fn a_call_does_not_wait_for_its_caller() {
        let uses = Uses::<Never>::default();
        let _caller = uses.claim(READ, ClaimKind::Call).expect("nobody else is there");
        assert!(matches!(uses.claim(WRITE, ClaimKind::Call), Err(Refused::Nested)));
        assert!(matches!(uses.claim(WRITE, ClaimKind::Guard), Err(Refused::Nested)));
        assert!(uses.claim(READ, ClaimKind::Guard).is_ok());
    }

    #[test]
    fn calls_of_other_threads_are_waited_for() {
        let uses = Uses::<Never>::default();
        let call = uses.claim(WRITE, ClaimKind::Call).expect("nobody else is there");
        let (claimed, wait) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| claimed.send(uses.claim(READ, ClaimKind::Guard).is_ok()));
            assert!(wait.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
            drop(call);
            assert_eq!(wait.recv_timeout(Duration::from_secs(60)), Ok(true));
        });
    }
}
