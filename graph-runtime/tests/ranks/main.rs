//! Ranks: collectives over the threads of one process, on emulated devices.

#[path = "../common/mod.rs"]
mod common;

mod statements;
mod language;
mod deadlocks;
mod failures;

use graph_runtime::{Communicator, CommunicatorOptions, Device, Result};
use std::thread;
use std::time::Duration;

/// Runs a function on each rank, each on a thread of its own, and returns the results by rank.
fn on_ranks<T: Send>(ranks: usize, run: impl Fn(&Device, Communicator) -> T + Sync) -> Vec<T> {
    with_timeout(ranks, Duration::from_secs(60), run)
}

/// As [`on_ranks`], with a time limit for waiting ranks.
fn with_timeout<T: Send>(ranks: usize, timeout: Duration, run: impl Fn(&Device, Communicator) -> T + Sync) -> Vec<T> {
    let devices = Device::emulators(ranks);
    let options = CommunicatorOptions { timeout };
    let all = Communicator::local_with(&devices, options).unwrap();
    thread::scope(|scope| {
        let run = &run;
        let threads = devices.iter().zip(all);
        let threads: Vec<_> = threads
            .map(|(device, world)| scope.spawn(move || run(device, world)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The numbers of ranks that statements are tested with.
const RANKS: [usize; 5] = [1, 2, 3, 5, 8];

/// The messages of ranks that have failed, by rank; empty for the others.
fn messages<T>(results: Vec<Result<T>>) -> Vec<String> {
    let message = |result: Result<T>| result.err().map_or_else(String::new, |error| error.to_string());
    results.into_iter().map(message).collect()
}
