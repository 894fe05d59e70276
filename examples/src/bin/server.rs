//! A model server: requests come over a channel, are grouped into batches, and run as the smallest graph that fits.
//!
//! There is one graph for each batch of 1, 2, 4 and so on. All of them share the weights, and a pool with their scratch
//! memory. It runs on the first CUDA device, or on the CPU emulator, with fewer requests, if there is none.

use examples::log;
use graph_runtime::{AnyGraph, Device, DeviceBuffer, cuda_graph, cuda_kernels};
use std::error::Error;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Rows of a request.
const ROWS: usize = 16;
const INPUTS: usize = 64;
const HIDDEN: usize = 256;
const OUTPUTS: usize = 16;

type Input = [[f32; INPUTS]; ROWS];
type Output = [[f32; OUTPUTS]; ROWS];

#[cuda_kernels("kernels/mlp.ptx")]
unsafe extern "C" {
    /// `y[r][c] = x[r] . w[c] + b[c]`, not below 0 where `relu`; a block for each row, a thread for each column
    #[requires(grid.x * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= b.len() && grid.x * outputs <= y.len())]
    #[requires(outputs <= block.x)]
    safe fn linear(x: &[f32], w: &[f32], b: &[f32], y: &mut [f32], inputs: u32, outputs: u32, relu: u32);
}

cuda_graph! {
    /// Inference of a batch of requests.
    graph Infer(
        batch: usize,
        w1: device [[f32; INPUTS]; HIDDEN],
        b1: device [f32; HIDDEN],
        w2: device [[f32; HIDDEN]; OUTPUTS],
        b2: device [f32; OUTPUTS],
    ) {
        host    input:  [Input; batch];
        host    output: [Output; batch];
        scratch x:      [Input; batch];
        scratch hidden: [[[f32; HIDDEN]; ROWS]; batch];
        scratch y:      [Output; batch];

        memcpy upload   = input -> x;
        kernel first    = linear<<<batch * ROWS, HIDDEN>>>(&x, &w1, &b1, &mut hidden, INPUTS, HIDDEN, 1)  after upload;
        kernel second   = linear<<<batch * ROWS, OUTPUTS>>>(&hidden, &w2, &b2, &mut y, HIDDEN, OUTPUTS, 0)  after first;
        memcpy download = y -> output  after second;
    }
}

/// A request, and where its reply goes.
struct Request {
    input: Box<Input>,
    reply: oneshot::Sender<Box<Output>>,
}

/// Answers requests until nobody can send any more. Returns how often each bucket ran.
async fn serve(mut buckets: Vec<Infer>, mut requests: mpsc::Receiver<Request>) -> graph_runtime::Result<Vec<usize>> {
    let mut runs = vec![0; buckets.len()];
    let mut batch = Vec::new();
    // It takes what has come while the last batch ran.
    while requests.recv_many(&mut batch, 1 << (buckets.len() - 1)).await > 0 {
        let bucket = batch.len().next_power_of_two().ilog2() as usize;
        let graph = &mut buckets[bucket];
        for (request, input) in batch.iter().zip(graph.input_mut()?) {
            *input = *request.input;
        }
        graph.launch_async()?.await?; // rows of earlier requests, which remain, are computed for nobody
        for (request, output) in batch.drain(..).zip(graph.output()?) {
            let _ = request.reply.send(Box::new(*output)); // a client that has gone needs none
        }
        runs[bucket] += 1;
    }
    Ok(runs)
}

