//! Trains a small decoder of characters on this project's own pages, and writes a sentence with it.
//!
//! A step is one graph: the windows of text are drawn on the device, so launches follow each other without the host.
//! Gradients of weights are added atomically, beside the nodes that go on backwards. `train_text FILE` saves the
//! weights: `examples/data/text.safetensors` is made so, on a GPU. It runs on the first CUDA device, or, a few steps of
//! a tiny decoder, on the CPU emulator if there is none.

use examples::compare::{learnt, near};
use examples::decoder::{Model, Sizes, Task, plain_logits};
use examples::program::{file_argument, progress, sized, start};
use examples::trainer::{Train, check_gradients, first_weights};
use graph_runtime::{AnyGraph, BoxError};
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
const LARGE: (Sizes, usize, u32, f32) = (Sizes::new(2, 128, 128, 128), 32, 4000, 2e-3);
const TINY: (Sizes, usize, u32, f32) = (Sizes::new(1, 64, 128, 8), 2, 24, 5e-3);

fn main() -> Result<(), BoxError> {
    let device = start(&[Train::PLAN])?;
    let (sizes, batch, steps, rate) = sized(&device, TINY, LARGE);
    let characters = paragraphs(&PAGES);
    let (count, length) = (sizes.weights(), characters.len());
    println!("model:   {count} weights, {length} characters of text");
    let text = device.alloc_slice(length)?;
    text.copy_from(&characters)?;
    let weights = device.alloc_slice(count)?;
    weights.copy_from(&first_weights(sizes))?;
    let rows = batch * sizes.context;
    let mut train = Train::build(&device, sizes, batch, rows, steps, 1, length, &text, &weights)?;
    check_gradients(&mut train, &weights, sizes)?;
    train.reset()?;
    train.set_rate(rate)?;
    let bar = progress(steps)?;
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
    learnt(losses[0], last, 0.9)?;
    if let Some(file) = file_argument() {
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
    near("loss of a character", &[found], &[expected], |loss| 0.05 * (1.0 + loss))?;
    println!("check:   the loss of a character is {found:.4}, in plain Rust and bf16 {expected:.4}");
    Ok(())
}

/// Returns the paragraphs of Markdown pages, without code and tables, as ASCII; a 0 ends each.
fn paragraphs(pages: &[&str]) -> Vec<u8> {
    let mut characters = Vec::new();
    // Code lies between fences.
    let prose = pages.iter().flat_map(|page| page.split("```").step_by(2));
    for paragraph in prose.flat_map(|prose| prose.split("\n\n")).map(str::trim) {
        if paragraph.len() > 40 && !paragraph.starts_with(['|', '#', '[', '<', '+']) {
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            characters.extend(words.join(" ").bytes().filter(u8::is_ascii));
            characters.push(0);
        }
    }
    characters
}
