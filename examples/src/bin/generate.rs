//! Writes text with a decoder whose loop over tokens runs on the device: one launch writes a whole text, and the host
//! reads each token from mapped memory as soon as it is chosen.
//!
//! First a small decoder of characters, which `train_text` has trained, writes sentences. Then, on a GPU, one of the
//! size of GPT-2 with weights by a formula, whose logits PyTorch has computed too; `--bench` times it. Both graphs are
//! saved as files, opened again, and write the same; `--save FOLDER` keeps the files, for `pytorch/generate_loaded.py`.
//! With `--small`, texts are short, and the large decoder is left out. It runs on the first CUDA device, or on the CPU
//! emulator if there is none.

use examples::bench::{self, Figure};
use examples::compare::{close, largest};
use examples::decoder::{Decode, Model, Sizes, Task, follow, plain_logits};
use examples::program::{argument, is_small, sized, start};
use examples::tensors::{self, Tensor};
use graph_runtime::{AnyGraph, BoxError, Device, Loaded, Result};
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;

const TRAINED: &[u8] = include_bytes!("../../data/text.safetensors");
/// 17 tokens and every 16th logit after the 16th of them: `examples/pytorch/generate.py --reference` wrote them.
const REFERENCE: &[u8] = include_bytes!("../../data/generate.safetensors");

fn main() -> Result<(), BoxError> {
    let device = start(&[Decode::PLAN])?;
    write(&device)?;
    if is_small(&device) {
        println!("note:    the large decoder needs a GPU");
        return Ok(());
    }
    let model = Model::from_formula(&device, Sizes::GPT2)?;
    let mut decode = model.decode(&device, 1)?;
    check_large(&mut decode)?;
    open_again(&device, &model, &mut decode, "large", &[1])?;
    if bench::is_wanted(&device) {
        measure(&mut decode)?;
    }
    Ok(())
}

/// Writes two texts with the small decoder, and compares the last logits of each with plain Rust.
fn write(device: &Device) -> Result<(), BoxError> {
    let model = Model::load(device, TRAINED)?;
    let mut decode = model.decode(device, 1)?;
    let end = sized(device, 32, model.sizes.context);
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
        let launch = || {
            decode.launch()?; // on the emulator, returns when all is written
            decode.synchronize()
        };
        follow(launch, &stream, (end, &[0]), |token| {
            print!("{}", char::from_u32(token).unwrap_or('?'));
            stdout().flush().ok(); // as it comes
        })?;
        println!();
        let text = decode.written()?;
        let expected = plain_logits(&model, &text[..text.len() - 1])?;
        compare(&decode.logits()?.read_vec()?, &expected, "plain Rust")?;
    }
    let given: Vec<u32> = "A graph ".bytes().map(u32::from).collect();
    open_again(device, &model, &mut decode, "small", &given)
}

/// Saves the graph as a file, and writes a text by that: the same.
fn open_again(device: &Device, model: &Model, decode: &mut Decode, name: &str, given: &[u32]) -> Result<(), BoxError> {
    let end = given.len() + 8;
    decode.begin(Task::likeliest(given, end))?;
    let (text, state) = (decode.text()?.read_vec()?, decode.state()?.read()?);
    decode.launch()?;
    let expected = decode.written()?;

    let kept = argument("--save");
    let temporary = std::env::temp_dir().join(format!("generate-{}", std::process::id()));
    let folder = kept.as_ref().map_or(&*temporary, Path::new);
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{name}.cugraph"));
    decode.plan().save(&path)?;
    let begun = Instant::now();
    // SAFETY: the file has just been saved, and its kernels are declared `safe`.
    let mut loaded = unsafe { Loaded::open_trusted(device, &path) }?;
    for (tensor, memory) in model.named() {
        loaded.bind(tensor, memory)?;
    }
    loaded.write("text", &text)?;
    loaded.write("state", &*state)?;
    loaded.launch()?;
    loaded.synchronize()?;
    let time = begun.elapsed().as_secs_f64() * 1e3;
    let found = loaded.read::<u32>("text")?;
    if found[..expected.len()] != expected {
        return Err(format!("the file of the {name} decoder writes {found:?}, not {expected:?}").into());
    }
    println!("time:    {time:.1} ms to open the file of the {name} decoder and for a first launch");
    let floats = |words: &[u32]| words.iter().map(|&word| word as f32).collect();
    let list = [
        Tensor::list("given", floats(given)),
        Tensor::list("text", floats(&expected)),
    ];
    tensors::write(&folder.join(format!("{name}.safetensors")), &list)?;
    if kept.is_none() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Compares a logit in 16 with PyTorch's, and the token that they choose.
fn check_large(decode: &mut Decode) -> Result<(), BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "text", Dtype::U32, None)?;
    let given = &text[..text.len() - 1];
    decode.begin(Task::likeliest(given, given.len()))?;
    decode.launch()?;
    let expected: Vec<f32> = tensors::numbers(&file, "logits", Dtype::F32, None)?;
    let found: Vec<f32> = decode.logits()?.read_vec()?.into_iter().step_by(16).collect();
    compare(&found, &expected, "PyTorch in f32")?;
    match decode.written()?.last() == text.last() {
        true => Ok(()),
        false => Err("another token is the likeliest".into()),
    }
}

/// Compares logits. Activations may be rounded to bf16.
fn compare(found: &[f32], expected: &[f32], whose: &str) -> Result<(), BoxError> {
    let most = largest(expected);
    let worst = close(&format!("logits as by {whose}"), found, expected, 0.03 * most)?;
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
    decode.begin(Task::likeliest(&vec![1; first + 1], first))?;
    decode.launch()?; // fills the cache
    let all = Figure::new("generate bf16", 20, 1).steps(TOKENS);
    all.time(decode, Decode::launch, |decode| decode.seek(first, first + TOKENS))?;
    let each = Figure::new("generate bf16, a launch each", 20, TOKENS);
    each.time(decode, Decode::launch, |decode| decode.seek(first, 0))
}
