//! Ranks: collectives over threads and processes, on emulated devices or on GPUs. Where there are fewer GPUs than
//! ranks, one is several ranks.

#[path = "../common/mod.rs"]
mod common;

mod statements;
mod language;
mod programmatic_edges;
mod deadlocks;
mod failures;
mod processes;

use graph_runtime::{Communicator, CommunicatorOptions, Device, Result, Transport};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

/// The numbers of ranks that statements are tested with.
fn ranks() -> &'static [usize] {
    match (common::wants_cuda(), common::is_software()) {
        (false, _) => &[1, 2, 3, 5, 8],
        (true, true) => &[1, 2, 3],
        (true, false) => &[1, 2],
    }
}

/// The devices of so many ranks: emulators, or the GPUs of this machine, of which each may be several ranks. Worlds of
/// GPUs follow each other: the second value keeps others away.
fn devices(ranks: usize) -> (Vec<Device>, Option<MutexGuard<'static, ()>>) {
    static ONE: Mutex<()> = Mutex::new(());
    static SETUP: Once = Once::new();
    if !common::wants_cuda() {
        return (Device::emulators(ranks), None);
    }
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Launches of all ranks of one GPU run at the same time only if their streams have queues of their own.
    // SAFETY: no other thread of these tests reads or writes the environment meanwhile: all that do wait for the lock.
    SETUP.call_once(|| unsafe { std::env::set_var("CUDA_DEVICE_MAX_CONNECTIONS", "32") });
    let found: Vec<Device> = (0..).map_while(|ordinal| Device::cuda(ordinal).ok()).collect();
    assert!(!found.is_empty(), "CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device");
    let devices = (0..ranks).map(|rank| found[rank % found.len()].clone());
    (devices.collect(), Some(one))
}

/// Whether NCCL carries the data between GPUs.
fn by_nccl() -> bool {
    common::wants_cuda() && std::env::var("CUDA_GRAPH_TEST_TRANSPORT").is_ok_and(|name| name == "nccl")
}

/// So many ranks, or two where each is a GPU of its own: with NCCL.
fn at_most(ranks: usize) -> usize {
    let has_two = by_nccl() && !common::is_software();
    ranks.min(if has_two { 2 } else { ranks })
}

/// The way on which the data goes.
fn transport() -> Transport {
    if by_nccl() { Transport::Nccl } else { Transport::Auto }
}

/// Runs a function on each rank, each on a thread of its own, and returns the results by rank.
fn on_ranks<T: Send>(ranks: usize, run: impl Fn(&Device, Communicator) -> T + Sync) -> Vec<T> {
    with_timeout(ranks, Duration::from_secs(600), run)
}

/// As [`on_ranks`], with a time limit for waiting ranks.
fn with_timeout<T: Send>(ranks: usize, timeout: Duration, run: impl Fn(&Device, Communicator) -> T + Sync) -> Vec<T> {
    let (devices, _one) = devices(ranks);
    let all = Communicator::local_by(&devices, transport(), CommunicatorOptions { timeout }).unwrap();
    thread::scope(|scope| {
        let run = &run;
        let threads = devices.iter().zip(all);
        let threads: Vec<_> = threads
            .map(|(device, world)| scope.spawn(move || run(device, world)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The ranks that have ended, in whatever way: a rank that is missing waits for them.
#[derive(Default)]
struct Ended(Mutex<usize>, Condvar);

impl Ended {
    /// Counts the rank of the caller when what is returned is dropped.
    fn count(&self) -> impl Drop {
        struct Counted<'a>(&'a Ended);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                self.0.1.notify_all();
            }
        }
        Counted(self)
    }

    /// Waits until so many ranks have ended.
    fn wait_for(&self, ranks: usize) {
        let ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.1.wait_while(ended, |ended| *ended < ranks));
    }
}

/// The messages of ranks that have failed, by rank; empty for the others.
fn messages<T>(results: Vec<Result<T>>) -> Vec<String> {
    let message = |result: Result<T>| result.err().map_or_else(String::new, |error| error.to_string());
    results.into_iter().map(message).collect()
}
