//! Training on several ranks at once: each learns from its part of the batch, and all keep the same weights.
//!
//! The perceptron of `mlp`, on four ranks. After each layer's step, an `all_reduce` averages its weights over the
//! ranks, beside the step of the layer before: with gradient descent, that is a step by the gradients of the joint
//! batch. Losses and weights are compared with those of one rank that has the whole batch. Another graph broadcasts the
//! first weights, so that all begin alike. The ranks run on the GPUs of this machine if it has several, else on
//! emulated devices. A launcher makes them processes: `torchrun --nproc-per-node 2 --no-python train_parallel --model
//! linear`.
//!
//! With `--checkpoint FILE`, rank 0 of `--model perceptron` or `--model text` writes losses, weights and the state of
//! the optimizer to a file of safetensors after every few steps. If a process dies, the others end with an error. All
//! are started again, as `torchrun --max-restarts 3` does: rank 0 reads the file, what it says is broadcast, and the
//! result is that of a training that nobody has disturbed: bit by bit, as far as the decoder's atomic additions of
//! gradients come in the same order.
//!
//! With `--model linear`, the layer of `train_linear`, on two ranks (or `--ranks N`), of which each has 64 samples of
//! its own a step. With `--buckets N`, the outputs are in buckets: while a bucket's weights are averaged, the next one
//! learns. On two H200s, the step is so short that one bucket is fastest. Losses and weights are compared with those of
//! plain Rust on the joint batch. `--bench` times a step, as `pytorch/train_parallel.py` does.
//!
//! With `--model text`, the decoder of `train_text`, in bf16, on two ranks (or `--ranks N`) with texts of their own:
//! the gradients of a layer are averaged while those of others are computed. Losses and weights are compared with those
//! of one rank that has all texts.
//!
//! With `--table`, steps of all models are timed on one rank, and on 2, 4, 8, .. as far as there are GPUs. The last
//! column compares the samples of all ranks with those of as many ranks that each learn alone.

use examples::bench::{self, Figure};
use examples::checkpoint::{self, Begin, File, Piece, Training};
use examples::compare::{close, learnt};
use examples::decoder::Sizes as Decoder;
use examples::linear::{self as layer, BATCH, RATE as STEP_RATE, Sizes, step};
use examples::mlp::{Layer, descend, gradient, linear, squared_error};
use examples::program::{argument, has_argument, number, random, sized, start};
use examples::ranks::{self, on_ranks, on_threads};
use examples::trainer::{self, Trainer};
use graph_runtime::{AnyGraph, BoxError, Communicator, Device, DeviceBuffer, Result, Table, cuda_graph};
use std::path::Path;

/// The number of ranks.
const RANKS: usize = 4;
/// Rows of a rank's part of the batch.
const PART: usize = 16;
/// Rows of the joint batch.
const JOINT: usize = RANKS * PART;
const STEPS: usize = 60;
const INPUTS: usize = 16;
const HIDDEN: usize = 64;
const OUTPUTS: usize = 8;
const RATE: f32 = 0.5;
/// The rate of the decoder, and the steps over which it goes down.
const TEXT_RATE: f32 = 1e-3;
const SCHEDULE: u32 = 1000;
/// The steps between two checkpoints.
const EVERY: usize = 10;

