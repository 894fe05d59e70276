//! The GPU time of `if` and `while` in both forms of bodies: conditional nodes, and predicated kernels. These are the
//! prices by which `build` chooses (`backend/cuda/prices.rs`).
//!
//! The targets: an `if` with one kernel costs at most 0.4 us more than its kernel if it runs, and 0.9 us if it does
//! not; an iteration of a `while` at most 0.7 us more than its kernels; one of a loop of two kernels 1.9 us in all. An
//! H200, driver 580: 0.1 to 0.2 us less than its kernel if it runs, with up to 256 blocks, as programmatic edges lead
//! to predicated kernels; with 512 and 1024 blocks plain ones do, for 0.2 us more. If it does not run, 0.5 us with one
//! block, 0.7 with 132 and with 256, 1.1 with 512 and 1.3 with 1024 (not reached). An iteration of one kernel costs no
//! more than the kernel, but 1.0 us more if several blocks write the flag and take a ticket. The loop of two kernels
//! takes 1.74 us in all, where a chain of these kernels takes 1.89.

use graph_runtime::{Bodies, Device, Graph, GraphBuilder, Launch, NodeId, OnDevice, Place, Result, cuda_kernels};
use std::time::Instant;

/// The sites in one graph, one after the other.
const SITES: usize = 64;
/// The iterations of a `while`.
const ITERATIONS: u32 = 1000;
/// The blocks of a step, as in `examples/src/bin/roots.rs`.
const STEP_BLOCKS: usize = 8;
const LAUNCHES: u32 = 50;
const ROUNDS: usize = 9;

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
    #[requires(threads <= data.len() && threads <= flag.len())]
    safe fn is_below(data: &[u32], limit: u32, flag: &mut [u32]);
}

fn main() -> Result<()> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("bodies: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    println!("{}: median of {ROUNDS} rounds", device.name());
    for blocks in [1, 32, 132, 256, 512, 1024] {
        let most = if blocks == 1 { 32 } else { 4 };
        for kernels in [1, 4, 16, 32].into_iter().filter(|kernels| *kernels <= most) {
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
            let flag = built.flag;
            let start = |graph: &mut Graph| graph.device_mut(&flag)?.copy_from(&ITERATIONS);
            print_loop(bodies, &mut built.graph, plain, start)?;
        }
    }
    let plain = site_time(&mut steps_in_a_row(&device)?, 1)?;
    println!(
        "`while`, a step of {STEP_BLOCKS} x 128 threads and a test of as many, {ITERATIONS} iterations; a chain of both: \
         {plain:.2} us"
    );
    for bodies in [Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest] {
        let (mut graph, start) = converging(&device.with_bodies(bodies))?;
        print_loop(bodies, &mut graph, plain, start)?;
    }
    let plain = site_time(&mut chain(&device, 1, STEP_BLOCKS)?, 1)?;
    println!("`while`, one kernel of {STEP_BLOCKS} x 128 threads that counts; a chain: {plain:.2} us");
    for bodies in [Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest] {
        let (mut graph, start) = counting(&device.with_bodies(bodies))?;
        print_loop(bodies, &mut graph, plain, start)?;
    }
    Ok(())
}

/// Measures a loop that `start` makes ready. `plain` is the time of its kernels.
fn print_loop(bodies: Bodies, graph: &mut Graph, plain: f64, start: impl Fn(&mut Graph) -> Result<()>) -> Result<()> {
    let iteration = loop_time(graph, start)?;
    let form = &graph.body_forms()[0];
    println!(
        "  {bodies:?}: {iteration:.2} us an iteration, {:.2} us more than its kernels; {form}",
        iteration - plain
    );
    Ok(())
}

struct Built {
    graph: Graph,
    flag: Place<u32, OnDevice>,
}

type Data = Place<[u32; 131_072], OnDevice>;
type Flags = Place<[u32; 1024], OnDevice>;

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

/// Adds a step, and the test that says where it must go on. Both have several blocks.
fn step(
    builder: &mut GraphBuilder,
    number: usize,
    (data, flags): (&Data, &Flags),
    before: Option<NodeId>,
) -> Option<NodeId> {
    let launch = Launch::new(STEP_BLOCKS as u32, 128);
    let step = builder.kernel(format!("step_{number}"), launch, add_to::call(&mut data.whole(), 1));
    builder.after(step, before.as_slice());
    let test = is_below::call(&data.whole(), ITERATIONS, &mut flags.whole());
    let test = builder.kernel(format!("test_{number}"), launch, test);
    builder.after(test, &[step]);
    Some(test)
}

/// Steps and tests without a loop.
fn steps_in_a_row(device: &Device) -> Result<Built> {
    let mut builder = GraphBuilder::new(device, "Steps");
    let (flag, data, flags) = (builder.device("flag"), builder.device("data"), builder.device("flags"));
    (0..SITES).fold(None, |before, number| {
        step(&mut builder, number, (&data, &flags), before)
    });
    let graph = builder.build()?;
    Ok(Built { graph, flag })
}

/// A `while` of a step and a test, and what makes it ready.
fn converging(device: &Device) -> Result<(Graph, impl Fn(&mut Graph) -> Result<()> + use<>)> {
    let mut builder = GraphBuilder::new(device, "Converging");
    let (data, flags): (Data, Flags) = (builder.device("data"), builder.device("flags"));
    builder.while_loop("repeat", &flags.row(0), |body| {
        step(body, 0, (&data, &flags), None);
    });
    let mut graph = builder.build()?;
    let (numbers, goes_on) = (data, flags);
    let start = move |graph: &mut Graph| {
        graph.device_mut(&numbers)?.copy_from(&[0; 131_072])?;
        graph.device_mut(&goes_on)?.copy_from(&[1; 1024])
    };
    start(&mut graph)?;
    graph.launch()?;
    assert_eq!(
        graph.device(&data)?.read()?[..1025],
        [[ITERATIONS; 1024].as_slice(), &[0]].concat()
    );
    Ok((graph, start))
}

/// A `while` of one kernel of several blocks, which counts down, and what makes it ready.
fn counting(device: &Device) -> Result<(Graph, impl Fn(&mut Graph) -> Result<()> + use<>)> {
    let mut builder = GraphBuilder::new(device, "Counting");
    let flags: Flags = builder.device("flags");
    builder.while_loop("repeat", &flags.row(0), |body| {
        let launch = Launch::new(STEP_BLOCKS as u32, 128);
        body.kernel("next", launch, add_to::call(&mut flags.whole(), u32::MAX));
    });
    let mut graph = builder.build()?;
    let rest = flags;
    let start = move |graph: &mut Graph| graph.device_mut(&rest)?.copy_from(&[ITERATIONS; 1024]);
    start(&mut graph)?;
    graph.launch()?;
    assert_eq!(*graph.device(&flags)?.read()?, [0; 1024]);
    Ok((graph, start))
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
fn loop_time(graph: &mut Graph, start: impl Fn(&mut Graph) -> Result<()>) -> Result<f64> {
    let round = |graph: &mut Graph| {
        start(graph)?;
        let start = Instant::now();
        graph.launch()?;
        graph.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(ITERATIONS))
    };
    median(graph, round)
}

fn median<G>(graph: &mut G, round: impl Fn(&mut G) -> Result<f64>) -> Result<f64> {
    let mut rounds = (0..ROUNDS).map(|_| round(graph)).collect::<Result<Vec<f64>>>()?;
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[ROUNDS / 2])
}
