//! A model that people have: Llama-3.2-1B, or another Llama in the layout of Hugging Face, writes a text. One graph has
//! about five kernels a layer with programmatic edges, and its loop over tokens runs on the device.
//!
//! `--model FOLDER` reads `config.json`, `model.safetensors` and `tokenizer.json`, and writes on after `--prompt TEXT`
//! until there are `--tokens NUMBER`. Without it, a tiny model in the same layout is written and read again, and its
//! logits are compared with plain Rust and with PyTorch's (`pytorch/llama.py`); then, on a GPU, one of the size of
//! Llama-3.2-1B with weights by a formula makes tokens as numbers, and `--bench` times one. It runs on the first CUDA
//! device, or on the CPU emulator if there is none.
//!
//! With `--ranks N`, a model is on several GPUs, or on emulated devices where there are not at least two. Each rank has
//! some heads of each layer, some of the numbers between the matrices of the perceptron, and some tokens to score;
//! `all_reduce` adds up what the ranks have made, twice a layer. Their logits and tokens are compared with those of one
//! rank. The tiny model is tried on two ranks in any case. A launcher makes ranks processes: `torchrun
//! --nproc-per-node 2 --no-python llama --ranks 2`.

use examples::bench::{self, Figure};
use examples::compare::{close, largest};
use examples::decoder::follow;
use examples::engine::{self, Config};
use examples::llama::{Decode, LLAMA_1B, RankDecode, Share, Weights, Writer, write_tiny};
use examples::program::{argument, is_small, number, start};
use examples::ranks::on_ranks;
use examples::tensors;
use graph_runtime::{BoxError, Communicator, Device, Result};
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;
use tokenizers::{Encoding, Tokenizer};

/// Texts of a tiny and a large model, and logits after tokens of them, by `examples/pytorch/llama.py --reference`.
const REFERENCE: &[u8] = include_bytes!("../../data/llama.safetensors");
/// The text after which the tiny model writes on.
const PROMPT: &str = "Graph";
/// The longest text of a model from a folder: the cache of keys and values is that long.
const CONTEXT: usize = 4096;
/// The tokens that the large model is given, and those that it makes.
const GIVEN: usize = 32;
const MADE: usize = 128;
/// The logits of the large model that PyTorch has written: every so many.
const EVERY: usize = 512;

fn main() -> Result<(), BoxError> {
    let device = start(&[Decode::PLAN, RankDecode::PLAN])?;
    let ranks = number("--ranks", 1)?;
    if let Some(folder) = argument("--model") {
        let folder = Path::new(&folder);
        let prompt = argument("--prompt").unwrap_or("A graph of kernels is".to_owned());
        let count = number("--tokens", 128)?;
        return match ranks {
            1 => write(&device, None, folder, &prompt, count),
            _ => on_ranks(ranks, |device, world| {
                write(device, Some(world), folder, &prompt, count)
            })
            .map(|_| ()),
        };
    }
    let folder = std::env::temp_dir().join(format!("llama-{}", std::process::id()));
    write_tiny(&folder)?;
    let done = write(&device, None, &folder, PROMPT, 16)
        .and_then(|()| check_tiny(&device, &folder))
        .and_then(|logits| check_tiny_ranks(ranks.max(2), &folder, &logits));
    fs::remove_dir_all(&folder)?;
    done?;
    if is_small(&device) {
        println!("note:    the model of the size of Llama-3.2-1B needs a GPU");
        return Ok(());
    }
    let weights = Weights::from_formula(&device, Config::parse(LLAMA_1B)?, Share::WHOLE)?;
    let mut decode = weights.decode(&device)?;
    check_large(&mut decode, Share::WHOLE)?;
    if bench::is_wanted(&device) {
        measure(&mut decode, "llama bf16", false)?;
    }
    if ranks > 1 {
        check_large_ranks(ranks, &mut decode)?;
    }
    Ok(())
}

/// Loads a model, or the share of a rank.
fn open(device: &Device, world: Option<&Communicator>, folder: &Path) -> Result<(Config, Box<dyn Writer>), BoxError> {
    let share = world.map_or(Share::WHOLE, Share::of);
    let weights = Weights::open(device, folder, CONTEXT, share)?;
    let decode: Box<dyn Writer> = match world {
        None => Box::new(weights.decode(device)?),
        Some(world) => Box::new(weights.decode_on(device, world)?),
    };
    Ok((weights.config, decode))
}