cuda_graph! {
    /// One step of gradient descent on `B` rows of each rank.
    graph Train<const B: usize>(
        world: &Communicator,
        w1: mut device [[f32; INPUTS]; HIDDEN], b1: mut device [f32; HIDDEN],
        w2: mut device [[f32; HIDDEN]; OUTPUTS], b2: mut device [f32; OUTPUTS],
    ) {
        host    input:  [[f32; INPUTS]; B];
        host    target: [[f32; OUTPUTS]; B];
        host    loss:   f32;

        scratch x:      [[f32; INPUTS]; B];
        scratch hidden: [[f32; HIDDEN]; B];
        scratch y:      [[f32; OUTPUTS]; B];
        scratch t:      [[f32; OUTPUTS]; B];
        scratch dy:     [[f32; OUTPUTS]; B];
        scratch dh:     [[f32; HIDDEN]; B];
        scratch sum:    f32;

        memcpy upload = input -> x;
        kernel first  = linear<<<B, HIDDEN>>>(&x, &w1, &b1, &mut hidden, INPUTS as u32, HIDDEN as u32, 1)  after upload;
        kernel second = linear<<<B, OUTPUTS>>>(&hidden, &w2, &b2, &mut y, HIDDEN as u32, OUTPUTS as u32, 0)  after first;

        memcpy wanted = target -> t;
        memset clear  = sum <- 0.0;
        kernel error  = squared_error<<<1, B * OUTPUTS>>>(&y, &t, &mut dy, &mut sum, (B * OUTPUTS) as u32)  after second, wanted, clear;

        kernel back   = gradient<<<B, HIDDEN>>>(&dy, &w2, &hidden, &mut dh, HIDDEN as u32, OUTPUTS as u32)  after error;
        kernel learn2 = descend<<<OUTPUTS, HIDDEN>>>(&dy, &hidden, &mut w2, &mut b2, RATE, B as u32, HIDDEN as u32)  after back;
        kernel learn1 = descend<<<HIDDEN, INPUTS>>>(&dh, &x, &mut w1, &mut b1, RATE, B as u32, INPUTS as u32)  after back;

        // The second layer's weights are exchanged while the first layer learns.
        all_reduce mean_w2 = avg(w2) over world  after learn2;
        all_reduce mean_b2 = avg(b2) over world  after mean_w2;
        all_reduce mean_w1 = avg(w1) over world  after learn1, mean_b2;
        all_reduce mean_b1 = avg(b1) over world  after mean_w1;
        all_reduce mean    = avg(sum) over world  after mean_b1;
        memcpy report = sum -> loss  after mean;
    }

    /// One step of the linear layer on 64 samples of each rank.
    graph Linear(
        s: Buckets, exact: bool, world: &Communicator,
        w: mut device [[f32; s.inputs * s.outputs]; s.count], bias: mut device [[f32; s.outputs]; s.count],
        x: device [f32; BATCH * s.inputs], targets: device [[f32; BATCH * s.outputs]; s.count],
    ) {
        device  counts: [u32; s.count];
        device  loss:   [f32; s.count];
        scratch losses: [[f32; 128]; s.count];

        each b in 0..s.count {
            kernel train = step<<<s.grid, 288, s.shared>>>(
                &x, &targets[b], &mut w[b], &mut bias[b], &mut losses[b], &counts[b], &mut loss[b],
                s.inputs, s.outputs, STEP_RATE, u32::from(exact),
            );
            // The average of weights after a step of each rank is a step by the average of gradients.
            all_reduce mean_w = avg(w[b]) over world  after train, mean_w(b - 1);
        }
        all_reduce mean_bias = avg(bias) over world  after mean_w;
    }
}

/// The linear layer in buckets of outputs: the sizes of one, and of its launch.
#[derive(Clone, Copy, Debug)]
struct Buckets {
    count: usize,
    inputs: usize,
    outputs: usize,
    grid: (u32, u32),
    shared: u32,
}

impl Buckets {
    /// Divides a layer into buckets, `count` of them.
    fn of(s: Sizes, count: usize) -> Self {
        let outputs = s.outputs / count;
        // A column of the grid has 72 outputs at most. Without clusters, it has less to do the more columns there are.
        let columns = (s.grid.1 as usize / count).max(outputs.div_ceil(72)) as u32;
        let (inputs, grid, shared) = (s.inputs, (s.grid.0, columns), s.shared);
        Self {
            count,
            inputs,
            outputs,
            grid,
            shared,
        }
    }

    /// Targets, bucket by bucket.
    fn deal(self, targets: &[f32]) -> Vec<f32> {
        let samples = || targets.chunks_exact(self.count * self.outputs);
        let bucket = |bucket| samples().flat_map(move |row| &row[bucket * self.outputs..][..self.outputs]);
        (0..self.count).flat_map(bucket).copied().collect()
    }
}

/// The weights and losses of a rank.
struct Learnt {
    /// The losses of the last steps alone, if it has begun with a checkpoint of another rank.
    losses: Vec<f32>,
    weights: Vec<f32>,
}

