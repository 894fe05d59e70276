//! Trains a small convolutional net on handwritten digits, with convolutions of its own and with those of cuDNN, and
//! shows the memory that it takes at each stage, with and without a graph.
//!
//! `train_conv --bench` measures the steps on a GPU. On the emulator, where nothing can be captured, it trains for fewer
//! steps and leaves cuDNN out; so it does on a GPU if cuDNN (`libcudnn`) is not in `LD_LIBRARY_PATH`.

use examples::conv::*;
use examples::cudnn::{self, Convolution};
use examples::memory::{Stages, Table};
use examples::{bench, log};
use graph_runtime::cudarc::driver::CudaContext;
use graph_runtime::{AnyGraph, Device, Result, cuda_graph};
use std::error::Error;
use std::sync::Arc;

/// The size of the steps down the gradient.
const RATE: f32 = 0.1;

cuda_graph! {
    /// A step with convolutions of our own: each kernel also has the bias, ReLU and pooling, or the descent.
    graph Own(
        n: usize,
        steps: usize,
        images: device [[f32; PIXELS]; n],
        labels: device [u32; n],
        x: mut device [[f32; PIXELS]; BATCH],
        y: mut device [u32; BATCH],
        w1: mut device [[f32; 9]; C1],
        b1: mut device [f32; C1],
        w2: mut device [[[f32; 9]; C1]; C2],
        b2: mut device [f32; C2],
        w3: mut device [[f32; FEATURES]; CLASSES],
        b3: mut device [f32; CLASSES],
    ) {
        device  step:   u32;
        device  losses: [f32; steps];
        param   rate:   f32 = RATE;
        scratch h1:     [[[f32; CELLS1]; C1]; BATCH];
        scratch which1: [[[u8; CELLS1]; C1]; BATCH];
        scratch h2:     [[[f32; CELLS2]; C2]; BATCH];
        scratch which2: [[[u8; CELLS2]; C2]; BATCH];
        scratch d:      [[f32; CLASSES]; BATCH];
        scratch dh2:    [[[f32; CELLS2]; C2]; BATCH];
        scratch dh1:    [[[f32; CELLS1]; C1]; BATCH];

        kernel pick     = pick<<<32, 256>>>(&images, &labels, &step, n, &mut x, &mut y);
        kernel first    = conv1<<<(32, 4), 256>>>(&x, &w1, &b1, &mut h1, &mut which1)               after pick;
        kernel second   = conv2<<<(32, 4), 128>>>(&h1, &w2, &b2, &mut h2, &mut which2)              after first;
        kernel last     = head<<<32, 320>>>(&h2, &w3, &b3, &y, &step, &mut d, &mut dh2, &losses, steps)  after second;
        kernel learn3   = linear_descend<<<20, 256>>>(&h2, &d, &mut w3, &mut b3, rate, &mut step)   after last;
        kernel back     = conv2_backward<<<(32, 4), 256>>>(&dh2, &which2, &w2, &h1, &mut dh1)       after last;
        kernel learn2   = conv2_descend<<<(32, 4), 576>>>(&h1, &dh2, &which2, &mut w2, &mut b2, rate)  after back;
        kernel learn1   = conv1_descend<<<16, 512>>>(&x, &dh1, &which1, &mut w1, &mut b1, rate)     after back;
    }

    /// The same step with convolutions of cuDNN, each captured as a node.
    graph Library(
        n: usize,
        steps: usize,
        images: device [[f32; PIXELS]; n],
        labels: device [u32; n],
        x: mut device [[f32; PIXELS]; BATCH],
        y: mut device [u32; BATCH],
        w1: mut device [[f32; 9]; C1],
        b1: mut device [f32; C1],
        w2: mut device [[[f32; 9]; C1]; C2],
        b2: mut device [f32; C2],
        w3: mut device [[f32; FEATURES]; CLASSES],
        b3: mut device [f32; CLASSES],
    ) {
        device  step:   u32;
        device  losses: [f32; steps];
        param   rate:   f32 = RATE;
        scratch h1:     [[[f32; CELLS1]; C1]; BATCH];
        scratch which1: [[[u8; CELLS1]; C1]; BATCH];
        scratch h2:     [[[f32; CELLS2]; C2]; BATCH];
        scratch which2: [[[u8; CELLS2]; C2]; BATCH];
        scratch d:      [[f32; CLASSES]; BATCH];
        scratch dh2:    [[[f32; CELLS2]; C2]; BATCH];
        scratch dh1:    [[[f32; CELLS1]; C1]; BATCH];
        scratch sums1:  [[[f32; PIXELS]; C1]; BATCH];
        scratch sums2:  [[[f32; CELLS1]; C2]; BATCH];
        scratch dsums2: [[[f32; CELLS1]; C2]; BATCH];
        scratch dsums1: [[[f32; PIXELS]; C1]; BATCH];
        scratch dw2:    [[[f32; 9]; C1]; C2];
        scratch dw1:    [[f32; 9]; C1];

        kernel  pick    = pick<<<32, 256>>>(&images, &labels, &step, n, &mut x, &mut y);
        capture filter1 = (&x, &w1, &mut sums1) |stream| FIRST.forward(stream, &x, &w1, &sums1)     after pick;
        kernel  pool1   = pool_2x2<<<128, 256>>>(&sums1, &b1, &mut h1, &mut which1, N1, C1, 8)      after filter1;
        capture filter2 = (&h1, &w2, &mut sums2) |stream| SECOND.forward(stream, &h1, &w2, &sums2)  after pool1;
        kernel  pool2   = pool_2x2<<<64, 256>>>(&sums2, &b2, &mut h2, &mut which2, N2, C2, 4)       after filter2;
        kernel  last    = head<<<32, 320>>>(&h2, &w3, &b3, &y, &step, &mut d, &mut dh2, &losses, steps)  after pool2;
        kernel  learn3  = linear_descend<<<20, 256>>>(&h2, &d, &mut w3, &mut b3, rate, &mut step)   after last;
        kernel  unpool2 = unpool_2x2<<<64, 256>>>(&dh2, &h2, &which2, &mut dsums2, N2, 4)           after last;
        capture back2   = (&w2, &dsums2, &mut dh1) |stream| {
            SECOND.backward_data(stream, &w2, &dsums2, &dh1)
        } after unpool2;
        capture grad2   = (&h1, &dsums2, &mut dw2) |stream| {
            SECOND.backward_filters(stream, &h1, &dsums2, &dw2)
        } after unpool2;
        kernel  learn2  = filters_descend<<<32, 256>>>(&dw2, &dh2, &h2, &mut w2, &mut b2, rate, 144, 16)  after back2, grad2;
        kernel  unpool1 = unpool_2x2<<<128, 256>>>(&dh1, &h1, &which1, &mut dsums1, N1, 8)          after back2;
        capture grad1   = (&x, &dsums1, &mut dw1) |stream| {
            FIRST.backward_filters(stream, &x, &dsums1, &dw1)
        } after unpool1;
        kernel  learn1  = filters_descend<<<16, 256>>>(&dw1, &dh1, &h1, &mut w1, &mut b1, rate, 9, 64)  after grad1;
    }
}

