//! The ranks of a program: threads of one process, or the processes that a launcher has started.

use crate::program::emulator;
use graph_runtime::{Communicator, Device, Result};
use std::env;

/// The variables of `torchrun`, Slurm, Open MPI and MPICH that say which process of its machine this one is.
const LOCAL: [&str; 4] = [
    "LOCAL_RANK",
    "SLURM_LOCALID",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
];

/// Returns the devices of so many ranks: the GPUs of this machine, of which each may be several ranks, or CPU emulators
/// if there are not at least two.
#[must_use]
pub fn devices(count: usize) -> Vec<Device> {
    let gpus: Vec<Device> = (0..).map_while(|ordinal| Device::cuda(ordinal).ok()).collect();
    match gpus.len() {
        0 | 1 => (0..count).map(|_| emulator()).collect(),
        several => (0..count).map(|rank| gpus[rank % several].clone()).collect(),
    }
}

/// The number of this process among those of its machine, if a launcher has started it.
#[must_use]
pub fn local_rank() -> Option<usize> {
    LOCAL.iter().find_map(|name| env::var(name).ok()?.trim().parse().ok())
}

/// Runs a function on each of so many ranks, and returns the results of those of this process: all of them, on threads
/// of their own; or that of its own rank, if a launcher has started so many processes.
///
/// # Errors
/// Any error of the function, and if there is no communicator.
///
/// # Panics
/// If the function panics, or if the launcher has started another number of processes.
pub fn on_ranks<T: Send, E: From<graph_runtime::Error> + Send>(
    ranks: usize,
    run: impl Fn(&Device, &Communicator) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    if let Some(local) = local_rank() {
        let device = Device::cuda(local).unwrap_or_else(|_| emulator());
        let world = Communicator::from_env(&device)?;
        assert_eq!(
            world.size(),
            ranks,
            "the program has {ranks} ranks: start as many processes"
        );
        return Ok(vec![run(&device, &world)?]);
    }
    on_threads(ranks, run)
}

/// As [`on_ranks`], on threads of this process in any case.
///
/// # Errors
/// As [`on_ranks`].
///
/// # Panics
/// If the function panics.
pub fn on_threads<T: Send, E: From<graph_runtime::Error> + Send>(
    ranks: usize,
    run: impl Fn(&Device, &Communicator) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let devices = devices(ranks);
    let worlds = Communicator::local(&devices)?;
    std::thread::scope(|scope| {
        let run = &run;
        let ranks = devices.iter().zip(worlds);
        let threads: Vec<_> = ranks
            .map(|(device, world)| scope.spawn(move || run(device, &world)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("ranks do not panic"))
            .collect()
    })
}
