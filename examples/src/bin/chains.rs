//! Eight chains of sixteen kernels: chains run side by side, the kernels of each one after the other.
//!
//! `chains --bench` compares the graph with one that bare driver calls build. It runs on the first CUDA device, or on
//! the CPU emulator if there is none.

use examples::bare::BareChains;
use examples::log;
use graph_runtime::{Device, cuda_graph, cuda_kernels};
use std::error::Error;
use std::time::Instant;

const CHAINS: usize = 8;
const STEPS: usize = 16;
/// Numbers of a chain.
const NUMBERS: usize = 128;
/// Launches between two waits.
const BATCH: usize = 32;
const ROUNDS: usize = 400;

#[cuda_kernels("kernels/chains.ptx")]
unsafe extern "C" {
    /// A step of a generator of random numbers; one thread for each number
    #[requires(threads <= data.len())]
    safe fn advance(data: &mut [u32], step: u32);
}

cuda_graph! {
    /// `STEPS` steps of each chain.
    graph Chains {
        device numbers: [[u32; NUMBERS]; CHAINS];

        each chain in 0..CHAINS {
            for step in 0..STEPS {
                kernel next = advance<<<1, NUMBERS>>>(&mut numbers[chain], step);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let mut graph = Chains::build(&device)?;
    let mut expected: [[u32; NUMBERS]; CHAINS] =
        std::array::from_fn(|chain| std::array::from_fn(|index| (chain * NUMBERS + index) as u32));
    graph.numbers_mut()?.copy_from(&expected)?;
    graph.launch()?;
    for number in expected.as_flattened_mut() {
        *number = (0..STEPS as u32).fold(*number, next_on_the_cpu);
    }
    if *graph.numbers()?.read()? != expected {
        return Err("the chains came out otherwise than on the CPU".into());
    }
    println!("check:   {CHAINS} chains of {STEPS} kernels, all numbers as on the CPU");
    if std::env::args().any(|argument| argument == "--bench") {
        bench(&device, &mut graph)?;
    }
    Ok(())
}

/// One number of a chain after a step.
fn next_on_the_cpu(number: u32, step: u32) -> u32 {
    number
        .wrapping_mul(1_664_525)
        .wrapping_add(1_013_904_223)
        .wrapping_add(step)
}

/// Launches the graph, and one of bare driver calls, in turns.
fn bench(device: &Device, graph: &mut Chains) -> Result<(), Box<dyn Error>> {
    let Some(mut bare) = BareChains::new(device, include_str!("../../kernels/chains.ptx"), CHAINS, STEPS, NUMBERS)?
    else {
        println!("bench:   there is no CUDA device, so there are no driver calls to compare with");
        return Ok(());
    };
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + 20 {
        // The second finds warmer caches, so they take turns.
        for side in [round % 2, 1 - round % 2] {
            let start = Instant::now();
            for _ in 0..BATCH {
                if side == 0 { graph.launch()? } else { bare.launch()? }
            }
            if side == 0 {
                graph.synchronize()?
            } else {
                bare.synchronize()?
            }
            let time = start.elapsed().as_secs_f64() / BATCH as f64;
            if round >= 20 {
                times[side].push(time * 1e6);
            }
        }
    }
    let [ours, bare] = times.map(|mut times| {
        times.sort_unstable_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| times[times.len() * quarter / 4])
    });
    println!(
        "bench:   {:.2} us a launch ({:.2} to {:.2}), bare driver calls {:.2} us ({:.2} to {:.2}), ratio {:.3}",
        ours[1],
        ours[0],
        ours[2],
        bare[1],
        bare[0],
        bare[2],
        ours[1] / bare[1]
    );
    Ok(())
}
