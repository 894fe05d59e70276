//! Writes text with a decoder whose loop over tokens runs on the device: one launch writes a whole text, and the host
//! reads each token from mapped memory as soon as it is chosen.
//!
//! First a small decoder of characters, which `train_text` has trained, writes sentences. Then, on a GPU, one of the
//! size of GPT-2 with weights by a formula, whose logits PyTorch has computed too; `--bench` times it. It runs on the
//! first CUDA device, or on the CPU emulator if there is none.

use examples::decoder::{Decode, Model, Sizes, Task, follow, plain_logits};
use examples::{bench, log};
use graph_runtime::{BoxError, Device, Result};
use safetensors::SafeTensors;
use std::io::{Write, stdout};
use std::thread;

const TRAINED: &[u8] = include_bytes!("../../data/text.safetensors");
/// 17 tokens and every 16th logit after the 16th of them: `examples/pytorch/generate.py --reference` wrote them.
const REFERENCE: &[u8] = include_bytes!("../../data/generate.safetensors");

fn main() -> Result<(), BoxError> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    write(&device)?;
    if device.is_emulator() {
        println!("note:    the large decoder needs a GPU");
        return Ok(());
    }
    let model = Model::from_formula(&device, Sizes::GPT2)?;
    let mut decode = model.decode(&device, 1)?;
    check_large(&mut decode)?;
    if std::env::args().any(|argument| argument == "--bench") {
        measure(&mut decode)?;
    }
    Ok(())
}

/// Writes two texts with the small decoder, and compares the last logits of each with plain Rust.
fn write(device: &Device) -> Result<(), BoxError> {
    let model = Model::load(device, TRAINED)?;
    let mut decode = model.decode(device, 1)?;
    let end = if device.is_emulator() { 32 } else { model.sizes.context };
    for (prompt, heat) in [("A graph ", 0.0), ("The ", 0.5)] {
        let given: Vec<u32> = prompt.bytes().map(u32::from).collect();
        decode.begin(Task {
            given: &given,
            end,
            stop: 0,
            heat,
        })?;
        let stream = decode.stream()?;
        print!("text:    {}", &prompt[..1]);
        thread::scope(|scope| {
            // On the emulator, `launch` returns when all is written.
            let reader = scope.spawn(|| {
                follow(&stream, end, 0, |token| {
                    print!("{}", char::from_u32(token).unwrap_or('?'));
                    stdout().flush().ok(); // as it comes
                })
            });
            decode.launch()?;
            reader.join().map_err(|_| "the reader has failed")??;
            Ok::<_, BoxError>(())
        })?;
        println!();
        let text = decode.written()?;
        let expected = plain_logits(&model, &text[..text.len() - 1])?;
        compare(&decode.logits()?.read_vec()?, &expected, "plain Rust")?;
    }
    Ok(())
}

/// Compares a logit in 16 with PyTorch's, and the token that they choose.
fn check_large(decode: &mut Decode) -> Result<(), BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let words = |name: &str| {
        let words = file
            .tensor(name)?
            .data()
            .chunks_exact(4)
            .map(|word| [word[0], word[1], word[2], word[3]]);
        Ok::<_, BoxError>(words.map(u32::from_le_bytes).collect::<Vec<_>>())
    };
    let text = words("text")?;
    let given = &text[..text.len() - 1];
    decode.begin(Task {
        given,
        end: given.len(),
        stop: u32::MAX,
        heat: 0.0,
    })?;
    decode.launch()?;
    let expected: Vec<f32> = words("logits")?.into_iter().map(f32::from_bits).collect();
    let found: Vec<f32> = decode.logits()?.read_vec()?.into_iter().step_by(16).collect();
    compare(&found, &expected, "PyTorch in f32")?;
    match decode.written()?.last() == text.last() {
        true => Ok(()),
        false => Err("another token is the likeliest".into()),
    }
}

fn compare(found: &[f32], expected: &[f32], whose: &str) -> Result<(), BoxError> {
    let most = expected.iter().fold(0.0, |most: f32, logit| most.max(logit.abs()));
    let differences = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| (found - expected).abs());
    let worst = differences.fold(0.0, f32::max);
    // Activations may be rounded to bf16.
    if worst > 0.03 * most || worst.is_nan() || found.len() != expected.len() {
        return Err(format!("a logit differs by {worst} from that of {whose}; the largest is {most}").into());
    }
    println!(
        "check:   {} logits as by {whose}; the worst differs by {worst:.5} of {most:.2}",
        found.len()
    );
    Ok(())
}

/// Times tokens in the middle of the context: a launch for all of them, and a launch for each.
fn measure(decode: &mut Decode) -> Result<()> {
    const TOKENS: usize = 128;
    let first = Sizes::GPT2.context / 2 - TOKENS / 2;
    decode.begin(Task {
        given: &vec![1; first + 1],
        end: first,
        stop: u32::MAX,
        heat: 0.0,
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