/// The cells of h1 and of h2.
const N1: usize = BATCH * C1 * CELLS1;
const N2: usize = BATCH * C2 * CELLS2;
const FIRST: Convolution = Convolution {
    batch: BATCH,
    inputs: 1,
    outputs: C1,
    side: 16,
};
const SECOND: Convolution = Convolution {
    batch: BATCH,
    inputs: C1,
    outputs: C2,
    side: 8,
};

/// The outcome of a training.
struct Trained {
    memory: Stages,
    /// The weights after one step.
    first: Weights,
    /// The weights after all steps.
    last: Weights,
    /// The loss of each step.
    losses: Vec<f32>,
}

/// Trains with the graph that `build` makes, `steps` steps, and measures a step if there is a `row` for it.
fn train<G: AnyGraph>(
    device: &Device,
    data: &Data,
    steps: usize,
    row: Option<&str>,
    build: impl FnOnce(&Shared) -> Result<G>,
    losses: impl FnOnce(&G) -> Result<Vec<f32>>,
) -> Result<Trained> {
    let mut memory = Stages::new(device);
    let shared = Shared::new(device, data, &mut memory)?;
    let mut graph = build(&shared)?;
    memory.end("graph built", graph.memory_report().own_device());
    graph.launch()?;
    let first = shared.weights()?;
    for step in 2..=steps {
        graph.launch()?; // picks the next images by itself
        if step % (steps / 6) == 0 {
            graph.synchronize()?;
            memory.end(&format!("{step} steps"), 0);
        }
    }
    let (last, losses) = (shared.weights()?, losses(&graph)?);
    if let Some(row) = row {
        println!(
            "{}",
            bench::time(row, 50, 100, &mut graph, G::launch, |graph| graph.synchronize())?
        );
    }
    Ok(Trained {
        memory,
        first,
        last,
        losses,
    })
}

