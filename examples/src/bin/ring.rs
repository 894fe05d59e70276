//! The smallest program of several ranks: each sends its number to the next one in a ring, until each has seen all.
//!
//! It shows `exchange`, and ranks as threads of one process. The ranks run on the GPUs of this machine if it has
//! several, else on emulated devices. `torchrun --nproc-per-node 4 --no-python ring` makes them processes.

use examples::program::start;
use examples::ranks::on_ranks;
use graph_runtime::{BoxError, Communicator, Device, Result, cuda_graph};

/// The number of ranks.
const RANKS: usize = 4;

cuda_graph! {
    /// Passes a number on, all the way round.
    graph Ring(world: &Communicator) {
        host   own:    u32;
        host   seen:   [u32; RANKS];
        device number: u32;
        device next:   u32;
        device all:    [u32; RANKS];

        memcpy begin = own -> number;
        for i in 0..RANKS {
            memcpy   keep = number -> all[i]  after begin;
            exchange pass = send number to world.next(), recv next from world.previous() over world  after keep;
            memcpy   take = next -> number  after pass;
        }
        memcpy report = all -> seen  after take;
    }
}

/// One rank: the numbers that it has seen, its own first.
fn rank(device: &Device, world: &Communicator) -> Result<(usize, [u32; RANKS])> {
    let mut ring = Ring::build(device, world)?;
    *ring.own_mut()? = 100 + world.rank() as u32;
    ring.launch()?;
    Ok((world.rank(), *ring.seen()?))
}

fn main() -> Result<(), BoxError> {
    start(&[Ring::PLAN])?;
    for (rank, seen) in on_ranks(RANKS, rank)? {
        println!("rank {rank}:  {seen:?}");
        let expected: [u32; RANKS] = std::array::from_fn(|step| 100 + ((rank + RANKS - step) % RANKS) as u32);
        if seen != expected {
            return Err(format!("rank {rank} has seen {seen:?}, not {expected:?}").into());
        }
    }
    println!("check:   {RANKS} ranks have seen the numbers of all, nearest first");
    Ok(())
}
