//! The GPU time that programmatic edges save: that of a chain of 1,000 small kernels, each reading what the one before
//! wrote, with plain and with programmatic edges.
//!
//! Both graphs run in one process, in turns; a round is so many launches in a row and one wait, which keeps the GPU
//! busy throughout. The target is a ratio of 0.65 at most.

use graph_runtime::{Device, Graph, GraphBuilder, Launch, NodeId, Result, cuda_kernels};
use std::time::Instant;

const KERNELS: usize = 1000;
/// Launches of a round: the time of the last one's wait does not count then.
const LAUNCHES: u32 = 100;
const ROUNDS: usize = 15;

#[cuda_kernels("benches/programmatic.ptx")]
unsafe extern "C" {
    /// `data[i] += 1`, one thread for each element: lets the next kernel start, waits for the one before, then works
    #[requires(threads <= data.len())]
    safe fn increment(data: &mut [u32]);
}

fn main() -> Result<()> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("programmatic: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    println!(
        "{}: GPU time of each kernel in a chain of {KERNELS} (1 x 32 threads)",
        device.name()
    );
    let (mut plain, mut early) = (chain(&device, false)?, chain(&device, true)?);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((round(&mut plain)?, round(&mut early)?));
    }
    let plain = median(rounds.iter().map(|round| round.0).collect());
    let early = median(rounds.iter().map(|round| round.1).collect());
    let ratios: Vec<f64> = rounds.iter().map(|(plain, early)| early / plain).collect();
    let (least, most) = ratios.iter().fold((f64::MAX, 0.0_f64), |(least, most), &ratio| {
        (least.min(ratio), most.max(ratio))
    });
    println!("plain edges         {plain:.3} us");
    println!("programmatic edges  {early:.3} us");
    println!(
        "ratio               {:.3} (median of {ROUNDS} rounds; {least:.3} to {most:.3}), target 0.65 at most",
        median(ratios)
    );
    Ok(())
}

/// A chain of kernels on one buffer.
fn chain(device: &Device, programmatic: bool) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, if programmatic { "Programmatic" } else { "Plain" });
    let mut data = builder.device::<[u32; 32]>("data");
    let mut last: Option<NodeId> = None;
    for index in 0..KERNELS {
        let node = builder.kernel(
            format!("kernel_{index}"),
            Launch::new(1, 32),
            increment::call(&mut data),
        );
        match last.replace(node) {
            Some(last) if programmatic => builder.after_programmatic(node, &[last]),
            Some(last) => builder.after(node, &[last]),
            None => {}
        }
    }
    let mut graph = builder.build()?;
    for launch in 1..=3 {
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [launch * KERNELS as u32; 32]);
    }
    Ok(graph)
}

/// Microseconds of each kernel.
fn round(graph: &mut Graph) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        graph.launch()?;
    }
    graph.synchronize()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES) / KERNELS as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