/// Trains with the same kernels, launched one by one.
fn train_without_graph(
    context: &Arc<CudaContext>,
    device: &Device,
    data: &Data,
    steps: usize,
) -> Result<(Stages, Weights), Box<dyn Error>> {
    let mut memory = Stages::new(device);
    let mut eager = Eager::new(context, data, steps, &mut memory)?;
    for step in 1..=steps {
        eager.launch(RATE)?;
        if step % (steps / 6) == 0 {
            eager.wait()?;
            memory.end(&format!("{step} steps"), 0);
        }
    }
    let weights = eager.weights()?;
    Ok((memory, weights))
}

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let data = Data::new();
    let n = data.labels.len();
    let steps = if device.is_emulator() { 12 } else { 300 };
    let bench = std::env::args().any(|argument| argument == "--bench") && !device.is_emulator();

    let own = |s: &Shared| {
        Own::build(
            &device, n, steps, &s.images, &s.labels, &s.x, &s.y, &s.w1, &s.b1, &s.w2, &s.b2, &s.w3, &s.b3,
        )
    };
    let losses = |graph: &Own| graph.losses()?.read_vec();
    let own = train(&device, &data, steps, bench.then_some("train_conv own"), own, losses)?;
    let mut tables = vec![("with a graph", &own.memory)];
    let mut reference = Weights::first();
    let loss = step(&mut reference, &data.images[..BATCH], &data.labels[..BATCH], RATE);
    let difference = own.first.difference(&reference);
    if difference > 1e-5 || (own.losses[0] - loss).abs() > 1e-5 {
        return Err(format!(
            "the first step: weights differ by {difference}, losses are {} and {loss}",
            own.losses[0]
        )
        .into());
    }
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (start, end) = (mean(&own.losses[..steps / 6]), mean(&own.losses[steps - steps / 6..]));
    if end > start {
        return Err(format!("it does not learn: the loss goes from {start} to {end}").into());
    }

    let eager;
    if let Some(context) = device.context() {
        eager = train_without_graph(context, &device, &data, steps)?;
        tables.insert(0, ("without a graph", &eager.0));
        if eager.1 != own.last {
            return Err(format!("without a graph, weights differ by {}", own.last.difference(&eager.1)).into());
        }
    }
    let library;
    if device.is_emulator() || !cudnn::is_present() {
        println!("cudnn:   not used: it needs a CUDA device, and the folder of `libcudnn` in LD_LIBRARY_PATH");
    } else {
        let build = |s: &Shared| {
            Library::build(
                &device, n, steps, &s.images, &s.labels, &s.x, &s.y, &s.w1, &s.b1, &s.w2, &s.b2, &s.w3, &s.b3,
            )
        };
        let losses = |graph: &Library| graph.losses()?.read_vec();
        library = train(
            &device,
            &data,
            steps,
            bench.then_some("train_conv cudnn"),
            build,
            losses,
        )?;
        tables.push(("with cuDNN, in a graph", &library.memory));
        let pairs = own.losses.iter().zip(&library.losses);
        let difference = pairs
            .map(|(own, library)| (own - library).abs() / own)
            .fold(0.0, f32::max);
        println!("cudnn:   losses differ by {difference:e} at most");
        if difference > 1e-2 {
            return Err(format!("with cuDNN, losses differ by {difference}").into());
        }
    }
    println!("{}", Table(&tables));
    for (_, memory) in &tables {
        memory.check_steady()?;
    }
    println!(
        "check:   {steps} steps, the first as in plain Rust; loss {start:.3} to {end:.3}; the memory does not grow"
    );
    Ok(())
}
