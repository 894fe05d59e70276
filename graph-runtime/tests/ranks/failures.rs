//! Ranks that fail: every other rank has an error that names the rank, and nothing hangs.

use crate::common::random::Random;
use crate::common::{gather, wants_cuda};
use graph_runtime::{
    Communicator, CommunicatorOptions, Device, Error, Graph, GraphBuilder, Launch, Reduction, Result, Transport,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// The way in which a rank fails.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// Its thread panics with the graph.
    Panic,
    /// It drops the graph, and keeps the communicator.
    DropGraph,
    /// It drops all, and goes on.
    Leave,
    /// It stops launching.
    Stop,
}

const DEATHS: [Death; 4] = [Death::Panic, Death::DropGraph, Death::Leave, Death::Stop];

impl Death {
    /// The time for which the others wait: far more than they need if they are told, and more than any of them is late
    /// if they are not. A rank that shares its GPU leaves only when the other ranks' kernels there have given up: CUDA
    /// frees no memory before.
    fn timeout(self, shares_gpu: bool) -> Duration {
        Duration::from_secs(match self {
            Death::Panic | Death::Leave if !shares_gpu => 600,
            _ => 3,
        })
    }
}

fn build(device: &Device, world: &Communicator) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Step");
    let mut x = builder.device::<[f32; 16]>("x");
    let mut y = builder.device::<[f32; 16]>("y");
    let mut last = builder.memset("set", &mut x, 1.0_f32);
    for name in ["first", "second", "third"] {
        let sum = builder.all_reduce(name, Reduction::Avg, &mut x, world);
        builder.after(sum, &[last]);
        last = sum;
    }
    let copy = builder.memcpy("copy", &x, &mut y);
    builder.after(copy, &[last]);
    builder.build()
}

/// Launches until `moment` launches have run, or for ever.
fn live(graph: &mut Graph, moment: Option<usize>) -> Result<()> {
    for launch in 0.. {
        if Some(launch) == moment {
            break;
        }
        graph.launch()?;
        graph.synchronize()?;
    }
    Ok(())
}

/// The rank that dies: after so many launches, or before it has built its graph.
fn dying(device: &Device, world: Communicator, death: Death, moment: Option<usize>, over: &dyn Fn()) {
    let graph = moment.map(|moment| {
        let mut graph = build(device, &world).unwrap();
        live(&mut graph, Some(moment)).unwrap();
        graph
    });
    match death {
        Death::Panic => panic!("this rank dies"),
        Death::DropGraph => {
            drop(graph);
            over();
            drop(world);
        }
        Death::Leave => {
            drop(graph);
            drop(world);
            over();
        }
        Death::Stop => {
            over();
            drop((graph, world));
        }
    }
}

#[test]
fn a_rank_dies_at_random_moments() {
    let mut random = Random(7);
    for round in 0..20 {
        let ranks = super::at_most(2 + random.below(4));
        let dead = random.below(ranks);
        let death = DEATHS[random.below(DEATHS.len())];
        let moment = random.below(6).checked_sub(1);
        let (devices, _one) = super::devices(ranks);
        let options = CommunicatorOptions {
            timeout: death.timeout(wants_cuda() && Device::cuda(ranks - 1).is_err()),
        };
        let all = Communicator::local_by(&devices, super::transport(), options).unwrap();
        let begin = Instant::now();
        let ended = super::Ended::default();
        let over = || ended.wait_for(ranks - 1);
        thread::scope(|scope| {
            for (rank, (device, world)) in devices.iter().zip(all).enumerate() {
                let (ended, over) = (&ended, &over);
                scope.spawn(move || {
                    if rank == dead {
                        let died = || dying(device, world, death, moment, over);
                        _ = catch_unwind(AssertUnwindSafe(died));
                        return;
                    }
                    let _ended = ended.count();
                    let lived = build(device, &world).and_then(|mut graph| live(&mut graph, None));
                    match lived {
                        Err(Error::Peer { rank, message, .. }) => {
                            assert_eq!(rank, dead, "round {round}: {death:?} at {moment:?}: {message}");
                            assert!(message.contains(&format!("rank {dead}")), "{message}");
                        }
                        other => panic!("round {round}: {other:?}"),
                    }
                    drop(world);
                });
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(60), "round {round}: {death:?}");
    }
}

#[test]
fn a_rank_that_cannot_build_tells_the_others() {
    let built = super::on_ranks(2, |device, world| {
        let mut builder = GraphBuilder::new(device, "Step");
        let mut x = builder.device::<[f32; 16]>("x");
        builder.all_reduce("sum", Reduction::Sum, &mut x, &world);
        if world.rank() == 1 {
            // Larger than any memory.
            builder.device_slice::<f32>("huge", usize::MAX / 64);
        }
        builder.build().map(drop)
    });
    let messages = super::messages(built);
    assert!(messages[0].contains("rank 1 cannot build"), "{messages:?}");
}

#[test]
fn a_broken_communicator_stays_broken() {
    let (devices, _one) = super::devices(2);
    let mut ranks = Communicator::local(&devices).unwrap();
    drop(ranks.pop());
    for _ in 0..2 {
        let error = build(&devices[0], &ranks[0]).unwrap_err();
        assert!(matches!(error, Error::Peer { rank: 1, .. }), "{error}");
    }
}

#[test]
fn graphs_keep_their_communicators() {
    super::on_ranks(2, |device, world| {
        let mut graph = build(device, &world).unwrap();
        drop(world);
        for _ in 0..10 {
            graph.launch().unwrap();
        }
        graph.synchronize().unwrap();
    });
}

#[test]
fn a_split_meets_no_build() {
    let results = super::on_ranks(2, |device, world| match world.rank() {
        0 => world.split(0, 0).map(drop),
        _ => build(device, &world).map(drop),
    });
    let messages = super::messages(results);
    let expected = [
        "rank 1 builds a graph while this rank calls `split`",
        "rank 0 calls `split` while this rank builds a graph",
    ];
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.contains(expected), "{messages:?}");
    }
}

