//! A decoder of the size of GPT-2 whose loop over tokens runs on the device: one launch writes a text.
//!
//! It runs on the first CUDA device, or, with a smaller decoder, on the CPU emulator if there is none.

use examples::decoder::{Decode, Model, Sizes, Task, plain_logits};
use examples::{bench, log};
use graph_runtime::{Device, Result};
use std::error::Error;

/// The size for the emulator.
const SMALL: Sizes = Sizes {
    layers: 2,
    width: 128,
    vocabulary: 1000,
    context: 64,
};

const TASK: Task<'_> = Task {
    given: &[3, 1, 4, 1, 5],
    end: 16,
    stop: u32::MAX,
    heat: 0.0,
};

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let sizes = if device.is_emulator() { SMALL } else { Sizes::GPT2 };
    let model = Model::from_formula(&device, sizes)?;
    let mut decode = model.decode(&device, 1)?;
    decode.begin(TASK)?;
    decode.launch()?;
    let text = decode.written()?;
    println!("tokens:  {text:?}");
    check(&decode, &model, &text)?;
    if std::env::args().any(|argument| argument == "--bench") {
        measure(&mut decode, sizes)?;
    }
    Ok(())
}

/// Compares the last logits with those of plain Rust.
fn check(decode: &Decode, model: &Model, text: &[u32]) -> Result<(), Box<dyn Error>> {
    let found = decode.logits()?.read_vec()?;
    let expected = plain_logits(model, &text[..text.len() - 1])?;
    let most = expected.iter().fold(0.0, |most: f32, logit| most.max(logit.abs()));
    let differences = found
        .iter()
        .zip(&expected)
        .map(|(found, expected)| (found - expected).abs());
    let worst = differences.fold(0.0, f32::max);
    if worst > 0.01 * most || found.len() != expected.len() {
        return Err(format!("a logit differs by {worst} from that of plain Rust; the largest is {most}").into());
    }
    println!(
        "check:   {} logits as in plain Rust; the worst differs by {worst} of {most}",
        found.len()
    );
    Ok(())
}

/// Times tokens in the middle of the context: a launch for all of them, and a launch for each.
fn measure(decode: &mut Decode, sizes: Sizes) -> Result<()> {
    const TOKENS: usize = 128;
    let first = sizes.context / 2 - TOKENS / 2;
    decode.begin(Task {
        given: &vec![1; first + 1],
        end: first,
        ..TASK
    })?;
    decode.launch()?; // fills the cache
    for (row, launches) in [("generate bf16", 1), ("generate bf16, a launch each", TOKENS)] {
        let end = if launches == 1 { first + TOKENS } else { 0 };
        let launch = |decode: &mut Decode| (0..launches).try_for_each(|_| decode.launch());
        let mut times = bench::time(row, 20, 1, decode, launch, |decode| decode.seek(first, end))?;
        for time in [&mut times.low, &mut times.median, &mut times.high] {
            *time /= TOKENS as f64;
        }
        println!("{times}");
    }
    Ok(())
}