/// The rows of a step, and what is to be learnt from them. The same for all who ask.
fn batch(step: usize) -> (Vec<[f32; INPUTS]>, Vec<[f32; OUTPUTS]>) {
    let mut random = random(step as u32 + 100);
    let rows: Vec<[f32; INPUTS]> = (0..JOINT).map(|_| [(); INPUTS].map(|()| random())).collect();
    let targets = rows
        .iter()
        .map(|row| std::array::from_fn(|output| row[output] - row[output + OUTPUTS]));
    let targets = targets.collect();
    (rows, targets)
}

/// The perceptron of a rank, which has `B` rows of each batch.
struct Perceptron<const B: usize> {
    rank: usize,
    first: Layer<INPUTS, HIDDEN>,
    second: Layer<HIDDEN, OUTPUTS>,
    graph: Train<B>,
}

impl<const B: usize> Perceptron<B> {
    fn new(device: &Device, world: &Communicator) -> Result<Self> {
        let rank = world.rank();
        let mut random = random(rank as u32 + 1); // other weights on each rank, until they are broadcast
        let first = Layer::new(device, &mut random, 0.5)?;
        let second = Layer::new(device, &mut random, 0.25)?;
        let graph = Train::build(device, world, &first.w, &first.b, &second.w, &second.b)?;
        Ok(Self {
            rank,
            first,
            second,
            graph,
        })
    }
}

impl<const B: usize> Training for Perceptron<B> {
    fn name(&self) -> String {
        format!("perceptron of {INPUTS}, {HIDDEN} and {OUTPUTS}, {JOINT} rows a step")
    }

    fn state(&self) -> Result<Vec<Piece>> {
        let ([w1, b1], [w2, b2]) = (self.first.numbers()?, self.second.numbers()?);
        Ok(vec![("w1", w1), ("b1", b1), ("w2", w2), ("b2", b2)])
    }

    fn go_on(&mut self, _: usize, pieces: Vec<Vec<f32>>) -> Result<()> {
        self.first.set(&pieces[0], &pieces[1])?;
        self.second.set(&pieces[2], &pieces[3])
    }

    fn step(&mut self, number: usize) -> Result<f32> {
        let (rows, targets) = batch(number);
        let own = self.rank * B..(self.rank + 1) * B;
        let memory = self.graph.memory_mut()?;
        memory.input.copy_from_slice(&rows[own.clone()]);
        memory.target.copy_from_slice(&targets[own]);
        self.graph.launch()?;
        Ok(*self.graph.loss()?)
    }
}

/// Trains a rank on its `B` rows of each batch, from a checkpoint on if there is one.
fn train<const B: usize>(device: &Device, world: &Communicator, file: Option<File<'_>>) -> Result<Learnt, BoxError> {
    let mut perceptron = Perceptron::<B>::new(device, world)?;
    let losses = checkpoint::train(device, world, &mut perceptron, STEPS, file)?;
    let weights = perceptron.first.w.read()?.as_flattened().to_vec();
    Ok(Learnt { losses, weights })
}

/// The linear layer of a rank: the graph of a step, and the memory that it shares.
struct LinearRank {
    sizes: Sizes,
    buckets: Buckets,
    w: DeviceBuffer<Table<f32, 2>>,
    bias: DeviceBuffer<Table<f32, 2>>,
    x: DeviceBuffer<[f32]>,
    targets: DeviceBuffer<Table<f32, 2>>,
    graph: Linear,
}

impl LinearRank {
    fn new(device: &Device, world: &Communicator, exact: bool) -> Result<Self, BoxError> {
        let sizes = Sizes::of(device)?;
        let buckets = Buckets::of(sizes, number("--buckets", 1)?);
        let w = device.alloc_table([buckets.count, buckets.inputs * buckets.outputs])?;
        let bias = device.alloc_table([buckets.count, buckets.outputs])?;
        let x = device.alloc_slice(BATCH * sizes.inputs)?;
        let targets = device.alloc_table([buckets.count, BATCH * buckets.outputs])?;
        let (first_w, first_bias) = layer::weights(sizes);
        w.copy_from(&first_w)?;
        bias.copy_from(&first_bias)?;
        let graph = Linear::build(device, buckets, exact, world, &w, &bias, &x, &targets)?;
        Ok(Self {
            sizes,
            buckets,
            w,
            bias,
            x,
            targets,
            graph,
        })
    }