/// Runs a test once more in a process of its own, with two devices of the driver in software and a variable. Returns
/// whether this is that process.
fn is_child(test: &str, variable: &str) -> bool {
    if !super::common::is_software() || std::env::var_os(variable).is_some() {
        return std::env::var_os(variable).is_some();
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test]).env(variable, "1");
    child.env("CUDA_GRAPH_DRIVER_DEVICES", "2");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    false
}

/// All GPUs of the machines that we have reach each other, so the driver in software is asked.
#[test]
fn gpus_that_do_not_reach_each_other_are_named_or_use_nccl() {
    let test = "failures::gpus_that_do_not_reach_each_other_are_named_or_use_nccl";
    if !is_child(test, "CUDA_GRAPH_DRIVER_NO_PEERS") {
        return;
    }
    let (devices, _one) = super::devices(2);
    let all = Communicator::local(&devices).unwrap();
    assert_eq!(
        format!("{all:?}"),
        "[Communicator(rank 0 of 2, by NCCL), Communicator(rank 1 of 2, by NCCL)]"
    );
    thread::scope(|scope| {
        for (device, world) in devices.iter().zip(all) {
            scope.spawn(move || live(&mut build(device, &world).unwrap(), Some(2)).unwrap());
        }
    });
    let error = Communicator::local_by(&devices, Transport::PeerMemory, CommunicatorOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Peer { rank: 1, .. }), "{error}");
    let message = error.to_string();
    let pair = "has no way to the memory of rank 1";
    assert!(message.contains("rank 0 (") && message.contains(pair), "{message}");
}

/// A kernel that leaves its memory loses the context of its rank, so this is no test for a GPU that others use.
#[test]
fn a_fault_of_a_rank_ends_the_waiting_of_the_others() {
    let test = "failures::a_fault_of_a_rank_ends_the_waiting_of_the_others";
    if !is_child(test, "CUDA_GRAPH_TEST_FAULT_OF_A_RANK") {
        return;
    }
    let begin = Instant::now();
    let results = super::with_timeout(2, Duration::from_secs(600), |device, world| {
        let mut builder = GraphBuilder::new(device, "Step");
        let index = builder.host::<[u32; 4]>("index");
        let mut on_device = builder.device::<[u32; 4]>("on_device");
        let table = builder.device::<[f32; 4]>("table");
        let mut out = builder.device::<[f32; 4]>("out");
        let upload = builder.memcpy("upload", &index, &mut on_device);
        // SAFETY: the index of rank 1 is out of bounds: the driver in software finds that, in a process of its own.
        let call = unsafe { gather::call(&on_device, &table, &mut out) };
        let look_up = builder.kernel("look_up", Launch::new(1, 4), call);
        let sum = builder.all_reduce("sum", Reduction::Sum, &mut out, &world);
        builder.after(look_up, &[upload]);
        builder.after(sum, &[look_up]);
        let mut graph = builder.build()?;
        *graph.host_mut(&index)? = [1 << 24; 4].map(|far| far * world.rank() as u32);
        graph.launch()?;
        graph.synchronize()
    });
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert!(matches!(results[0], Err(Error::Peer { rank: 1, .. })), "{results:?}");
    assert!(!matches!(results[1], Ok(()) | Err(Error::Peer { .. })), "{results:?}");
    let messages = super::messages(results);
    assert!(
        messages[0].contains("rank 1 has failed in graph `Step`"),
        "{messages:?}"
    );
}
