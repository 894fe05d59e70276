//! A model that people have: Llama-3.2-1B, or another Llama in the layout of Hugging Face, writes a text. One graph has
//! about five kernels a layer with programmatic edges, and its loop over tokens runs on the device.
//!
//! `--model FOLDER` reads `config.json`, `model.safetensors` and `tokenizer.json`, and writes on after `--prompt TEXT`
//! until there are `--tokens NUMBER`. Without it, a tiny model in the same layout is written and read again, and its
//! logits are compared with plain Rust and with PyTorch's (`pytorch/llama.py`); then, on a GPU, one of the size of
//! Llama-3.2-1B with weights by a formula makes tokens as numbers, and `--bench` times one. It runs on the first CUDA
//! device, or on the CPU emulator if there is none.

use examples::bench::{self, Figure};
use examples::compare::{close, largest};
use examples::decoder::follow;
use examples::engine::{self, Config};
use examples::llama::{Decode, LLAMA_1B, Weights, write_tiny};
use examples::program::{argument, start};
use examples::tensors;
use graph_runtime::{BoxError, Device, Result};
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;
use std::thread;
use std::time::Instant;
use tokenizers::{Encoding, Tokenizer};

/// Texts of a tiny and a large model, and logits after tokens of them, by `examples/pytorch/llama.py --reference`.
const REFERENCE: &[u8] = include_bytes!("../../data/llama.safetensors");
/// The text after which the tiny model writes on.
const PROMPT: &str = "Graph";
/// The longest text of a model from a folder: the cache of keys and values is that long.
const CONTEXT: usize = 4096;

fn main() -> Result<(), BoxError> {
    let device = start(&[Decode::PLAN])?;
    if let Some(folder) = argument("--model") {
        let prompt = argument("--prompt").unwrap_or("A graph of kernels is".to_owned());
        let tokens = argument("--tokens").unwrap_or("128".to_owned());
        let count = tokens
            .parse()
            .map_err(|_| format!("`--tokens {tokens}`: not a number of tokens"))?;
        return write(&device, Path::new(&folder), &prompt, count);
    }
    let folder = std::env::temp_dir().join(format!("llama-{}", std::process::id()));
    write_tiny(&folder)?;
    let done = write(&device, &folder, PROMPT, 16).and_then(|()| check_tiny(&device, &folder));
    fs::remove_dir_all(&folder)?;
    done?;
    if device.is_emulator() {
        println!("note:    the model of the size of Llama-3.2-1B needs a GPU");
        return Ok(());
    }
    let weights = Weights::from_formula(&device, Config::parse(LLAMA_1B)?)?;
    let mut decode = weights.decode(&device)?;
    check_large(&mut decode)?;
    if bench::is_wanted(&device) {
        measure(&mut decode)?;
    }
    Ok(())
}

/// Writes on after a prompt until there are `count` tokens, each token as soon as it is chosen.
fn write(device: &Device, folder: &Path, prompt: &str, count: usize) -> Result<(), BoxError> {
    let tokenizer = tokenizer(folder)?;
    let weights = Weights::open(device, folder, CONTEXT)?;
    let (context, stops) = (weights.config.context, weights.config.stops);
    let mut decode = weights.decode(device)?;
    let encoded = encode(&tokenizer, prompt)?;
    let given = encoded.get_ids();
    if given.is_empty() || given.len() >= context {
        return Err(format!("the prompt has {} tokens, not 1 to {}", given.len(), context - 1).into());
    }
    let end = count.clamp(given.len() + 1, context);
    decode.begin_text(given, end, stops)?;
    let tokens = decode.stream()?;
    let mut words = tokenizer.decode_stream(true);
    let mut show = move |token| {
        if let Ok(Some(word)) = words.step(token) {
            print!("{word}");
            stdout().flush().ok(); // as it comes
        }
    };
    let begun = Instant::now();
    print!("text:    ");
    show(given[0]);
    thread::scope(|scope| {
        // On the emulator, `launch` returns when all is written.
        let reader = scope.spawn(move || follow(&tokens, end - 1, &stops, show));
        decode.launch()?;
        reader.join().map_err(|_| "the reader has failed")??;
        Ok::<_, BoxError>(())
    })?;
    let made = decode.written()?.len();
    let time = begun.elapsed().as_secs_f64() * 1e6 / (made - 1) as f64;
    println!("\ntime:    {made} tokens, {time:.1} us each");
    Ok(())
}