/// Writes on after a prompt until there are `count` tokens, each token as soon as it is chosen. The first rank prints.
fn write(
    device: &Device,
    world: Option<&Communicator>,
    folder: &Path,
    prompt: &str,
    count: usize,
) -> Result<(), BoxError> {
    let tokenizer = tokenizer(folder)?;
    let (config, mut decode) = open(device, world, folder)?;
    let (context, stops) = (config.context, config.stops);
    let encoded = encode(&tokenizer, prompt)?;
    let given = encoded.get_ids();
    if given.is_empty() || given.len() >= context {
        return Err(format!("the prompt has {} tokens, not 1 to {}", given.len(), context - 1).into());
    }
    let end = count.clamp(given.len() + 1, context);
    decode.begin_text(given, end, stops)?;
    if world.is_some_and(|world| world.rank() > 0) {
        decode.launch()?;
        return Ok(decode.synchronize()?);
    }
    let tokens = decode.tokens()?;
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
    let launch = || {
        decode.launch()?; // on the emulator, returns when all is written
        decode.synchronize()
    };
    follow(launch, &tokens, (end - 1, &stops), show)?;
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

/// Writes the text of the reference with the tiny model in one launch. Then it goes through the same text token by
/// token, and returns the logits after each, or those of a rank's tokens.
fn go_through(
    device: &Device,
    world: Option<&Communicator>,
    folder: &Path,
    text: &[u32],
) -> Result<Vec<Vec<f32>>, BoxError> {
    let encoded = encode(&tokenizer(folder)?, PROMPT)?;
    let (config, mut decode) = open(device, world, folder)?;
    decode.begin_text(encoded.get_ids(), text.len(), config.stops)?;
    decode.launch()?;
    let found = decode.written()?;
    if found != text {
        return Err(format!("the tiny model writes {found:?}, not {text:?} as by PyTorch").into());
    }
    let logits = (0..text.len() - 1).map(|place| {
        decode.seek(place, place + 1)?;
        decode.launch()?;
        Ok(decode.scores()?)
    });
    logits.collect()
}

/// Compares the text and the logits of the tiny model with plain Rust and with PyTorch. Returns the logits.
fn check_tiny(device: &Device, folder: &Path) -> Result<Vec<Vec<f32>>, BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "tiny_text", Dtype::U32, None)?;
    let by_pytorch: Vec<f32> = tensors::numbers(&file, "tiny_logits", Dtype::F32, None)?;
    let found = go_through(device, None, folder, &text)?;
    let plain = engine::decode(&engine::Model::open(folder)?, &text, text.len());
    let most = largest(&by_pytorch);
    let mut worst = [0.0_f32; 2];
    let rows = plain.logits.iter().zip(by_pytorch.chunks(found[0].len()));
    for (place, (found, (by_rust, by_pytorch))) in found.iter().zip(rows).enumerate() {
        for (worst, (whose, expected)) in worst
            .iter_mut()
            .zip([("plain Rust", &by_rust[..]), ("PyTorch", by_pytorch)])
        {
            let name = format!("logits after token {place}, as by {whose}");
            *worst = worst.max(close(&name, found, expected, 0.02 * most)?);
        }
    }
    let ([by_rust, by_pytorch], count) = (worst, plain.logits.len());
    println!(
        "check:   the logits after each of {count} tokens; the worst differs by {by_rust:.4} from plain Rust's, by \
         {by_pytorch:.4} from PyTorch's, of {most:.2}"
    );
    Ok(found)
}

