//! Two graphs that share memory: one trains a perceptron of two layers, the other infers with its weights.
//!
//! It shows `scratch` memory that lives within one launch, a `param` that is changed between launches, memory as build
//! arguments, and a `for` over batches. It runs on the first CUDA device, or on the CPU emulator if there is none.

use examples::log;
use graph_runtime::{Device, DeviceBuffer, Result, cuda_graph, cuda_kernels};

/// Rows of a batch.
const B: usize = 32;
/// Batches that are inferred in one launch.
const BATCHES: usize = 4;
const INPUTS: usize = 16;
const HIDDEN: usize = 64;
const OUTPUTS: usize = 8;

#[cuda_kernels("kernels/mlp.ptx")]
unsafe extern "C" {
    /// `y[r][c] = x[r] . w[c] + b[c]`, not below 0 where `relu`; a block for each row, a thread for each column
    #[requires(grid.x * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= b.len() && grid.x * outputs <= y.len())]
    #[requires(outputs <= block.x)]
    safe fn linear(x: &[f32], w: &[f32], b: &[f32], y: &mut [f32], inputs: u32, outputs: u32, relu: u32);
    /// Adds the mean squared error of `y` to `loss`, and writes its gradient by `y` to `dy`; a thread for each of `n`
    #[requires(n <= threads && n <= y.len() && n <= target.len() && n <= dy.len())]
    safe fn squared_error(y: &[f32], target: &[f32], dy: &mut [f32], loss: &mut f32, n: u32);
    /// `dx[r][k]`: the gradient by the outputs of `linear` and its `relu`; a block for each row, a thread for each
    /// input
    #[requires(grid.x * outputs <= dy.len() && outputs * inputs <= w.len() && grid.x * inputs <= x.len() && grid.x * inputs <= dx.len())]
    #[requires(inputs <= block.x)]
    safe fn gradient(dy: &[f32], w: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32);
    /// `w -= rate * dy^T x`, and `b` likewise; a block for each output, a thread for each input
    #[requires(rows * grid.x <= dy.len() && rows * inputs <= x.len() && grid.x * inputs <= w.len() && grid.x <= b.len())]
    #[requires(inputs <= block.x)]
    safe fn descend(dy: &[f32], x: &[f32], w: &mut [f32], b: &mut [f32], rate: f32, rows: u32, inputs: u32);
}

cuda_graph! {
    /// One step of gradient descent.
    graph Train(
        w1: mut device [[f32; INPUTS]; HIDDEN],
        b1: mut device [f32; HIDDEN],
        w2: mut device [[f32; HIDDEN]; OUTPUTS],
        b2: mut device [f32; OUTPUTS],
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
        w1: device [[f32; INPUTS]; HIDDEN],
        b1: device [f32; HIDDEN],
        w2: device [[f32; HIDDEN]; OUTPUTS],
        b2: device [f32; OUTPUTS],
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

/// The weights, which both graphs hold.
struct Model {
    w1: DeviceBuffer<[[f32; INPUTS]; HIDDEN]>,
    b1: DeviceBuffer<[f32; HIDDEN]>,
    w2: DeviceBuffer<[[f32; HIDDEN]; OUTPUTS]>,
    b2: DeviceBuffer<[f32; OUTPUTS]>,
}

impl Model {
    /// Random weights, no biases.
    fn new(device: &Device, random: &mut impl FnMut() -> f32) -> Result<Self> {
        let model = Self {
            w1: device.alloc()?,
            b1: device.alloc()?,
            w2: device.alloc()?,
            b2: device.alloc()?,
        };
        model
            .w1
            .copy_from(&[(); HIDDEN].map(|()| [(); INPUTS].map(|()| random() / 2.0)))?;
        model
            .w2
            .copy_from(&[(); OUTPUTS].map(|()| [(); HIDDEN].map(|()| random() / 4.0)))?;
        Ok(model)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let mut random = random();
    let model = Model::new(&device, &mut random)?;
    let Model { w1, b1, w2, b2 } = &model;
    let mut train = Train::build(&device, w1, b1, w2, b2)?;
    let mut infer = Infer::build(&device, w1, b1, w2, b2)?;

    let mut losses = Vec::new();
    for step in 0..400 {
        if step == 300 {
            train.set_rate(0.1)?; // the kernels that use it are changed in place
        }
        let batch = train.memory_mut()?;
        for (row, target) in batch.input.iter_mut().zip(batch.target) {
            row.fill_with(&mut random);
            *target = wanted(row);
        }
        train.launch()?;
        losses.push(*train.loss()?);
    }
    println!("loss:    {} at first, {} at last", losses[0], losses[399]);

    for row in infer.inputs_mut()?.as_flattened_mut() {
        row.fill_with(&mut random);
    }
    infer.launch()?; // runs after all training, though on a stream of its own, since the graphs share memory
    check(&infer, &model)?;
    if losses[399] > losses[0] / 4.0 {
        return Err("it has learnt too little".into());
    }
    Ok(())
}

/// The outputs to learn: each is the difference of two inputs.
fn wanted(row: &[f32; INPUTS]) -> [f32; OUTPUTS] {
    std::array::from_fn(|output| row[output] - row[output + OUTPUTS])
}

/// Numbers between -1 and 1, the same in every run.
fn random() -> impl FnMut() -> f32 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Compares the inferred outputs with those that the CPU computes from the same weights.
fn check(infer: &Infer, model: &Model) -> Result<(), Box<dyn std::error::Error>> {
    let (w1, b1, w2, b2) = (model.w1.read()?, model.b1.read()?, model.w2.read()?, model.b2.read()?);
    let layer = |x: &[f32], w: &[f32], b: f32| x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>() + b;
    let (inputs, outputs) = (infer.inputs()?.as_flattened(), infer.outputs()?.as_flattened());
    for (row, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        let hidden: [f32; HIDDEN] = std::array::from_fn(|c| layer(input, &w1[c], b1[c]).max(0.0));
        for (column, found) in output.iter().enumerate() {
            let expected = layer(&hidden, &w2[column], b2[column]);
            if (found - expected).abs() > 1e-4 {
                return Err(format!("output {column} of row {row} is {found}, expected {expected}").into());
            }
        }
    }
    println!(
        "check:   {} rows inferred in one launch, all as on the CPU",
        inputs.len()
    );
    Ok(())
}
