//! Ranks that fail: every other rank has an error that names the rank, and nothing hangs.

use crate::common::random::Random;
use graph_runtime::{Communicator, CommunicatorOptions, Device, Error, Graph, GraphBuilder, Reduction, Result};
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
fn dying(device: &Device, world: Communicator, death: Death, moment: Option<usize>, over: &dyn Fn() -> bool) {
    let graph = moment.map(|moment| {
        let mut graph = build(device, &world).unwrap();
        live(&mut graph, Some(moment)).unwrap();
        graph
    });
    match death {
        Death::Panic => panic!("this rank dies"),
        Death::DropGraph => {
            drop(graph);
            wait_until(over);
            drop(world);
        }
        Death::Leave => {
            drop(graph);
            drop(world);
            wait_until(over);
        }
        Death::Stop => {
            wait_until(over);
            drop((graph, world));
        }
    }
}

fn wait_until(over: &dyn Fn() -> bool) {
    while !over() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_rank_dies_at_random_moments() {
    let mut random = Random(7);
    for round in 0..20 {
        let ranks = 2 + random.below(4);
        let dead = random.below(ranks);
        let death = DEATHS[random.below(DEATHS.len())];
        let moment = random.below(6).checked_sub(1);
        let (devices, _one) = super::devices(ranks);
        let options = CommunicatorOptions {
            timeout: Duration::from_millis(1500),
        };
        let all = Communicator::local_with(&devices, options).unwrap();
        let begin = Instant::now();
        let left = std::sync::atomic::AtomicUsize::new(ranks - 1);
        let over = || left.load(std::sync::atomic::Ordering::SeqCst) == 0;
        thread::scope(|scope| {
            for (rank, (device, world)) in devices.iter().zip(all).enumerate() {
                let (left, over) = (&left, &over);
                scope.spawn(move || {
                    if rank == dead {
                        let died = || dying(device, world, death, moment, over);
                        _ = catch_unwind(AssertUnwindSafe(died));
                        return;
                    }
                    let lived = build(device, &world).and_then(|mut graph| live(&mut graph, None));
                    match lived {
                        Err(Error::Peer { rank, message, .. }) => {
                            assert_eq!(rank, dead, "round {round}: {death:?} at {moment:?}: {message}");
                            assert!(message.contains(&format!("rank {dead}")), "{message}");
                        }
                        other => panic!("round {round}: {other:?}"),
                    }
                    drop(world);
                    left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
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
    assert!(messages[0].contains("rank 1 cannot build it"), "{messages:?}");
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

/// Asks the driver in software, once more in a process in which no device reaches the memory of another one.
#[test]
fn gpus_that_do_not_reach_each_other_are_named() {
    const NO_PEERS: &str = "CUDA_GRAPH_DRIVER_NO_PEERS";
    if !super::common::is_software() {
        return; // all GPUs of a machine that we have reach each other
    }
    if std::env::var_os(NO_PEERS).is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let test = "failures::gpus_that_do_not_reach_each_other_are_named";
        child.args(["--exact", test]).env(NO_PEERS, "1");
        child.env("CUDA_GRAPH_DRIVER_DEVICES", "2");
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let (devices, _one) = super::devices(2);
    let error = Communicator::local(&devices).unwrap_err();
    assert!(matches!(error, Error::Peer { rank: 1, .. }), "{error}");
    let message = error.to_string();
    let pair = "has no way to the memory of rank 1";
    assert!(message.contains("rank 0 (") && message.contains(pair), "{message}");
}
