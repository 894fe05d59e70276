//! The GPU time of copies from page-locked memory in both forms, copy nodes and kernels, by size. From these figures is
//! the size up to which `build` takes a kernel (`upload_bytes` in `backend/cuda/prices.rs`).

use graph_runtime::{Device, Graph, GraphBuilder, Launch, NodeId, Result, Uploads, cuda_kernels};
use std::time::Instant;

/// The copies in one graph, one after the other, each with a kernel after it.
const SITES: usize = 16;
const LAUNCHES: u32 = 50;
const ROUNDS: usize = 9;
/// The most bytes of a copy.
const MOST: usize = 1 << 16;

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
}

fn main() -> Result<()> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("uploads: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    println!("{}: median of {ROUNDS} rounds", device.name());
    let plain = site_time(&mut graph(&device, None)?)?;
    println!("a kernel of 1 x 32 threads in a chain: {plain:.2} us");
    for bytes in [16, 64, 256, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, MOST] {
        let [copies, kernels] = [Uploads::Copies, Uploads::Kernels]
            .map(|uploads| site_time(&mut graph(&device.with_uploads(uploads), Some(bytes))?));
        let (copies, kernels) = (copies? - plain, kernels? - plain);
        println!("  {bytes:6} bytes from the host before each: a copy node {copies:5.2} us, a kernel {kernels:5.2} us");
    }
    Ok(())
}

/// Kernels, one after the other, each of which comes after a copy of this many bytes to what it changes.
fn graph(device: &Device, bytes: Option<usize>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Uploads");
    let input = builder.host::<[u32; MOST / 4]>("input");
    let data = builder.device::<[u32; MOST / 4]>("data");
    let mut before: Option<NodeId> = None;
    for site in 0..SITES {
        if let Some(bytes) = bytes {
            let words = 0..bytes / 4;
            let copy = builder.memcpy(
                format!("copy_{site}"),
                &input.rows(words.clone()),
                &mut data.rows(words),
            );
            builder.after(copy, before.as_slice());
            before = Some(copy);
        }
        let call = add_to::call(&mut data.whole(), 1);
        let kernel = builder.kernel(format!("kernel_{site}"), Launch::new(1, 32), call);
        builder.after(kernel, before.as_slice());
        before = Some(kernel);
    }
    let mut graph = builder.build()?;
    graph.host_mut(&input)?.fill(7);
    graph.launch()?;
    let first = graph.device(&data)?.read()?[0];
    assert_eq!(first as usize, if bytes.is_some() { 8 } else { SITES });
    Ok(graph)
}

/// Microseconds of each site.
fn site_time(graph: &mut Graph) -> Result<f64> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            graph.launch()?;
        }
        graph.synchronize()?;
        rounds.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES) / SITES as f64);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[ROUNDS / 2])
}
