//! Eight chains of sixteen small kernels: the chains run side by side, the kernels of each one after the other. Once
//! with plain edges, and once with programmatic ones: each kernel is on the GPU already when the one before it ends.
//!
//! `overlap --bench` times both, and the CPU time of a launch. It runs on the first CUDA device, or on the CPU emulator
//! if there is none.

use examples::bench::{self, Figure};
use examples::program::start;
use graph_runtime::{BoxError, Device, cuda_graph, cuda_kernels};

const CHAINS: usize = 8;
const STEPS: usize = 16;
/// Numbers of a chain.
const NUMBERS: usize = 128;

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

fn main() -> Result<(), BoxError> {
    let device = start(&[Plain::PLAN, Programmatic::PLAN])?;
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

    if bench::is_wanted(&device) {
        Figure::new("overlap plain", 200, 32).graph(&mut plain)?;
        if let Some(graph) = &mut programmatic {
            Figure::new("overlap programmatic", 200, 32).graph(graph)?;
        }
        // The CPU time depends on the width of a graph; this is one chain.
        Figure::new("launch", 200, 32).cpu(&mut Plain::build(&device, 1)?)?;
    }
    Ok(())
}

/// Whether the device runs the PTX of `advance_early`.
fn has_programmatic_edges(device: &Device) -> Result<bool, BoxError> {
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
