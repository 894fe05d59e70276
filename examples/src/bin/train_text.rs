//! Trains a small decoder of characters on this project's own pages, and writes a sentence with it.
//!
//! A step is one graph: the windows of text are drawn on the device, so launches follow each other without the host.
//! Gradients of weights are added atomically, beside the nodes that go on backwards. `train_text FILE` saves the
//! weights: `examples/data/text.safetensors` is made so, on a GPU. It runs on the first CUDA device, or, a few steps of
//! a tiny decoder, on the CPU emulator if there is none.

use examples::decoder::{Model, Sizes, Task, paragraphs, plain_logits};
use examples::log;
use examples::trainer::Train;
use graph_runtime::{AnyGraph, BoxError, Device, DeviceBuffer};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;

/// The text to learn.
const PAGES: [&str; 7] = [
    include_str!("../../../docs/tutorial.md"),
    include_str!("../../../docs/language.md"),
    include_str!("../../../docs/architecture.md"),
    include_str!("../../../docs/diagnostics.md"),
    include_str!("../../../docs/safety.md"),
    include_str!("../../../docs/coming-from.md"),
    include_str!("../../../README.md"),
];

/// The sizes, the texts of a batch, the steps and the rate: for a GPU, and for the emulator.
const LARGE: (Sizes, usize, u32, f32) = (sizes(2, 128, 128), 32, 4000, 2e-3);
const TINY: (Sizes, usize, u32, f32) = (sizes(1, 64, 8), 2, 24, 5e-3);

const fn sizes(layers: usize, width: usize, context: usize) -> Sizes {
    Sizes {
        layers,
        width,
        vocabulary: 128,
        context,
    }
}

fn main() -> Result<(), BoxError> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let (sizes, batch, steps, rate) = if device.is_emulator() { TINY } else { LARGE };
    let characters = paragraphs(&PAGES);
    let text = device.alloc_slice(characters.len())?;
    text.copy_from(&characters)?;
    let weights = device.alloc_slice(sizes.weights())?;
    weights.copy_from(&first_weights(sizes))?;
    let rows = batch * sizes.context;
    let mut train = Train::build(&device, sizes, batch, rows, steps, 1, characters.len(), &text, &weights)?;
    println!(
        "model:   {} weights, {} characters of text",
        sizes.weights(),
        characters.len()
    );

    check_gradients(&mut train, &weights, sizes)?;
    train.reset()?;
    train.set_rate(rate)?;
    let bar = ProgressBar::new(steps.into()).with_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}")?);
    let mut losses = Vec::new();
    for step in 0..steps {
        train.launch()?;
        if step % (steps / 8) == 0 {
            losses.push(*train.loss()?); // waits for the steps so far
            bar.set_message(format!("loss {}", losses[losses.len() - 1]));
        }
        bar.inc(1);
    }
    bar.finish();
    println!("loss:    {losses:?}");
    let model = Model::from_list(&device, sizes, &weights.read_vec()?)?;
    check_loss(&mut train, &model)?;
    let last: f32 = losses.iter().rev().take(3).sum::<f32>() / 3.0;
    if last > 0.9 * losses[0] || last.is_nan() {
        return Err("it has learnt too little".into());
    }
    if let Some(file) = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')) {
        model.save(Path::new(&file))?;
    }
    let mut decode = model.decode(&device, 1)?;
    decode.begin(Task {
        given: &[b'A'.into(), b' '.into()],
        end: sizes.context,
        stop: 0,
        heat: 0.5,
    })?;
    decode.launch()?;
    let written: String = decode.written()?.into_iter().filter_map(char::from_u32).collect();
    println!("text:    {written:?}");
    Ok(())
}

/// Small random weights; gains are 1, biases 0.
fn first_weights(sizes: Sizes) -> Vec<f32> {
    let mut state = 1_u32;
    let mut weights = Vec::new();
    weights.resize_with(sizes.matrix(sizes.layers, 0), || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * 0.04
    });
    for _ in 0..sizes.layers {
        weights.resize(weights.len() + 2 * sizes.width, 1.0);
        weights.resize(weights.len() + 11 * sizes.width, 0.0);
    }
    weights.resize(weights.len() + sizes.width, 1.0);
    weights.resize(weights.len() + sizes.width, 0.0);
    weights
}

/// Compares gradients with differences of the loss, along the gradient of each tensor.
fn check_gradients(train: &mut Train, weights: &DeviceBuffer<[f32]>, sizes: Sizes) -> Result<(), BoxError> {
    let mut loss = |values: &[f32]| {
        weights.copy_from(values)?;
        train.luck().reseed(1)?; // the windows of before
        train.launch()?;
        let gradients = train.gradients()?.read_vec()?;
        Ok::<_, BoxError>((f64::from(*train.loss()?), gradients))
    };
    let values = weights.read_vec()?;
    let (_, gradients) = loss(&values)?;
    let mut worst = 0.0_f64;
    let mut first = 0;
    for length in sizes.lengths() {
        let part = first..first + length;
        let square: f64 = gradients[part.clone()].iter().map(|g| f64::from(*g).powi(2)).sum();
        let step = 0.02 / square;
        let moved = |sign: f64| {
            let mut values = values.clone();
            for (value, gradient) in values[part.clone()].iter_mut().zip(&gradients[part.clone()]) {
                *value += (sign * step * f64::from(*gradient)) as f32;
            }
            values
        };
        let slope = (loss(&moved(1.0))?.0 - loss(&moved(-1.0))?.0) / 0.04;
        worst = worst.max((slope - 1.0).abs());
        first += length;
    }
    weights.copy_from(&values)?;
    if worst > 0.03 || worst.is_nan() {
        return Err(format!("a gradient is wrong by {worst} of it").into());
    }
    println!(
        "check:   gradients of {} tensors as differences of the loss say, to {worst:.4} of them",
        sizes.lengths().len()
    );
    Ok(())
}

/// Compares the loss of the first window's last character with that of plain Rust and rounded weights.
fn check_loss(train: &mut Train, model: &Model) -> Result<(), BoxError> {
    let context = model.sizes.context;
    train.set_rate(0.0)?;
    train.launch()?; // with the weights as they are now
    let found = train.losses()?.read_vec()?[context - 1];
    let ids = train.ids()?.read_vec()?;
    let logits = plain_logits(model, &ids[..context])?;
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    let expected = sum.ln() + most - logits[ids[context] as usize];
    if (found - expected).abs() > 0.05 * (1.0 + expected) {
        return Err(format!("the loss of a character is {found}, in plain Rust {expected}").into());
    }
    println!("check:   the loss of a character is {found:.4}, in plain Rust and bf16 {expected:.4}");
    Ok(())
}
