//! A model server: requests come over a channel, are grouped into batches, and run as the smallest graph that fits.
//!
//! There is one graph for each batch of 1, 2, 4 and so on. All of them share the weights, and a pool with their scratch
//! memory. It runs on the first CUDA device, or on the CPU emulator, with fewer requests, if there is none.

use examples::bench::print_latency;
use examples::mlp::{Layer, linear, perceptron};
use examples::program::{close, random, sized, start};
use graph_runtime::{AnyGraph, BoxError, cuda_graph};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Rows of a request.
const ROWS: usize = 16;
const INPUTS: usize = 64;
const HIDDEN: usize = 256;
const OUTPUTS: usize = 16;

type Input = [[f32; INPUTS]; ROWS];
type Output = [[f32; OUTPUTS]; ROWS];

cuda_graph! {
    /// Inference of a batch of requests.
    graph Infer(
        batch: usize,
        w1: device [[f32; INPUTS]; HIDDEN], b1: device [f32; HIDDEN],
        w2: device [[f32; HIDDEN]; OUTPUTS], b2: device [f32; OUTPUTS],
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
    input: Input,
    reply: oneshot::Sender<Output>,
}

/// Answers requests until nobody can send any more. Returns how often each bucket ran; the largest is the first.
async fn serve(mut buckets: Vec<Infer>, mut requests: mpsc::Receiver<Request>) -> graph_runtime::Result<Vec<usize>> {
    let mut runs = vec![0; buckets.len()];
    let mut batch = Vec::new();
    // It takes what has come while the last batch ran.
    while requests.recv_many(&mut batch, 1 << (buckets.len() - 1)).await > 0 {
        let bucket = buckets.len() - 1 - batch.len().next_power_of_two().ilog2() as usize;
        let graph = &mut buckets[bucket];
        for (request, input) in batch.iter().zip(graph.input_mut()?) {
            *input = request.input;
        }
        graph.launch_async()?.await?; // rows of earlier requests, which remain, are computed for nobody
        for (request, output) in batch.drain(..).zip(graph.output()?) {
            let _ = request.reply.send(*output); // a client that has gone needs none
        }
        runs[bucket] += 1;
    }
    Ok(runs)
}

/// Sends requests one after the other, and compares the replies with those of the CPU. Returns the latency of each.
async fn client(requests: mpsc::Sender<Request>, samples: Vec<(Input, Output)>) -> Result<Vec<Duration>, BoxError> {
    let mut latencies = Vec::new();
    for (input, expected) in samples {
        let start = Instant::now();
        let (reply, answer) = oneshot::channel();
        let sent = requests.send(Request { input, reply }).await;
        sent.map_err(|_| "the server has ended")?;
        let output = answer.await?;
        latencies.push(start.elapsed());
        close("reply", output.as_flattened(), expected.as_flattened(), 1e-3)?;
    }
    Ok(latencies)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let device = start(&[Infer::PLAN])?;
    // The largest batch, the clients, and the requests of each.
    let [largest, clients, count]: [usize; 3] = sized(&device, [8, 12, 2], [256, 300, 20]);
    let mut random = random(1);
    let first = Layer::new(&device, &mut random, 1.0 / 8.0)?;
    let second = Layer::new(&device, &mut random, 1.0 / 16.0)?;
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let build = |bucket| Infer::build(&pooled, 1_usize << bucket, &first.w, &first.b, &second.w, &second.b);
    // From the largest on, so that the pool has room for the others.
    let buckets = (0..=largest.ilog2()).rev().map(build);
    let buckets = buckets.collect::<graph_runtime::Result<Vec<_>>>()?;
    println!("{}", pool.memory_report());

    let plain = perceptron(&first, &second)?;
    let mut sample = || {
        let input: Input = [(); ROWS].map(|()| [(); INPUTS].map(|()| random()));
        (input, input.map(|row| plain(&row)))
    };
    let samples: Vec<_> = (0..8).map(|_| sample()).collect();
    let (sender, receiver) = mpsc::channel(largest);
    let server = tokio::spawn(serve(buckets, receiver));
    let mut clients_running = Vec::new();
    for number in 0..clients {
        let samples = samples.iter().cycle().skip(number).take(count).copied().collect();
        clients_running.push(tokio::spawn(client(sender.clone(), samples)));
    }
    drop(sender);
    let mut latencies = Vec::new();
    for client in clients_running {
        latencies.extend(client.await??);
    }
    for (bucket, runs) in server.await??.iter().rev().enumerate() {
        println!("batch {:>3}: {runs} launches", 1 << bucket);
    }
    print_latency("a request", &mut latencies);
    println!("check:   {} replies, all as on the CPU", latencies.len());
    Ok(())
}