    /// Takes a batch.
    fn take(&self, number: usize) -> Result<(), BoxError> {
        let batch = layer::batch(self.sizes, number);
        let (inputs, wanted) = batch.split_at(BATCH * self.sizes.inputs);
        self.x.copy_from(inputs)?;
        Ok(self.targets.copy_from(&self.buckets.deal(wanted))?)
    }
}

/// Trains a rank on 64 samples of each batch. The losses are those of its own samples, and biases follow the weights.
fn train_linear(device: &Device, world: &Communicator, exact: bool, steps: usize) -> Result<Learnt, BoxError> {
    let mut linear = LinearRank::new(device, world, exact)?;
    let mut losses = Vec::new();
    for number in 0..steps {
        linear.take(world.size() * number + world.rank())?;
        linear.graph.launch()?;
        losses.push(linear.graph.loss()?.read_vec()?.iter().sum());
    }
    let weights = [linear.w.read_vec()?, linear.bias.read_vec()?].concat();
    if bench::is_wanted(device) {
        let row = format!("train_parallel linear {}", if exact { "f32" } else { "tf32" });
        let figure = Figure::new(&row, 25, 200).silent(world.rank() > 0);
        figure.time(&mut linear.graph, Linear::launch, |graph| graph.synchronize())?;
    }
    Ok(Learnt { losses, weights })
}

/// Compares the linear layer on several ranks with plain Rust on the joint batch.
fn compare_linear() -> Result<(), BoxError> {
    let ranks = number("--ranks", 2)?;
    let device = &ranks::devices(1)[0];
    let s = Sizes::of(device)?;
    let steps = sized(device, s.batches / ranks, 4);
    let joint = layer::learn(s, ranks, steps);
    let expected = [joint.w, joint.bias].concat();
    for (name, exact, tolerance) in [("f32", true, 1e-3), ("tf32", false, 2e-2)] {
        let parallel = on_ranks(ranks, |device, world| train_linear(device, world, exact, steps))?;
        let weights = &parallel[0].weights;
        let compare_weights = || close(&format!("{name}: weights"), weights, &expected, tolerance * 1e-1);
        if parallel.len() < ranks {
            // The other ranks are other processes.
            compare_weights()?;
            println!("check:   {name}: the weights of {ranks} processes are as in plain Rust");
            continue;
        }
        let all = |step| parallel.iter().map(|learnt| learnt.losses[step]).sum();
        let losses: Vec<f32> = (0..steps).map(all).collect();
        layer::check(&format!("{name}, {ranks} ranks"), &losses, &joint.losses, tolerance)?;
        compare_weights()?;
        for (rank, learnt) in parallel.iter().enumerate() {
            if learnt.weights != *weights {
                return Err(format!("{name}: rank {rank} has other weights than rank 0").into());
            }
        }
    }
    Ok(())
}

/// Compares the perceptron on several ranks with one rank that has all rows.
fn compare_perceptrons() -> Result<(), BoxError> {
    let path = argument("--checkpoint");
    let file = checkpoint_file(path.as_deref(), EVERY);
    let parallel = on_ranks(RANKS, |device, world| train::<PART>(device, world, file))?;
    let joint = on_threads(1, |device, world| train::<JOINT>(device, world, None))?.remove(0);
    let losses = &joint.losses;
    println!("loss:    {} at first, {} at last", losses[0], losses[STEPS - 1]);
    for (rank, learnt) in parallel.iter().enumerate() {
        let expected = &joint.losses[STEPS - learnt.losses.len()..];
        close(&format!("losses of rank {rank}"), &learnt.losses, expected, 1e-4)?;
        close(
            &format!("weights of rank {rank}"),
            &learnt.weights,
            &joint.weights,
            1e-3,
        )?;
    }
    println!("check:   {RANKS} ranks have learnt what one has that got all rows");
    Ok(learnt(losses[0], losses[STEPS - 1], 0.5)?)
}

