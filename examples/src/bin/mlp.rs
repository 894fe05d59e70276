//! Two graphs that share memory: one trains a perceptron of two layers, the other infers with its weights.
//!
//! It shows `scratch` memory that lives within one launch, a `param` that is changed between launches, memory as build
//! arguments, and a `for` over batches. It runs on the first CUDA device, or on the CPU emulator if there is none.

use examples::compare::{close, learnt};
use examples::mlp::{Layer, descend, gradient, linear, perceptron, squared_error};
use examples::program::{random, start};
use graph_runtime::{BoxError, cuda_graph};

/// Rows of a batch.
const B: usize = 32;
/// Batches that are inferred in one launch.
const BATCHES: usize = 4;
const INPUTS: usize = 16;
const HIDDEN: usize = 64;
const OUTPUTS: usize = 8;

cuda_graph! {
    /// One step of gradient descent.
    graph Train(
        w1: mut device [[f32; INPUTS]; HIDDEN], b1: mut device [f32; HIDDEN],
        w2: mut device [[f32; HIDDEN]; OUTPUTS], b2: mut device [f32; OUTPUTS],
    ) {
        host    input:  [[f32; INPUTS]; B];
        host    target: [[f32; OUTPUTS]; B];
        host    loss:   f32;
        param   rate:   f32 = 0.5;

        scratch x:      [[f32; INPUTS]; B];
        scratch hidden: [[f32; HIDDEN]; B];
        scratch y:      [[f32; OUTPUTS]; B];
        scratch t:      [[f32; OUTPUTS]; B];
        scratch dy:     [[f32; OUTPUTS]; B];
        scratch dh:     [[f32; HIDDEN]; B];
        scratch sum:    f32;

        memcpy upload  = input -> x;
        kernel first   = linear<<<B, HIDDEN>>>(&x, &w1, &b1, &mut hidden, INPUTS as u32, HIDDEN as u32, 1)  after upload;
        kernel second  = linear<<<B, OUTPUTS>>>(&hidden, &w2, &b2, &mut y, HIDDEN as u32, OUTPUTS as u32, 0)  after first;

        memcpy wanted  = target -> t;
        memset clear   = sum <- 0.0;
        kernel error   = squared_error<<<1, B * OUTPUTS>>>(&y, &t, &mut dy, &mut sum, (B * OUTPUTS) as u32)  after second, wanted, clear;
        memcpy report  = sum -> loss  after error;

        kernel back    = gradient<<<B, HIDDEN>>>(&dy, &w2, &hidden, &mut dh, HIDDEN as u32, OUTPUTS as u32)  after error;
        kernel learn2  = descend<<<OUTPUTS, HIDDEN>>>(&dy, &hidden, &mut w2, &mut b2, rate, B as u32, HIDDEN as u32)  after back;
        kernel learn1  = descend<<<HIDDEN, INPUTS>>>(&dh, &x, &mut w1, &mut b1, rate, B as u32, INPUTS as u32)  after back;
    }

    /// Inference with the weights, over several batches, one after the other.
    graph Infer(
        w1: device [[f32; INPUTS]; HIDDEN], b1: device [f32; HIDDEN],
        w2: device [[f32; HIDDEN]; OUTPUTS], b2: device [f32; OUTPUTS],
    ) {
        host    inputs:  [[[f32; INPUTS]; B]; BATCHES];
        host    outputs: [[[f32; OUTPUTS]; B]; BATCHES];
        scratch x:       [[f32; INPUTS]; B];
        scratch hidden:  [[f32; HIDDEN]; B];
        scratch y:       [[f32; OUTPUTS]; B];

        for i in 0..BATCHES {
            memcpy upload   = inputs[i] -> x;
            kernel first    = linear<<<B, HIDDEN>>>(&x, &w1, &b1, &mut hidden, INPUTS as u32, HIDDEN as u32, 1)  after upload;
            kernel second   = linear<<<B, OUTPUTS>>>(&hidden, &w2, &b2, &mut y, HIDDEN as u32, OUTPUTS as u32, 0)  after first;
            memcpy download = y -> outputs[i]  after second;
        }
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Train::PLAN, Infer::PLAN])?;
    let mut random = random(1);
    let first = Layer::new(&device, &mut random, 0.5)?;
    let second = Layer::new(&device, &mut random, 0.25)?;
    let mut train = Train::build(&device, &first.w, &first.b, &second.w, &second.b)?;
    let mut infer = Infer::build(&device, &first.w, &first.b, &second.w, &second.b)?;

    let mut losses = Vec::new();
    for step in 0..400 {
        if step == 300 {
            train.set_rate(0.1)?; // the kernels that use it are changed in place
        }
        let batch = train.memory_mut()?;
        for (row, target) in batch.input.iter_mut().zip(batch.target) {
            row.fill_with(&mut random);
            *target = std::array::from_fn(|output| row[output] - row[output + OUTPUTS]); // to be learnt
        }
        train.launch()?;
        losses.push(*train.loss()?);
    }
    println!("loss:    {} at first, {} at last", losses[0], losses[399]);

    for row in infer.inputs_mut()?.as_flattened_mut() {
        row.fill_with(&mut random);
    }
    infer.launch()?; // runs after all training, though on a stream of its own, since the graphs share memory
    let inputs = infer.inputs()?.as_flattened();
    let expected: Vec<_> = inputs.iter().map(perceptron(&first, &second)?).collect();
    let outputs = infer.outputs()?.as_flattened().as_flattened();
    close("outputs", outputs, expected.as_flattened(), 1e-4)?;
    let rows = inputs.len();
    println!("check:   {rows} rows inferred in one launch, all as on the CPU");
    Ok(learnt(losses[0], losses[399], 0.25)?)
}
