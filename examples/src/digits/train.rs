//! The graph that trains the perceptron: forwards with dropout, backwards, and a step of Adam.

use super::{CLASSES, Digit, HIDDEN, Layer1, Layer2, Layer3, Model, PIXELS};
use crate::gradients;
use graph_runtime::{AnyGraph as _, Atomic, BoxError, Philox, cuda_graph, cuda_kernels};
use std::ops::Range;

/// Rows of a batch.
pub const B: usize = 64;
/// The share of the hidden numbers that dropout keeps.
const KEEP: f32 = 0.5;
/// The number of numbers of the layers.
const SIZES: [usize; 3] = [
    size_of::<Layer1>() / 4,
    size_of::<Layer2>() / 4,
    size_of::<Layer3>() / 4,
];

/// The weights and the biases of each layer, in the list of all layers. The last layer's other numbers are unused.
const TENSORS: [Range<usize>; 6] = {
    let [first, second, _] = SIZES;
    let last = first + second;
    [
        0..HIDDEN * PIXELS,
        HIDDEN * PIXELS..first,
        first..first + HIDDEN * HIDDEN,
        first + HIDDEN * HIDDEN..last,
        last..last + CLASSES * HIDDEN,
        last + CLASSES * HIDDEN..last + CLASSES * HIDDEN + CLASSES,
    ]
};

#[cuda_kernels("kernels/train_digits.ptx")]
unsafe extern "C" {
    /// `y = relu(x w^T + b)`, then dropout; a block for each 32 rows and 32 outputs
    #[requires(block.x == 256 && grid.y * 32 * inputs <= x.len() && (inputs + 1) * outputs <= layer.len())]
    #[requires(inputs > 0 && outputs > 0 && rng.len() >= 1 && grid.y * 32 * outputs <= y.len())]
    pub safe fn hidden(x: &[f32], layer: &[f32], rng: &[Philox], y: &mut [f32], inputs: u32, outputs: u32, keep: f32);
    /// The last layer, the gradient of the loss by its outputs, and the sum of the losses; a warp for each row
    #[requires(block.x.is_multiple_of(32) && grid.x * block.x <= 32 * x.len() && layer.len() >= 11)]
    #[requires(grid.x * block.x <= 32 * labels.len() && grid.x * block.x <= 32 * dy.len())]
    pub safe fn loss(
        x: &[[f32; 128]],
        layer: &[[f32; 128]],
        labels: &[u32],
        dy: &mut [[f32; 10]],
        loss: &Atomic<f32>,
        rows: u32,
    );
    /// The gradient by `x`, the outputs of a layer with ReLU and dropout, from `dy`, that by the next layer's outputs
    #[requires(block.x == 256 && grid.y * 32 * outputs <= dy.len() && outputs * inputs <= layer.len())]
    #[requires(inputs > 0 && outputs > 0 && grid.y * 32 * inputs <= x.len() && grid.y * 32 * inputs <= dx.len())]
    pub safe fn back(dy: &[f32], layer: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32, keep: f32);
    /// Counts the step, and writes the rate and the factors of Adam's moments; one thread
    #[requires(threads == 1)]
    pub safe fn schedule(step: &mut u32, rates: &mut [f32; 3], peak: f32, warm_up: u32, total: u32);
    /// A step of Adam; a block for each 32 outputs and 32 inputs
    #[requires(block.x == 256 && rows * outputs <= dy.len() && rows * inputs <= x.len() && (inputs + 1) * outputs <= size)]
    #[requires(0 < rows && rows <= 64 && inputs > 0 && outputs > 0 && size <= layer.len() && 2 * size <= moments.len())]
    pub safe fn learn(
        dy: &[f32],
        x: &[f32],
        rates: &[f32; 3],
        layer: &mut [f32],
        moments: &mut [f32],
        rows: u32,
        inputs: u32,
        outputs: u32,
        size: u32,
    );
}