fn tokenizer(folder: &Path) -> Result<Tokenizer, BoxError> {
    let path = folder.join("tokenizer.json");
    Tokenizer::from_file(&path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The tokens of a prompt, with those that the tokenizer begins a text with.
fn encode(tokenizer: &Tokenizer, prompt: &str) -> Result<Encoding, BoxError> {
    let encoded = tokenizer.encode(prompt, true);
    encoded.map_err(|error| format!("the prompt: {error}").into())
}

/// Writes a text with the tiny model in one launch. Then it goes through the same text token by token, and compares the
/// logits after each with plain Rust and with PyTorch.
fn check_tiny(device: &Device, folder: &Path) -> Result<(), BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "tiny_text", Dtype::U32, None)?;
    let by_pytorch: Vec<f32> = tensors::numbers(&file, "tiny_logits", Dtype::F32, None)?;
    let encoded = encode(&tokenizer(folder)?, PROMPT)?;
    let given = encoded.get_ids();

    let weights = Weights::open(device, folder, CONTEXT)?;
    let mut decode = weights.decode(device)?;
    decode.begin_text(given, text.len(), weights.config.stops)?;
    decode.launch()?;
    let found = decode.written()?;
    if found != text {
        return Err(format!("the tiny model writes {found:?}, not {text:?} as by PyTorch").into());
    }

    let plain = engine::decode(&engine::Model::open(folder)?, &text, text.len());
    let most = largest(&by_pytorch);
    let mut worst = [0.0_f32; 2];
    let rows = plain.logits.iter().zip(by_pytorch.chunks(weights.config.vocabulary));
    for (place, (by_rust, by_pytorch)) in rows.enumerate() {
        decode.seek(place, place + 1)?;
        decode.launch()?;
        let found = decode.logits()?.read_vec()?;
        for (worst, (whose, expected)) in worst
            .iter_mut()
            .zip([("plain Rust", &by_rust[..]), ("PyTorch", by_pytorch)])
        {
            let name = format!("logits after token {place}, as by {whose}");
            *worst = worst.max(close(&name, &found, expected, 0.02 * most)?);
        }
    }
    let ([by_rust, by_pytorch], count) = (worst, plain.logits.len());
    println!(
        "check:   the logits after each of {count} tokens; the worst differs by {by_rust:.4} from plain Rust's, by \
         {by_pytorch:.4} from PyTorch's, of {most:.2}"
    );
    Ok(())
}

/// Compares some logits of the large model with PyTorch's.
fn check_large(decode: &mut Decode) -> Result<(), BoxError> {
    const EVERY: usize = 512;
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "large_text", Dtype::U32, None)?;
    let expected: Vec<f32> = tensors::numbers(&file, "large_logits", Dtype::F32, None)?;
    decode.begin_text(&text, text.len() + 1, [u32::MAX; 4])?;
    decode.launch()?;
    let found: Vec<f32> = decode.logits()?.read_vec()?.into_iter().step_by(EVERY).collect();
    let most = largest(&expected);
    let worst = close("logits as by PyTorch", &found, &expected, 0.03 * most)?;
    println!(
        "check:   {} logits of the large model as by PyTorch; the worst differs by {worst:.4} of {most:.2}",
        found.len()
    );
    Ok(())
}

/// Times tokens after 32 given ones: a launch for 128.
fn measure(decode: &mut Decode) -> Result<()> {
    const GIVEN: usize = 32;
    const MADE: usize = 128;
    let given: Vec<u32> = (1..=GIVEN as u32).collect();
    decode.begin_text(&given, GIVEN + MADE, [u32::MAX; 4])?;
    decode.launch()?; // fills the cache
    let figure = Figure::new("llama bf16", 10, 1).steps(MADE);
    figure.time(decode, Decode::launch, |decode| {
        decode.seek(GIVEN - 1, GIVEN + MADE - 1)
    })
}
