//! Eight chains of sixteen small kernels: the chains run side by side, the kernels of each one after the other. Once
//! with plain edges, and once with programmatic ones: each kernel is on the GPU already when the one before it ends.
//!
//! `overlap --bench` times both, the graph with plain edges as bare driver calls build it, and the CPU time of a
//! launch. It runs on the first CUDA device, or on the CPU emulator if there is none.

use examples::bare::BareChains;
use examples::{bench, log};
use graph_runtime::{AnyGraph, Device, cuda_graph, cuda_kernels};
use std::error::Error;

const CHAINS: usize = 8;
const STEPS: usize = 16;
/// Numbers of a chain.
const NUMBERS: usize = 128;
/// Rounds of measuring.
const ROUNDS: usize = 200;
/// Launches between two waits.
const BATCH: usize = 32;

#[cuda_kernels("kernels/overlap.ptx")]
unsafe extern "C" {
    /// A step of a generator of random numbers; one thread for each number
    #[requires(threads <= data.len())]
    safe fn advance(data: &mut [u32], step: u32);
}

#[cuda_kernels("kernels/overlap_early.ptx")]
unsafe extern "C" {
    /// As `advance`, for programmatic edges
    #[requires(threads <= data.len())]
    safe fn advance_early(data: &mut [u32], step: u32);
}

cuda_graph! {
    /// `STEPS` steps of each chain.
    graph Plain(chains: usize) {
        device numbers: [[u32; NUMBERS]; chains];

        each chain in 0..chains {
            for step in 0..STEPS {
                kernel next = advance<<<1, NUMBERS>>>(&mut numbers[chain], step);
            }
        }
    }
}

cuda_graph! {
    /// The same steps. A kernel starts when the one before it has started, and waits in its own code until that has
    /// ended.
    graph Programmatic(chains: usize) {
        device numbers: [[u32; NUMBERS]; chains];

        each chain in 0..chains {
            each step in 0..STEPS {
                kernel next = advance_early<<<1, NUMBERS>>>(&mut numbers[chain], step)
                    after programmatic(next(chain, step - 1));
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let seeds: [[u32; NUMBERS]; CHAINS] =
        std::array::from_fn(|chain| std::array::from_fn(|index| (chain * NUMBERS + index) as u32));
    let expected = seeds.map(|chain| chain.map(|number| (0..STEPS as u32).fold(number, next_on_the_cpu)));

    let mut plain = Plain::build(&device, CHAINS)?;
    plain.numbers_mut()?.copy_from(&seeds)?;
    plain.launch()?;
    if plain.numbers()?.read_vec()? != expected {
        return Err("the chains with plain edges came out otherwise than on the CPU".into());
    }
    let mut programmatic = None;
    if has_programmatic_edges(&device)? {
        let graph = programmatic.insert(Programmatic::build(&device, CHAINS)?);
        graph.numbers_mut()?.copy_from(&seeds)?;
        graph.launch()?;
        if graph.numbers()?.read_vec()? != expected {
            return Err("the chains with programmatic edges came out otherwise than on the CPU".into());
        }
    }
    let edges = ["plain edges", "plain and with programmatic edges"][usize::from(programmatic.is_some())];
    println!("check:   {CHAINS} chains of {STEPS} kernels, with {edges}: all numbers as on the CPU");

    if std::env::args().any(|argument| argument == "--bench") && !device.is_emulator() {
        time("overlap plain", &mut plain)?;
        if let Some(graph) = &mut programmatic {
            time("overlap programmatic", graph)?;
        }
        time_launches(&device)?;
    }
    Ok(())
}

/// Prints the CPU time of a launch, and times of the same graphs by bare driver calls.
fn time_launches(device: &Device) -> Result<(), Box<dyn Error>> {
    // The CPU time depends on the width of a graph; this is one chain.
    let mut chain = Plain::build(device, 1)?;
    let (launch, wait) = (Plain::launch, |graph: &mut Plain| graph.synchronize());
    let times = bench::cpu_time("launch", ROUNDS, BATCH, &mut chain, launch, wait)?;
    println!("{times}");
    let ptx = include_str!("../../kernels/overlap.ptx");
    let bare = |chains| BareChains::new(device, ptx, chains, STEPS, NUMBERS);
    if let (Some(mut chain), Some(mut all)) = (bare(1)?, bare(CHAINS)?) {
        let (launch, wait) = (BareChains::launch, BareChains::synchronize);
        let times = bench::cpu_time("launch bare", ROUNDS, BATCH, &mut chain, launch, wait)?;
        println!("{times}");
        let times = bench::time("overlap plain bare", ROUNDS, BATCH, &mut all, launch, wait)?;
        println!("{times}");
    }
    Ok(())
}

/// Prints the time of a launch in a row of them.
fn time<G: AnyGraph>(row: &str, graph: &mut G) -> graph_runtime::Result<()> {
    let times = bench::time(row, ROUNDS, BATCH, graph, G::launch, |graph| graph.synchronize())?;
    println!("{times}");
    Ok(())
}

/// Whether the device runs the PTX of `advance_early`.
fn has_programmatic_edges(device: &Device) -> Result<bool, Box<dyn Error>> {
    match device.context() {
        Some(context) => Ok(context.compute_capability()? >= (9, 0)),
        None => Ok(true),
    }
}

/// One number of a chain after a step.
fn next_on_the_cpu(number: u32, step: u32) -> u32 {
    number
        .wrapping_mul(1_664_525)
        .wrapping_add(1_013_904_223)
        .wrapping_add(step)
}
