//! Trains a decoder of characters on this project's own pages, and writes a sentence with it.
//!
//! The decoder has the sizes of nanoGPT's for characters, 10.8 million weights. Products are in bf16 on tensor cores,
//! by kernels with programmatic edges; what learns, by AdamW, is f32. A step is one graph: the windows of text are
//! drawn on the device, so launches follow each other without the host. `--bench` times a step with 8 and with 32
//! texts, as `pytorch/train_text.py` does. `train_text FILE` trains a small decoder instead, and saves its weights:
//! `examples/data/text.safetensors` is made so, on a GPU. It runs on the first CUDA device of compute capability 9.0,
//! or, a few steps of a tiny decoder, on the CPU emulator if there is none.

use examples::bench::{self, Figure};
use examples::compare::{learnt, near};
use examples::decoder::{Model, Sizes, Task, cross_entropy, plain_logits};
use examples::program::{file_argument, progress, sized, start};
use examples::trainer::{Train, Trainer};
use graph_runtime::{BoxError, Device};
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

/// A training: the sizes, the texts of a batch, the steps and the rate.
type Training = (Sizes, usize, u32, f32);

const LARGE: Training = (Sizes::new(6, 384, 128, 256), 32, 500, 1e-3);
/// The one that is saved.
const SMALL: Training = (Sizes::new(2, 128, 128, 128), 32, 4000, 2e-3);
/// For the emulator, and to compare gradients.
const TINY: Training = (Sizes::new(1, 64, 128, 64), 1, 24, 5e-3);

fn main() -> Result<(), BoxError> {
    let device = start(&[Train::PLAN])?;
    let file = file_argument();
    let (sizes, batch, steps, rate) = sized(&device, TINY, if file.is_some() { SMALL } else { LARGE });
    let characters = paragraphs(&PAGES);
    println!(
        "model:   {} weights, {} characters of text",
        sizes.weights(),
        characters.len()
    );
    Trainer::new(&device, TINY.0, TINY.1, TINY.2, &characters)?.check_gradients()?;
    let mut trainer = Trainer::new(&device, sizes, batch, steps, &characters)?;
    trainer.train.set_rate(rate)?;
    let bar = progress(steps)?;
    let mut losses = Vec::new();
    for step in 0..steps {
        trainer.train.launch()?;
        if step % (steps / 8) == 0 {
            losses.push(*trainer.train.loss()?); // waits for the steps so far
            bar.set_message(format!("loss {}", losses[losses.len() - 1]));
        }
        bar.inc(1);
    }
    bar.finish();
    println!("loss:    {losses:?}");
    let model = Model::from_list(&device, sizes, &trainer.weights.read_vec()?)?;
    check_loss(&mut trainer, &model)?;
    let last: f32 = losses.iter().rev().take(3).sum::<f32>() / 3.0;
    learnt(losses[0], last, 0.9)?;
    if let Some(file) = file {
        model.save(Path::new(&file))?;
    }
    let mut decode = model.decode(&device, 1)?;
    decode.begin(Task {
        given: &[b'A'.into(), b' '.into()],
        end: sizes.context.min(128),
        stop: 0,
        heat: 0.5,
    })?;
    decode.launch()?;
    let written: String = decode.written()?.into_iter().filter_map(char::from_u32).collect();
    println!("text:    {written:?}");
    if bench::is_wanted(&device) {
        bench(&device, &characters)?;
    }
    Ok(())
}

/// Times a step of the large decoder, with the two batches.
fn bench(device: &Device, characters: &[u8]) -> Result<(), BoxError> {
    let (sizes, _, steps, rate) = LARGE;
    for (row, batch) in [("train_text bf16, 8 texts", 8), ("train_text bf16, 32 texts", 32)] {
        let mut trainer = Trainer::new(device, sizes, batch, steps, characters)?;
        trainer.train.set_rate(rate)?;
        Figure::new(row, 20, 40).graph(&mut trainer.train)?;
    }
    Ok(())
}

/// Compares the loss of a character of the first window with that of plain Rust and rounded weights.
fn check_loss(trainer: &mut Trainer, model: &Model) -> Result<(), BoxError> {
    let given = model.sizes.context.min(64);
    trainer.train.set_rate(0.0)?;
    trainer.train.launch()?; // with the weights as they are now
    let found = trainer.train.losses()?.read_vec()?[given - 1];
    let ids = trainer.train.ids()?.read_vec()?;
    let expected = cross_entropy(&plain_logits(model, &ids[..given])?, ids[given]) as f32;
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
