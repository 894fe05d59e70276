//! The part of a rank in a communicator of NCCL's, and the thread that watches the collectives of the rank.

use crate::devices::cuda::Cuda;
use crate::driver::CUstream;
use crate::driver::nccl::{self, Carried, Comm, NcclError};
use crate::error::{Error, Result};
use crate::ownership::post::Post;
use crate::program::communicator::station::{Around, Reason};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time between two looks at the collective that runs.
const MAX_TICK: Duration = Duration::from_millis(20);
/// The longest time after which the other ranks are told of a collective that runs.
const MAX_SILENCE: Duration = Duration::from_millis(200);
/// The longest time for which a collective still runs after a rank has left, or NCCL has reported an error. Data may be
/// on their way, and whoever notices that a rank has ended may tell which one.
const MAX_GRACE: Duration = Duration::from_secs(1);
/// The longest time for which a communicator is freed while the thread that drops it waits.
const PATIENCE: Duration = Duration::from_secs(2);

/// The part of a rank in NCCL's communicator.
///
/// NCCL's kernels wait for those of other ranks without a limit. So kernels of this crate before and after each
/// collective write where the rank is ([`Post::running`]), and a thread looks at that. If a collective runs for too
/// long, or a rank is gone, the thread reports this as kernels of this crate would ([`Post::put_report`]), and aborts
/// the communicator: NCCL's kernels end, and whoever waits for the launch goes on, in whatever way.
///
/// # Safety
///
/// 1. *The communicator lives as long as calls with it.* They are made under the lock of `state`, which has it. Whoever
///    takes it out of there is the only one to destroy it or to abort it.
/// 2. *What NCCL's kernels use lives as long as they.* NCCL frees nothing of a communicator, neither when it is aborted
///    nor when it is destroyed, before all graphs that have its kernels are destroyed, and all executable graphs made
///    of these (`localPersistentRefs` in NCCL's `init.cc`: a user object of each captured graph counts, which CUDA
///    hands on to copies). A graph is destroyed only when no launch of it is in flight, and keeps the [`Communicator`]
///    longer than that (the order of fields of `backend::cuda::user_objects::UserObjects`). Only when nobody has a
///    handle any more, is the communicator destroyed ([`NcclRank::end`]). That NCCL does so, and ends its kernels, is
///    assumed (N2 and N3 of `docs/safety.md`).
/// 3. *The memory of collectives is that of the graph*, as for other kernels (fact 5 of
///    [`CudaExecutable`](crate::backend::cuda::CudaExecutable)): NCCL is given the parts of the node, whose sizes the
///    ranks have compared. That all ranks run the same collectives in one order is assumed (N1 of `docs/safety.md`).
///
/// [`Communicator`]: crate::Communicator
pub(crate) struct NcclRank(Arc<Shared>);

struct Shared {
    cuda: Arc<Cuda>,
    post: Arc<Post>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    comm: Option<Comm>,
    around: Option<Arc<dyn Around>>,
    /// Whether no graph has work of the communicator any more.
    is_ending: bool,
    /// Whether the thread has not ended.
    is_watched: bool,
}

/// Fails if NCCL is not on this machine.
pub(super) fn present() -> Result<()> {
    nccl::present().map_err(|tried| Error::NoNccl {
        reason: String::new(),
        tried: tried.to_vec(),
    })
}

/// Makes the bytes by which the ranks of a group find each other.
pub(super) fn new_id() -> Result<Vec<u8>> {
    present()?;
    nccl::new_id().map_err(|error| Error::Launcher {
        message: error.to_string(),
    })
}