/// Compares the tiny model on several ranks with one rank, whose logits these are. Numbers that are added up in another
/// order are rounded to other bf16s here and there.
fn check_tiny_ranks(ranks: usize, folder: &Path, logits: &[Vec<f32>]) -> Result<(), BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "tiny_text", Dtype::U32, None)?;
    let most = largest(&logits.concat());
    let worst = on_ranks(ranks, |device, world| {
        let found = go_through(device, Some(world), folder, &text)?;
        let scored = found[0].len();
        let mut worst = 0.0_f32;
        for (place, (found, whole)) in found.iter().zip(logits).enumerate() {
            let name = format!("logits after token {place} on rank {} of {ranks}", world.rank());
            let expected = &whole[world.rank() * scored..][..scored];
            worst = worst.max(close(&name, found, expected, 0.01 * most)?);
        }
        Ok::<_, BoxError>(worst)
    })?;
    let worst = largest(&worst);
    println!("check:   {ranks} ranks write the same text; the worst logit differs by {worst:.4} of {most:.2}");
    Ok(())
}

/// Compares some logits of the large model with PyTorch's, or those of a rank's tokens.
fn check_large(decode: &mut impl Writer, share: Share) -> Result<(), BoxError> {
    let file = SafeTensors::deserialize(REFERENCE)?;
    let text: Vec<u32> = tensors::numbers(&file, "large_text", Dtype::U32, None)?;
    let expected: Vec<f32> = tensors::numbers(&file, "large_logits", Dtype::F32, None)?;
    decode.begin_text(&text, text.len() + 1, [u32::MAX; 4])?;
    decode.launch()?;
    let logits = decode.scores()?;
    let from = share.rank * logits.len();
    let own = from.div_ceil(EVERY)..(from + logits.len()).div_ceil(EVERY);
    let found: Vec<f32> = own.clone().map(|number| logits[number * EVERY - from]).collect();
    let most = largest(&expected);
    let worst = close("logits as by PyTorch", &found, &expected[own], 0.03 * most)?;
    let whose = match share.ranks {
        1 => String::new(),
        ranks => format!(" on rank {} of {ranks}", share.rank),
    };
    println!(
        "check:   {} logits of the large model{whose} as by PyTorch; the worst differs by {worst:.4} of {most:.2}",
        found.len()
    );
    Ok(())
}

/// Compares a text of the large model on several ranks with that of one rank, `whole`. Where the ranks choose another
/// token, one rank would have chosen it nearly.
fn check_large_ranks(ranks: usize, whole: &mut Decode) -> Result<(), BoxError> {
    let texts = on_ranks(ranks, |device, world| {
        let share = Share::of(world);
        let weights = Weights::from_formula(device, Config::parse(LLAMA_1B)?, share)?;
        let mut decode = weights.decode_on(device, world)?;
        check_large(&mut decode, share)?;
        let text = make(&mut decode)?;
        if bench::is_wanted(device) {
            let row = format!("llama bf16, {ranks} ranks");
            measure(&mut decode, &row, world.rank() > 0)?;
        }
        Ok::<_, BoxError>(text)
    })?;
    let text = &texts[0];
    if texts.iter().any(|other| other != text) {
        return Err("the ranks have made different texts".into());
    }
    let expected = make(whole)?;
    let equal = text.iter().zip(&expected).take_while(|(a, b)| a == b).count();
    if let Some(&token) = text.get(equal) {
        whole.begin_text(&text[..equal], equal + 1, [u32::MAX; 4])?;
        whole.launch()?;
        let logits = whole.scores()?;
        let most = largest(&logits);
        let [chosen, other] = [expected[equal], token].map(|token| logits[token as usize]);
        close(
            "logit of the token that the ranks choose",
            &[other],
            &[chosen],
            0.03 * most,
        )?;
    }
    println!(
        "check:   {ranks} ranks make the first {equal} of {} tokens as one rank does",
        expected.len()
    );
    Ok(())
}

/// Makes tokens after some given ones, and returns the text.
fn make(decode: &mut impl Writer) -> Result<Vec<u32>> {
    let given: Vec<u32> = (1..=GIVEN as u32).collect();
    decode.begin_text(&given, GIVEN + MADE, [u32::MAX; 4])?;
    decode.launch()?;
    decode.written()
}

/// Times tokens after the given ones: a launch for all.
fn measure<W: Writer>(decode: &mut W, row: &str, is_silent: bool) -> Result<()> {
    make(decode)?; // fills the cache
    let figure = Figure::new(row, 10, 1).steps(MADE).silent(is_silent);
    figure.time(decode, W::launch, |decode| decode.seek(GIVEN - 1, GIVEN + MADE - 1))
}
