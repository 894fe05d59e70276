//! Training on several ranks at once: each learns from its part of the batch, and all keep the same weights.
//!
//! The perceptron of `mlp`, on four ranks. After each layer's step, an `all_reduce` averages its weights over the
//! ranks, beside the step of the layer before: with gradient descent, that is a step by the gradients of the joint
//! batch. Losses and weights are compared with those of one rank that has the whole batch. Another graph broadcasts the
//! first weights, so that all begin alike. The ranks run on the GPUs of this machine if it has several, else on
//! emulated devices.

use examples::compare::{close, learnt};
use examples::mlp::{Layer, descend, gradient, linear, squared_error};
use examples::program::{self, random, start};
use graph_runtime::{BoxError, Communicator, Device, Result, cuda_graph};

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

cuda_graph! {
    /// All ranks begin with the weights of rank 0.
    graph Begin(
        world: &Communicator, w1: mut device [[f32; INPUTS]; HIDDEN], w2: mut device [[f32; HIDDEN]; OUTPUTS],
    ) {
        broadcast first  = w1 from 0 over world;
        broadcast second = w2 from 0 over world  after first;
    }

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
}

/// The weights and losses of a rank.
struct Learnt {
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

/// Trains a rank on its `B` rows of each batch.
fn train<const B: usize>(device: &Device, world: &Communicator) -> Result<Learnt> {
    let mut random = random(world.rank() as u32 + 1); // other weights on each rank, until they are broadcast
    let first = Layer::new(device, &mut random, 0.5)?;
    let second = Layer::new(device, &mut random, 0.25)?;
    Begin::build(device, world, &first.w, &second.w)?.launch()?;
    let mut graph = Train::<B>::build(device, world, &first.w, &first.b, &second.w, &second.b)?;
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let (rows, targets) = batch(step);
        let own = world.rank() * B..(world.rank() + 1) * B;
        let memory = graph.memory_mut()?;
        memory.input.copy_from_slice(&rows[own.clone()]);
        memory.target.copy_from_slice(&targets[own]);
        graph.launch()?;
        losses.push(*graph.loss()?);
    }
    let weights = first.w.read()?.as_flattened().to_vec();
    Ok(Learnt { losses, weights })
}

/// Runs a function on each of so many ranks.
fn on_ranks<T: Send>(ranks: usize, run: impl Fn(&Device, &Communicator) -> Result<T> + Sync) -> Result<Vec<T>> {
    let devices = program::ranks(ranks);
    let worlds = Communicator::local(&devices)?;
    std::thread::scope(|scope| {
        let run = &run;
        let ranks = devices.iter().zip(worlds);
        let threads: Vec<_> = ranks
            .map(|(device, world)| scope.spawn(move || run(device, &world)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("ranks do not panic"))
            .collect()
    })
}

fn main() -> Result<(), BoxError> {
    start(&[Begin::PLAN, Train::<PART>::PLAN])?;
    let parallel = on_ranks(RANKS, train::<PART>)?;
    let joint = on_ranks(1, train::<JOINT>)?.remove(0);
    let losses = &parallel[0].losses;
    println!("loss:    {} at first, {} at last", losses[0], losses[STEPS - 1]);
    for (rank, learnt) in parallel.iter().enumerate() {
        close(&format!("losses of rank {rank}"), &learnt.losses, &joint.losses, 1e-4)?;
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
