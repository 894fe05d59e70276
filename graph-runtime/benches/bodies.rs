//! The GPU time of `if` and `while` in both forms of bodies: conditional nodes, and predicated kernels. These are the
//! prices by which `build` chooses (`backend/cuda/prices.rs`).
//!
//! The targets: an `if` with one kernel costs at most 0.4 us more than its kernel if it runs, and 0.9 us if it does
//! not; an iteration of a `while` at most 0.7 us more than its kernels; one of a loop of two kernels 1.9 us in all.

use graph_runtime::{Bodies, Device, Graph, GraphBuilder, Launch, NodeId, OnDevice, Place, Result, cuda_kernels};
use std::time::Instant;

/// The sites in one graph, one after the other.
const SITES: usize = 16;
/// The iterations of a `while`.
const ITERATIONS: u32 = 1000;
const LAUNCHES: u32 = 50;
const ROUNDS: usize = 9;

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
}

fn main() -> Result<()> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("bodies: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    println!("{}: median of {ROUNDS} rounds", device.name());
    for blocks in [1, 132, 1024] {
        for kernels in [1, 2, 4] {
            let plain = site_time(&mut chain(&device, kernels, blocks)?, 1)?;
            println!("{kernels} kernel(s) of {blocks} x 128 threads in a chain: {plain:.2} us");
            for bodies in [Bodies::Nodes, Bodies::Predicated] {
                let mut built = choices(&device.with_bodies(bodies), kernels, blocks)?;
                let (taken, skipped) = (site_time(&mut built, 1)?, site_time(&mut built, 0)?);
                println!(
                    "  `if`, {bodies:?}: {:.2} us more than its kernels if it runs, {skipped:.2} us if it does not",
                    taken - plain
                );
            }
        }
    }
    for kernels in [1, 2, 4] {
        let plain = site_time(&mut chain(&device, kernels, 1)?, 1)?;
        println!(
            "`while`, {kernels} kernel(s), the last of which counts, {ITERATIONS} iterations; a chain: {plain:.2} us"
        );
        for bodies in [Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest] {
            let mut built = repeated(&device.with_bodies(bodies), kernels)?;
            let iteration = loop_time(&mut built)?;
            let form = &built.graph.body_forms()[0];
            println!(
                "  {bodies:?}: {iteration:.2} us an iteration, {:.2} us more than its kernels; {form}",
                iteration - plain
            );
        }
    }
    Ok(())
}

struct Built {
    graph: Graph,
    flag: Place<u32, OnDevice>,
}

type Data = Place<[u32; 131_072], OnDevice>;

/// Adds kernels, one after the other and after `before`. Returns the last node.
fn in_a_row(
    builder: &mut GraphBuilder,
    data: &Data,
    (name, kernels, blocks): (&str, usize, usize),
    before: Option<NodeId>,
) -> Option<NodeId> {
    (0..kernels).fold(before, |before, index| {
        let launch = Launch::new(blocks as u32, 128);
        let node = builder.kernel(format!("{name}_{index}"), launch, add_to::call(&mut data.whole(), 1));
        builder.after(node, before.as_slice());
        Some(node)
    })
}

/// The kernels of all sites without choices.
fn chain(device: &Device, kernels: usize, blocks: usize) -> Result<Built> {
    let mut builder = GraphBuilder::new(device, "Chain");
    let (flag, data) = (builder.device("flag"), builder.device("data"));
    in_a_row(&mut builder, &data, ("kernel", SITES * kernels, blocks), None);
    let graph = builder.build()?;
    Ok(Built { graph, flag })
}

/// Choices, one after the other, each with kernels in its body.
fn choices(device: &Device, kernels: usize, blocks: usize) -> Result<Built> {
    let mut builder = GraphBuilder::new(device, "Choices");
    let (flag, data) = (builder.device("flag"), builder.device("data"));
    let mut before: Option<NodeId> = None;
    for site in 0..SITES {
        let choice = builder.if_then(format!("choice_{site}"), &flag, |then| {
            in_a_row(then, &data, (&format!("kernel_{site}"), kernels, blocks), None);
        });
        builder.after(choice, before.as_slice());
        before = Some(choice);
    }
    let mut graph = builder.build()?;
    for value in [1, 0, 2] {
        graph.device_mut(&flag)?.copy_from(&value)?;
        graph.launch()?;
    }
    let expected = 2 * (SITES * kernels) as u32;
    assert_eq!(graph.device(&data)?.read()?[..32], [expected; 32]);
    Ok(Built { graph, flag })
}

/// A `while` of kernels; the last of them counts down.
fn repeated(device: &Device, kernels: usize) -> Result<Built> {
    let mut builder = GraphBuilder::new(device, "Repeated");
    let (flag, data) = (builder.device::<u32>("flag"), builder.device("data"));
    builder.while_loop("repeat", &flag, |body| {
        let last = in_a_row(body, &data, ("kernel", kernels - 1, 1), None);
        let next = body.kernel("next", Launch::new(1, 1), add_to::call(&mut flag.whole(), u32::MAX));
        body.after(next, last.as_slice());
    });
    let mut graph = builder.build()?;
    for rounds in [0, 1, 7] {
        graph.device_mut(&flag)?.copy_from(&rounds)?;
        graph.launch()?;
    }
    assert_eq!(*graph.device(&flag)?.read()?, 0);
    if kernels > 1 {
        assert_eq!(graph.device(&data)?.read()?[..32], [8 * (kernels - 1) as u32; 32]);
    }
    Ok(Built { graph, flag })
}

/// Microseconds of each site, with this condition.
fn site_time(built: &mut Built, flag: u32) -> Result<f64> {
    built.graph.device_mut(&built.flag)?.copy_from(&flag)?;
    let round = |built: &mut Built| {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            built.graph.launch()?;
        }
        built.graph.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES) / SITES as f64)
    };
    median(built, round)
}

/// Microseconds of each iteration.
fn loop_time(built: &mut Built) -> Result<f64> {
    let round = |built: &mut Built| {
        built.graph.device_mut(&built.flag)?.copy_from(&ITERATIONS)?;
        let start = Instant::now();
        built.graph.launch()?;
        built.graph.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(ITERATIONS))
    };
    median(built, round)
}

fn median(built: &mut Built, round: impl Fn(&mut Built) -> Result<f64>) -> Result<f64> {
    let mut rounds = (0..ROUNDS).map(|_| round(built)).collect::<Result<Vec<f64>>>()?;
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[ROUNDS / 2])
}
