//! Ranks whose data NCCL carries, with the driver in software: a launch of one rank fails.

use crate::common::*;
use crate::software::device_with;
use graph_runtime::fault_injection as faults;
use graph_runtime::{Communicator, CommunicatorOptions, DebugOptions, Transport};
use std::sync::Barrier;
use std::thread;

const OUT_OF_MEMORY: u32 = 2;

cuda_graph! {
    graph Sum(world: &Communicator) {
        device x: f32;

        memset     set = x <- 1.0;
        all_reduce sum = sum(x) over world  after set;
    }
}

/// The way in which both ranks launch their graphs.
#[derive(Clone, Copy, Debug)]
enum Way {
    Launch,
    Profile,
}

impl Way {
    fn run(self, graph: &mut Sum) -> Result<()> {
        match self {
            Way::Launch => graph.launch(),
            Way::Profile => graph.profile(1).map(drop),
        }?;
        graph.synchronize()
    }
}

/// The rank with the failure has its reason, and can launch nothing more over the communicator: else its next launch
/// would be taken for the one that has failed. The other rank hears of it, instead of waiting for so long as its
/// options say.
#[test]
fn a_launch_that_fails_after_ranks_have_agreed_on_it_ends_the_communicator() -> Result<()> {
    let test = "ranks::a_launch_that_fails_after_ranks_have_agreed_on_it_ends_the_communicator";
    let Some((first, _turn)) = device_with(test, &[("CUDA_GRAPH_DRIVER_DEVICES", "2")]) else {
        return Ok(());
    };
    if !is_software() {
        return Ok(()); // a machine may have one GPU, and no NCCL
    }
    let debugged = |device: &Device| device.with_debug(DebugOptions::default());
    let plain = [first, Device::cuda(1)?];
    let debugging = [debugged(&plain[0]), debugged(&plain[1])];
    for (what, devices, way) in [
        ("a graph", &plain, Way::Launch),
        ("a graph", &plain, Way::Profile),
        ("node by node", &debugging, Way::Launch),
        ("node by node", &debugging, Way::Profile),
    ] {
        let ready = Barrier::new(2);
        let run = |device: &Device, world: Communicator| -> Result<_> {
            let graph = Sum::build(device, &world);
            if ready.wait().is_leader() {
                faults::start();
                faults::fail_with("cuGraphLaunch", 1, OUT_OF_MEMORY); // of whichever rank is the first
            }
            ready.wait();
            let mut graph = graph?;
            let ended = way.run(&mut graph);
            let again = way.run(&mut graph);
            Ok((ended, again))
        };
        let worlds = Communicator::local_by(&devices[..], Transport::Nccl, CommunicatorOptions::default())?;
        let ends: Vec<Result<_>> = thread::scope(|scope| {
            let ranks = devices.iter().zip(worlds);
            let ranks: Vec<_> = ranks
                .map(|(device, world)| scope.spawn(|| run(device, world)))
                .collect();
            ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
        });
        let what = format!("{what}, {way:?}");
        assert_eq!(faults::pending(), 0, "{what}: no launch has failed");
        let ends = ends.into_iter().collect::<Result<Vec<_>>>()?;
        let is_own = |error: &Result<()>| matches!(error, Err(error) if !matches!(error, Error::Peer { .. }));
        let failed = ends.iter().position(|(ended, _)| is_own(ended));
        let failed = failed.unwrap_or_else(|| panic!("{what}: {ends:?}"));
        let told = format!("rank {failed} has failed in graph `Sum`");
        let (own, other) = (&ends[failed], &ends[1 - failed]);
        for ended in [&own.1, &other.0, &other.1] {
            match ended {
                Err(error @ Error::Peer { rank, .. }) if *rank == failed && error.to_string().contains(&told) => {}
                _ => panic!("{what}: {ends:?}"),
            }
        }
    }
    Ok(())
}