/// Sends requests one after the other, and compares the replies with those of the CPU. Returns the latency of each.
async fn client(
    requests: mpsc::Sender<Request>,
    samples: &'static [(Input, Output)],
    count: usize,
    number: usize,
) -> Result<Vec<Duration>, String> {
    let mut latencies = Vec::new();
    for (input, expected) in samples.iter().cycle().skip(number).take(count) {
        let start = Instant::now();
        let (reply, answer) = oneshot::channel();
        let input = Box::new(*input);
        let sent = requests.send(Request { input, reply }).await;
        sent.map_err(|_| "the server has ended")?;
        let output = answer.await.map_err(|_| "the server has not answered")?;
        latencies.push(start.elapsed());
        let pairs = output.as_flattened().iter().zip(expected.as_flattened());
        if let Some((found, expected)) = pairs
            .clone()
            .find(|(found, expected)| (*found - *expected).abs() > 1e-3)
        {
            return Err(format!("a reply has {found}, expected {expected}"));
        }
    }
    Ok(latencies)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let (largest, clients, count) = if device.is_emulator() {
        (8, 12, 2)
    } else {
        (256, 300, 20)
    };

    let mut random = random();
    let weights = Weights::new(&device, &mut random)?;
    let Weights { w1, b1, w2, b2 } = &weights;
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let mut buckets = Vec::new();
    for bucket in (0..=usize::ilog2(largest)).rev() {
        buckets.push(Infer::build(&pooled, 1 << bucket, w1, b1, w2, b2)?);
    }
    buckets.reverse();
    println!("{}", pool.memory_report());

    let samples = (0..8)
        .map(|_| weights.sample(&mut random))
        .collect::<graph_runtime::Result<Vec<_>>>()?;
    let samples = Vec::leak(samples);
    let (sender, receiver) = mpsc::channel(largest);
    let server = tokio::spawn(serve(buckets, receiver));
    let clients = (0..clients).map(|number| tokio::spawn(client(sender.clone(), samples, count, number)));
    let clients: Vec<_> = clients.collect();
    drop(sender);
    let mut latencies = Vec::new();
    for client in clients {
        latencies.extend(client.await??);
    }
    let runs = server.await??;

    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    for (bucket, runs) in runs.iter().enumerate() {
        println!("batch {:>3}: {runs} launches", 1 << bucket);
    }
    println!("latency: p50 {:.0} us, p99 {:.0} us", percentile(50), percentile(99));
    println!("check:   {} replies, all as on the CPU", latencies.len());
    Ok(())
}

/// The weights, which all graphs hold.
struct Weights {
    w1: DeviceBuffer<[[f32; INPUTS]; HIDDEN]>,
    b1: DeviceBuffer<[f32; HIDDEN]>,
    w2: DeviceBuffer<[[f32; HIDDEN]; OUTPUTS]>,
    b2: DeviceBuffer<[f32; OUTPUTS]>,
}

impl Weights {
    /// Random weights, no biases.
    fn new(device: &Device, random: &mut impl FnMut() -> f32) -> graph_runtime::Result<Self> {
        let weights = Self {
            w1: device.alloc()?,
            b1: device.alloc()?,
            w2: device.alloc()?,
            b2: device.alloc()?,
        };
        weights
            .w1
            .copy_from(&[(); HIDDEN].map(|()| [(); INPUTS].map(|()| random() / 8.0)))?;
        weights
            .w2
            .copy_from(&[(); OUTPUTS].map(|()| [(); HIDDEN].map(|()| random() / 16.0)))?;
        Ok(weights)
    }

    /// A random request, and the reply that the CPU computes.
    fn sample(&self, random: &mut impl FnMut() -> f32) -> graph_runtime::Result<(Input, Output)> {
        let (w1, b1, w2, b2) = (self.w1.read()?, self.b1.read()?, self.w2.read()?, self.b2.read()?);
        let dot = |x: &[f32], w: &[f32], b: f32| x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>() + b;
        let input: Input = [(); ROWS].map(|()| [(); INPUTS].map(|()| random()));
        let output = input.map(|row| {
            let hidden: [f32; HIDDEN] = std::array::from_fn(|c| dot(&row, &w1[c], b1[c]).max(0.0));
            std::array::from_fn(|c| dot(&hidden, &w2[c], b2[c]))
        });
        Ok((input, output))
    }
}

/// Numbers between -1 and 1, the same in every run.
fn random() -> impl FnMut() -> f32 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