/// The file of the argument `--checkpoint`, which is written after every `every` steps.
fn checkpoint_file(path: Option<&str>, every: usize) -> Option<File<'_>> {
    path.map(|path| File {
        path: Path::new(path),
        every,
    })
}

/// The decoder of `train_text` on a rank.
struct Text {
    trainer: Trainer,
    /// The texts of a step, of all ranks together.
    texts: usize,
}

impl Text {
    /// The decoder of a rank with so many texts of its own in a step.
    fn new(device: &Device, world: &Communicator, texts: usize) -> Result<Self> {
        let sizes = sized(device, Decoder::new(1, 64, 128, 64), Decoder::new(6, 384, 128, 256));
        let characters: Vec<u8> = include_bytes!("../../../docs/language.md")
            .iter()
            .copied()
            .filter(u8::is_ascii)
            .collect();
        let mut trainer = Trainer::of_rank(device, world, sizes, texts, SCHEDULE, &characters)?;
        trainer.train.set_rate(TEXT_RATE)?;
        let texts = texts * world.size();
        Ok(Self { trainer, texts })
    }
}

impl Training for Text {
    fn name(&self) -> String {
        let (sizes, texts) = (self.trainer.sizes, self.texts);
        format!("decoder of {sizes:?}, {texts} texts a step, rate {TEXT_RATE} for {SCHEDULE} steps")
    }

    fn state(&self) -> Result<Vec<Piece>> {
        let Trainer { train, weights, .. } = &self.trainer;
        Ok(vec![
            ("weights", weights.read_vec()?),
            ("means", train.means()?.read_vec()?),
            ("squares", train.squares()?.read_vec()?),
        ])
    }

    fn go_on(&mut self, steps: usize, pieces: Vec<Vec<f32>>) -> Result<()> {
        self.trainer.go_on(steps as u32, &pieces[0], &pieces[1], &pieces[2])
    }

    fn step(&mut self, _: usize) -> Result<f32> {
        self.trainer.train.launch()?;
        Ok(*self.trainer.train.loss()?)
    }
}

fn train_text(
    device: &Device,
    world: &Communicator,
    texts: usize,
    steps: usize,
    file: Option<File<'_>>,
) -> Result<Learnt, BoxError> {
    let mut text = Text::new(device, world, texts)?;
    let losses = checkpoint::train(device, world, &mut text, steps, file)?;
    let weights = text.trainer.weights.read_vec()?;
    if world.size() > 1 && bench::is_wanted(device) {
        let figure = Figure::new("train_parallel text", 25, 40).silent(world.rank() > 0);
        let launch = trainer::Train::launch;
        figure.time(&mut text.trainer.train, launch, |graph| graph.synchronize())?;
    }
    Ok(Learnt { losses, weights })
}

/// Compares the decoder on several ranks with one rank that has all texts.
fn compare_text() -> Result<(), BoxError> {
    let ranks = number("--ranks", 2)?;
    let (texts, steps, every) = sized(&ranks::devices(1)[0], (1, 6, 2), (8, 100, 20));
    let path = argument("--checkpoint");
    let file = checkpoint_file(path.as_deref(), every);
    let parallel = on_ranks(ranks, |device, world| train_text(device, world, texts, steps, file))?;
    let joint = on_threads(1, |device, world| train_text(device, world, ranks * texts, steps, None))?.remove(0);
    for (rank, learnt) in parallel.iter().enumerate() {
        if learnt.weights != parallel[0].weights {
            return Err(format!("text: rank {rank} has other weights than rank 0").into());
        }
    }
    // AdamW makes steps of the rate's size of the smallest gradients, so weights are close in the mean only.
    let differences = parallel[0]
        .weights
        .iter()
        .zip(&joint.weights)
        .map(|(found, expected)| (found - expected).abs());
    let difference = differences.sum::<f32>() / joint.weights.len() as f32;
    if difference > 1e-4 {
        return Err(format!("text: weights differ by {difference} in the mean from those of one rank").into());
    }
    if parallel.len() == ranks {
        // Ranks other than 0 do not know the losses before the checkpoint.
        let known = parallel.iter().map(|learnt| learnt.losses.len()).min().unwrap_or(0);
        let loss = |learnt: &Learnt, back: usize| learnt.losses[learnt.losses.len() - back];
        let mean = |back| parallel.iter().map(|learnt| loss(learnt, back)).sum::<f32>() / ranks as f32;
        let losses: Vec<f32> = (1..=known).rev().map(mean).collect();
        close("text: losses", &losses, &joint.losses[steps - known..], 2e-2)?;
    }
    println!("check:   text: {ranks} ranks have learnt what one has that got all texts");
    Ok(())
}

