//! A model server: requests come over a channel, are grouped into batches, and run as the smallest graph that fits.
//!
//! There is one graph for each batch of 1, 2, 4 and so on. All of them share the weights, and a pool with their scratch
//! memory. It runs on the first CUDA device, or on the CPU emulator, with fewer requests, if there is none.

use examples::bench::print_latency;
use examples::compare::close;
use examples::mlp::{Layer, linear, perceptron};
use examples::program::{random, sized, start};
use graph_runtime::{BoxError, Buckets, cuda_graph};
use std::collections::BTreeMap;
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

/// Answers requests until nobody can send any more. Returns how often each bucket ran, by its size.
async fn serve(
    mut buckets: Buckets<Infer>,
    mut requests: mpsc::Receiver<Request>,
) -> graph_runtime::Result<BTreeMap<usize, usize>> {
    let mut runs: BTreeMap<usize, usize> = buckets.graphs().map(|(size, _)| (size, 0)).collect();
    let mut batch = Vec::new();
    // It takes what has come while the last batch ran.
    while requests.recv_many(&mut batch, buckets.largest()).await > 0 {
        let Some((size, graph)) = buckets.fitting(batch.len()) else {
            break; // no more were taken than the largest has room for
        };
        for (request, input) in batch.iter().zip(graph.input_mut()?) {
            *input = request.input;
        }
        graph.launch_async()?.await?; // rows of earlier requests, which remain, are computed for nobody
        for (request, output) in batch.drain(..).zip(graph.output()?) {
            let _ = request.reply.send(*output); // a client that has gone needs none
        }
        *runs.entry(size).or_default() += 1;
    }
    Ok(runs)
}

/// Sends requests one after the other, and compares the replies with those of the CPU. Returns the latency of each.
async fn client(
    requests: mpsc::Sender<Request>,
    samples: impl Iterator<Item = &'static (Input, Output)>,
) -> Result<Vec<Duration>, BoxError> {
    let mut latencies = Vec::new();
    for &(input, ref expected) in samples {
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
    let sizes = (0..=largest.ilog2()).map(|bucket| 1 << bucket);
    let buckets = Buckets::build(&device, sizes, |device, batch| {
        Infer::build(device, batch, &first.w, &first.b, &second.w, &second.b)
    })?;
    println!("{}", buckets.pool().memory_report());

    let plain = perceptron(&first, &second)?;
    let mut sample = || {
        let input: Input = [(); ROWS].map(|()| [(); INPUTS].map(|()| random()));
        (input, input.map(|row| plain(&row)))
    };
    let samples: &[_] = Vec::leak((0..8).map(|_| sample()).collect());
    let (sender, receiver) = mpsc::channel(largest);
    let server = tokio::spawn(serve(buckets, receiver));
    let samples = |number| samples.iter().cycle().skip(number).take(count);
    let clients = (0..clients).map(|number| tokio::spawn(client(sender.clone(), samples(number))));
    let clients: Vec<_> = clients.collect();
    drop(sender);
    let mut latencies = Vec::new();
    for client in clients {
        latencies.extend(client.await??);
    }
    for (batch, runs) in server.await?? {
        println!("batch {batch:>3}: {runs} launches");
    }
    print_latency("a request", &mut latencies);
    println!("check:   {} replies, all as on the CPU", latencies.len());
    Ok(())
}
