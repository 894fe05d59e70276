//! The GPU time of collectives in a graph: several in a row, one graph for each rank, each launched by a thread of its
//! own. Two ranks run on two GPUs or, where there is one, on that: the kernels share it then, and nothing crosses
//! NVLink. Then NCCL carries the data, if it is there and each rank has a GPU of its own.
//!
//! The targets on two H200s: an `all_reduce` of 4 KiB takes at most 5.5 us (NCCL in a graph 8.9 us), one of 64 KiB at
//! most 9 us, and larger ones as long as NCCL's, within 3% (in a graph: 4 MiB 35 us, 16 MiB 76 us, 64 MiB 252 us,
//! 473 MiB 1593 us).

use graph_runtime::{
    Communicator, CommunicatorOptions, Device, Graph, GraphBuilder, NodeId, OnDevice, Place, Reduction, Result,
    Transport,
};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

const RANKS: usize = 2;
/// The collectives in one graph, one after the other, and the launches of a round, of small and of large amounts.
const SMALL: (usize, u32) = (32, 20);
const LARGE: (usize, u32) = (4, 4);
const ROUNDS: usize = 9;

/// Adds a collective over floats.
type Add = fn(&mut GraphBuilder, String, &mut [Place<[f32], OnDevice>; 2], &Communicator) -> NodeId;

fn main() -> Result<()> {
    // Launches of both ranks run on one GPU at the same time only if their streams have queues of their own.
    // SAFETY: there is no other thread yet.
    unsafe { std::env::set_var("CUDA_DEVICE_MAX_CONNECTIONS", "32") };
    let found: Vec<Device> = (0..RANKS).map_while(|ordinal| Device::cuda(ordinal).ok()).collect();
    if found.is_empty() {
        println!("collectives: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    let devices: Vec<Device> = (0..RANKS).map(|rank| found[rank % found.len()].clone()).collect();
    println!(
        "{RANKS} ranks on {} GPU(s), {}: median of {ROUNDS} rounds",
        found.len(),
        devices[0].name()
    );
    for transport in [Transport::PeerMemory, Transport::Nccl] {
        match Communicator::local_by(&devices, transport, CommunicatorOptions::default()) {
            Ok(ranks) => measure_all(&devices, &ranks, transport)?,
            Err(error) => println!("{transport:?}: {error}"),
        }
    }
    Ok(())
}

fn measure_all(devices: &[Device], ranks: &[Communicator], transport: Transport) -> Result<()> {
    for bytes in [4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 473 << 20] {
        let sum: Add = |builder, name, [x, _], world| builder.all_reduce(name, Reduction::Sum, x, world);
        let broadcast: Add = |builder, name, [x, _], world| builder.broadcast(name, x, 0, world);
        let ring: Add = |builder, name, [x, y], world| {
            let moves = [
                graph_runtime::Exchange::send(x, world.next()),
                graph_runtime::Exchange::recv(y, world.previous()),
            ];
            builder.exchange(name, moves, world)
        };
        for (name, add) in [("all_reduce", sum), ("broadcast", broadcast), ("exchange", ring)] {
            let time = measure(devices, ranks, bytes / size_of::<f32>(), add)?;
            println!("{transport:?}: {name} of {} KiB: {time:.2} us", bytes >> 10);
        }
    }
    Ok(())
}

/// The time of a collective, in microseconds.
fn measure(devices: &[Device], ranks: &[Communicator], len: usize, add: Add) -> Result<f64> {
    let together = Barrier::new(RANKS);
    let (sites, launches) = if len > 2 << 20 { LARGE } else { SMALL };
    let run = |device: &Device, world: &Communicator| {
        let mut graph = chain(device, world, (len, sites), add)?;
        let mut rounds = Vec::new();
        for _ in 0..=ROUNDS {
            together.wait();
            let begin = Instant::now();
            for _ in 0..launches {
                graph.launch()?;
            }
            graph.synchronize()?;
            rounds.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(launches) / sites as f64);
        }
        // The first one warms up. No rank frees anything while another one runs.
        together.wait();
        let mut rounds = rounds.split_off(1);
        rounds.sort_by(f64::total_cmp);
        Ok(rounds[ROUNDS / 2])
    };
    let times: Vec<Result<f64>> = thread::scope(|scope| {
        let run = &run;
        let threads = devices.iter().zip(ranks);
        let threads: Vec<_> = threads
            .map(|(device, world)| scope.spawn(move || run(device, world)))
            .collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().expect("ranks do not panic"));
        joined.collect()
    });
    times.into_iter().try_fold(0.0, |most: f64, time| Ok(most.max(time?)))
}

/// A graph of collectives in a row.
fn chain(device: &Device, world: &Communicator, (len, sites): (usize, usize), add: Add) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Chain");
    let mut memory = ["x", "y"].map(|name| builder.device_slice::<f32>(name, len));
    let mut last: Option<NodeId> = None;
    for site in 0..sites {
        let node = add(&mut builder, format!("site{site}"), &mut memory, world);
        last.iter().for_each(|&last| builder.after(node, &[last]));
        last = Some(node);
    }
    builder.build()
}