cuda_graph! {
    /// A step of training.
    pub graph Train(seed: u64, layer1: mut device Layer1, layer2: mut device Layer2, layer3: mut device Layer3) {
        host    images:   [[f32; PIXELS]; B];
        host    labels:   [u32; B];
        rng     dropout = seed, draws 4;
        param   rows:     u32 = B as u32;
        param   peak:     f32 = 4e-3;
        param   warm_up:  u32 = 1;
        param   total:    u32 = 1000;

        device  step:     u32;
        device  rates:    [f32; 3];
        device  losses:   f32;
        device  moments1: [Layer1; 2];
        device  moments2: [Layer2; 2];
        device  moments3: [Layer3; 2];
        scratch x:        [[f32; PIXELS]; B];
        scratch wanted:   [u32; B];
        scratch h1:       [[f32; HIDDEN]; B];
        scratch h2:       [[f32; HIDDEN]; B];
        scratch dy:       [[f32; CLASSES]; B];
        scratch dh2:      [[f32; HIDDEN]; B];
        scratch dh1:      [[f32; HIDDEN]; B];

        memcpy up      = images -> x;
        memcpy label   = labels -> wanted;
        kernel first   = hidden<<<(4, 2), 256>>>(&x, &layer1, &dropout, &mut h1, PIXELS, HIDDEN, KEEP)   after up;
        kernel second  = hidden<<<(4, 2), 256>>>(&h1, &layer2, &dropout, &mut h2, HIDDEN, HIDDEN, KEEP)  after first;
        kernel error   = loss<<<B / 8, 256>>>(&h2, &layer3, &wanted, &mut dy, &losses, rows)             after second, label;
        kernel back2   = back<<<(4, 2), 256>>>(&dy, &layer3, &h2, &mut dh2, HIDDEN, CLASSES, KEEP)       after error;
        kernel back1   = back<<<(4, 2), 256>>>(&dh2, &layer2, &h1, &mut dh1, HIDDEN, HIDDEN, KEEP)       after back2;

        kernel count   = schedule<<<1, 1>>>(&mut step, &mut rates, peak, warm_up, total);
        kernel learn3  = learn<<<(4, 1), 256>>>(&dy, &h2, &rates, &mut layer3, &mut moments3, B, HIDDEN, CLASSES, SIZES[2])  after back2, count;
        kernel learn2  = learn<<<(4, 4), 256>>>(&dh2, &h1, &rates, &mut layer2, &mut moments2, B, HIDDEN, HIDDEN, SIZES[1])  after back1, count;
        kernel learn1  = learn<<<(2, 4), 256>>>(&dh1, &x, &rates, &mut layer1, &mut moments1, B, PIXELS, HIDDEN, SIZES[0])   after back1, count;
    }
}

/// Compares the gradients of a new graph with differences of the loss, on the first batch. Adam's first moments are a
/// tenth of the gradients after one step. It leaves the weights as they are, and the graph as it was.
///
/// # Errors
/// If a gradient is wrong, or any error of a launch.
pub fn check_gradients(train: &mut Train, model: &Model, images: &[Digit]) -> Result<(), BoxError> {
    train.reset()?;
    let memory = train.memory_mut()?;
    for ((image, label), digit) in memory.images.iter_mut().zip(memory.labels).zip(images) {
        (*image, *label) = (digit.image, digit.label);
    }
    let loss = |train: &mut Train, weights: &[f32]| {
        model.write(weights)?;
        train.dropout().reseed(7)?;
        train.losses_mut()?.copy_from(&0.0)?;
        train.launch()?;
        Ok::<f64, BoxError>(f64::from(*train.losses()?.read()?) / B as f64)
    };
    let weights = model.read()?.concat();
    loss(train, &weights)?;
    let means = [
        train.moments1()?.read()?[0].as_flattened(),
        train.moments2()?.read()?[0].as_flattened(),
        train.moments3()?.read()?[0].as_flattened(),
    ]
    .concat();
    let gradients: Vec<f32> = means.iter().map(|mean| mean * 10.0).collect();
    gradients::check_gradients(&weights, &gradients, &TENSORS, |weights| loss(train, weights))?;
    model.write(&weights)?;
    train.dropout().reseed(7)?;
    Ok(train.reset()?)
}