impl NcclRank {
    pub(crate) fn new(cuda: &Arc<Cuda>, post: &Arc<Post>) -> Self {
        Self(Arc::new(Shared {
            cuda: cuda.clone(),
            post: post.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Begins to join the other ranks, which find each other by `id`. The error is the end of a sentence about this
    /// rank.
    pub(crate) fn join(&self, id: &[u8], around: Box<dyn Around>) -> Result<(), String> {
        let id = id
            .try_into()
            .map_err(|_| "has got no number of NCCL's from rank 0".to_owned())?;
        self.0.cuda.bind().map_err(|error| format!("cannot begin: {error}"))?;
        // SAFETY: the context is current, and `cuda` keeps it alive.
        let comm = unsafe { Comm::begin(id, around.rank(), around.size()) };
        let comm = comm.map_err(|error| format!("cannot join by NCCL: {error}"))?;
        let mut state = self.0.state();
        state.comm = Some(comm);
        state.around = Some(around.into());
        Ok(())
    }

    /// Waits until all ranks have joined. Then the thread watches collectives.
    pub(crate) fn joined(&self) -> Result<(), String> {
        let shared = self.0.clone();
        let settled = self.settle();
        self.0.state().is_watched = true;
        let failed = settled.is_err();
        let run = move || shared.run(failed);
        let spawned = thread::Builder::new().name("cuda-graph-nccl".to_owned()).spawn(run);
        let spawned = spawned.map(drop).map_err(|error| {
            self.0.state().is_watched = false;
            format!("has no thread to watch NCCL: {error}")
        });
        settled
            .map_err(|error| format!("cannot join by NCCL: {error}"))
            .and(spawned)
    }

    /// Queues work on a stream, and waits until NCCL's calls are done. (The work need not be.)
    ///
    /// # Safety
    ///
    /// The stream lives, and is of the rank's device; the memory is of that, too, and lives as long as the work.
    pub(crate) unsafe fn queue(&self, work: &Carried, stream: CUstream) -> Result<(), String> {
        // SAFETY: by the caller's promise; fact 1.
        self.0.call(|comm| unsafe { comm.queue(work, stream) })?;
        self.settle()
    }

    /// Waits until the calls so far are done.
    fn settle(&self) -> Result<(), String> {
        let around = self.0.state().around.clone();
        let Some(around) = around else {
            return Err("nothing has begun".to_owned());
        };
        let (begin, timeout) = (Instant::now(), around.timeout());
        let mut pause = Duration::from_micros(20);
        // SAFETY: fact 1.
        while !self.0.call(|comm| unsafe { comm.is_ready() })? {
            if around.is_broken() {
                return Err("another rank has failed".to_owned());
            }
            if begin.elapsed() > timeout {
                return Err(format!(
                    "NCCL has not connected the ranks within {timeout:?} (set `NCCL_DEBUG=INFO` to see why, and \
                     `NCCL_SOCKET_IFNAME` if it takes the wrong network)"
                ));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Destroys the communicator, on the thread that watches it. Nobody has work of it any more.
    pub(crate) fn end(&self) {
        self.0.state().is_ending = true;
        self.0.changed.notify_all();
    }
}

impl Drop for NcclRank {
    /// Waits for the thread, so that the end of a program does not come in the middle of NCCL's.
    fn drop(&mut self) {
        self.end();
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.0.state();
        while state.is_watched
            && let Some(left) = deadline.checked_duration_since(Instant::now())
        {
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The end of watching.
enum Verdict {
    /// No graph has work of the communicator any more.
    Ended,
    /// A collective does not end: the number of its node, the rank that is missing, and the reason in NCCL's words.
    Failed(u32, usize, (Reason, String)),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call with the communicator.
    fn call<T>(&self, make: impl FnOnce(Comm) -> Result<T, NcclError>) -> Result<T, String> {
        let state = self.state();
        let Some(comm) = state.comm else {
            return Err("NCCL's communicator is gone, since a rank has failed".to_owned());
        };
        make(comm).map_err(|error| {
            // SAFETY: fact 1 of `NcclRank`.
            let words = unsafe { comm.last_words() };
            let separator = if words.is_empty() { "" } else { ": " };
            format!("{error}{separator}{words}")
        })
    }

    /// The thread. It ends with the communicator.
    fn run(&self, has_failed: bool) {
        let verdict = if has_failed { None } else { self.watch() };
        if let Some(Verdict::Failed(node, missing, reason)) = &verdict {
            self.post.put_report(*node, *missing, reason.clone());
        }
        let comm = self.state().comm.take();
        if let Some(comm) = comm {
            let _ = self.cuda.bind();
            match verdict {
                // SAFETY: fact 1 of `NcclRank`: it was taken out.
                Some(Verdict::Ended) => unsafe { finish(comm) },
                // SAFETY: as above.
                Some(Verdict::Failed(..)) | None => unsafe { abort(comm) },
            }
        }
        self.state().is_watched = false;
        self.changed.notify_all();
    }

    /// Looks at collectives until one fails, or all are over.
    fn watch(&self) -> Option<Verdict> {
        let around = self.state().around.clone()?;
        let tick = (around.timeout() / 8).clamp(Duration::from_millis(1), MAX_TICK);
        let mut progress = Progress::new(around.timeout());
        loop {
            let state = self.state();
            if state.is_ending {
                return Some(Verdict::Ended);
            }
            let waited = self.changed.wait_timeout(state, tick);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            let (count, node) = self.post.running();
            let Some((node, running)) = progress.look(count, node, Instant::now()) else {
                continue;
            };
            if progress.is_worth_telling(running) {
                let (graph, name) = self.post.node(node);
                around.wait_at(count, &format!("node `{name}` of graph `{graph}`"));
            }
            // SAFETY: fact 1.
            let error = self.call(|comm| unsafe { comm.is_ready() }).err();
            let missing = if progress.is_told { around.missing() } else { None };
            if let Some((rank, reason)) = progress.verdict(running, (self.post.left(), error), missing) {
                return Some(Verdict::Failed(node, rank.unwrap_or(around.rank()), reason));
            }
        }
    }
}

/// The collective that runs, and since when.
struct Progress {
    timeout: Duration,
    running: Option<(u32, u32, Instant)>,
    is_told: bool,
}

impl Progress {
    fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            running: None,
            is_told: false,
        }
    }

    /// Takes the number of collectives so far, and the node of the one that runs. Returns that node, and the time for
    /// which it has been seen.
    fn look(&mut self, count: u32, node: Option<u32>, now: Instant) -> Option<(u32, Duration)> {
        match (self.running, node) {
            (Some((known, _, since)), Some(node)) if known == count => Some((node, now - since)),
            (_, node) => {
                self.is_told = false;
                self.running = node.map(|node| (count, node, now));
                node.map(|node| (node, Duration::ZERO))
            }
        }
    }

    /// Whether the other ranks are to be told now of the collective, which has run for so long.
    fn is_worth_telling(&mut self, running: Duration) -> bool {
        let tells = !self.is_told && running >= (self.timeout / 8).min(MAX_SILENCE);
        self.is_told |= tells;
        tells
    }

    /// The reason to abort the collective, which has run for so long, if there is one: the missing rank, if that is not
    /// this one, and the words of NCCL's. `left` is a rank that has left, `error` an error of NCCL's, and `missing` the
    /// rank that keeps this one waiting.
    fn verdict(
        &self,
        running: Duration,
        (left, error): (Option<usize>, Option<String>),
        missing: Option<(usize, Reason)>,
    ) -> Option<(Option<usize>, (Reason, String))> {
        let is_elsewhere = missing.is_some_and(|(_, reason)| reason == Reason::Elsewhere);
        let is_over = running >= self.timeout || is_elsewhere;
        let has_grace = running < MAX_GRACE.min(self.timeout / 2);
        match (left, error) {
            (Some(rank), _) if !has_grace => Some((Some(rank), (Reason::Told, String::new()))),
            (None, Some(error)) if !has_grace => Some((None, (Reason::Nccl, error))),
            _ if is_over => Some(match missing {
                Some((rank, reason)) => (Some(rank), (reason, String::new())),
                None => {
                    let timeout = self.timeout;
                    let said = format!("all ranks have come, but NCCL has not ended within {timeout:?}");
                    (None, (Reason::Nccl, said))
                }
            }),
            _ => None,
        }
    }
}

/// Destroys a communicator after all of its work has ended, also where other ranks still wait for data of this one.
///
/// # Safety
///
/// Nobody else uses it any more.
unsafe fn finish(comm: Comm) {
    let begin = Instant::now();
    // SAFETY: by the caller's promise.
    let mut ready = unsafe { comm.finalize() }.map(|()| false);
    while let Ok(false) = ready {
        // SAFETY: as above.
        ready = unsafe { comm.is_ready() };
        if begin.elapsed() > PATIENCE {
            break;
        }
        thread::sleep(Duration::from_micros(200));
    }
    match ready {
        Ok(true) => {
            // SAFETY: as above.
            if let Err(error) = unsafe { comm.destroy() } {
                tracing::warn!(target: "graph_runtime", %error, "a communicator of NCCL's is not freed");
            }
        }
        // SAFETY: as above.
        _ => unsafe { abort(comm) },
    }
}

/// Ends the kernels of a communicator, and frees it when no graph has one any more.
///
/// # Safety
///
/// As for [`finish`], but graphs may have kernels of it.
unsafe fn abort(comm: Comm) {
    // SAFETY: by the caller's promise; fact 2 of `NcclRank`.
    if let Err(error) = unsafe { comm.abort() } {
        tracing::warn!(target: "graph_runtime", %error, "a communicator of NCCL's is not aborted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: (Option<usize>, Option<String>) = (None, None);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_collective_that_is_seen_again_has_run_since() {
        let (mut progress, begin) = (Progress::new(seconds(60)), Instant::now());
        assert_eq!(progress.look(1, None, begin), None);
        assert_eq!(progress.look(1, Some(7), begin), Some((7, seconds(0))));
        assert_eq!(progress.look(1, Some(7), begin + seconds(3)), Some((7, seconds(3))));
        assert!(progress.is_worth_telling(seconds(3)) && !progress.is_worth_telling(seconds(4)));
        // The next one of the same node, in a loop.
        assert_eq!(progress.look(2, Some(7), begin + seconds(4)), Some((7, seconds(0))));
        assert!(!progress.is_worth_telling(seconds(0)) && progress.is_worth_telling(seconds(1)));
        assert_eq!(progress.look(2, None, begin + seconds(5)), None);
    }

    #[test]
    fn what_ends_a_collective() {
        let progress = Progress::new(seconds(60));
        let absent = Some((2, Reason::Absent));
        let verdict = |running, told| progress.verdict(seconds(running), told, absent);
        assert_eq!(verdict(59, NO), None);
        assert_eq!(verdict(60, NO), Some((Some(2), (Reason::Absent, String::new()))));
        // Data of a rank that has left may be on the way.
        assert_eq!(verdict(0, (Some(1), None)), None);
        assert_eq!(
            verdict(1, (Some(1), None)),
            Some((Some(1), (Reason::Told, String::new())))
        );
        let error = || Some("a network error".to_owned());
        assert_eq!(verdict(0, (None, error())), None);
        assert_eq!(
            verdict(1, (None, error())),
            Some((None, (Reason::Nccl, error().unwrap())))
        );
        let waiting = progress.verdict(seconds(60), NO, None).expect("it is over");
        assert_eq!((waiting.0, waiting.1.0), (None, Reason::Nccl));
        let elsewhere = (Reason::Elsewhere, String::new());
        assert_eq!(
            progress.verdict(seconds(0), NO, Some((1, Reason::Elsewhere))),
            Some((Some(1), elsewhere))
        );
    }
}