/// Times steps on one rank, and on 2, 4, 8, .. if there are as many GPUs; on two in any case.
fn table() -> Result<(), BoxError> {
    let gpus = (0..).map_while(|ordinal| Device::cuda(ordinal).ok()).count();
    println!("| model | samples of a rank | ranks | us a step | samples a ms | of ranks that learn alone |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let rows: [(&str, usize, Timed); 7] = [
        ("perceptron", 16, time_perceptron::<16>),
        ("perceptron", 64, time_perceptron::<64>),
        ("perceptron", 128, time_perceptron::<128>),
        ("linear, f32", BATCH, |device, world| time_linear(device, world, true)),
        ("linear, tf32", BATCH, |device, world| time_linear(device, world, false)),
        ("text, bf16", 8, |device, world| time_text(device, world, 8)),
        ("text, bf16", 32, |device, world| time_text(device, world, 32)),
    ];
    for (model, samples, time) in rows {
        let mut alone = f64::NAN;
        for ranks in (0..).map(|power| 1 << power).take_while(|&ranks| ranks <= gpus.max(2)) {
            let times = on_threads(ranks, time)?;
            let time = times.into_iter().fold(0.0, f64::max);
            let rate = (ranks * samples) as f64 * 1e3 / time;
            alone = if ranks == 1 { rate } else { alone };
            let share = 100.0 * rate / (alone * ranks as f64);
            println!("| {model} | {samples} | {ranks} | {time:.1} | {rate:.0} | {share:.0}% |");
        }
    }
    Ok(())
}

/// The time of a step of a rank, in microseconds.
type Timed = fn(&Device, &Communicator) -> Result<f64, BoxError>;

/// A median of rounds; there are few of them on the emulator, which shows that the table is made.
fn figure(device: &Device) -> Figure<'static> {
    Figure::new("", sized(device, 1, 25), sized(device, 1, 200))
}

fn time_perceptron<const B: usize>(device: &Device, world: &Communicator) -> Result<f64, BoxError> {
    let mut graph = Perceptron::<B>::new(device, world)?.graph;
    Ok(figure(device).median(&mut graph, Train::launch, |graph| graph.synchronize())?)
}

fn time_linear(device: &Device, world: &Communicator, exact: bool) -> Result<f64, BoxError> {
    let mut linear = LinearRank::new(device, world, exact)?;
    linear.take(world.rank())?;
    Ok(figure(device).median(&mut linear.graph, Linear::launch, |graph| graph.synchronize())?)
}

fn time_text(device: &Device, world: &Communicator, texts: usize) -> Result<f64, BoxError> {
    let mut graph = Text::new(device, world, sized(device, 1, texts))?.trainer.train;
    Ok(figure(device).median(&mut graph, trainer::Train::launch, |graph| graph.synchronize())?)
}

fn main() -> Result<(), BoxError> {
    start(&[Begin::PLAN, Train::<PART>::PLAN, Linear::PLAN, trainer::Train::PLAN])?;
    if has_argument("--table") {
        return table();
    }
    let model = argument("--model");
    if has_argument("--checkpoint") && !matches!(model.as_deref(), Some("perceptron" | "text")) {
        return Err("`--checkpoint FILE` needs `--model perceptron` or `--model text`".into());
    }
    match model.as_deref() {
        Some("linear") => compare_linear(),
        Some("text") => compare_text(),
        Some("perceptron") => compare_perceptrons(),
        None => compare_perceptrons()
            .and_then(|()| compare_linear())
            .and_then(|()| compare_text()),
        Some(other) => Err(format!("unknown model `{other}`: there are `perceptron`, `linear` and `text`").into()),
    }
}
