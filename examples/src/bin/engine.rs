//! What the author of an inference engine writes: a Llama whose config is read when it runs, weights from files of
//! safetensors, kernels from PTX text, and a graph of a decode step that is declared call by call. The engine has its
//! own allocator, whose blocks graphs adopt.
//!
//! The same step runs in three forms: on memory of graph-runtime's, on the engine's own, and as a graph file that is
//! opened without the code that declared it. Each writes the tokens of plain Rust, and the logits within a
//! ten-thousandth of the largest. Then graphs in flight, and their memory, are dropped in all orders.
//!
//! `--model FOLDER` is a model in f32, f16 or bf16, as Hugging Face's Llamas are; else a tiny one is written, and read
//! again. `--save FOLDER` keeps that, with the graph file, for `pytorch/engine_loaded.py`, which runs it on tensors of
//! PyTorch. `--bench` times a token in each form. It runs on the first CUDA device, or on the CPU emulator if there is
//! none.

use examples::bench::{self, Figure};
use examples::compare::{close, largest};
use examples::engine::{Decoded, Model, Pool, Tensors, build, decode};
use examples::program::{argument, emulator, is_drawing, start};
use graph_runtime::{BoxError, Device, Loaded, Module, Plan, Ptx};
use std::any::Any;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// The text of the kernels. An engine has it from a file, or from a compiler that it calls.
const KERNELS: &str = include_str!("../../kernels/engine.ptx");
/// The tokens that the text begins with.
const GIVEN: [u32; 4] = [1, 72, 105, 33];
/// The tokens that it ends with, with the given ones.
const LEN: usize = 24;

fn main() -> Result<(), BoxError> {
    let device = start(&drawn()?)?;
    if let Some(kept) = argument("--save") {
        return run(&device, Path::new(&kept));
    }
    let temporary = std::env::temp_dir().join(format!("engine-{}", std::process::id()));
    let done = run(&device, &temporary);
    fs::remove_dir_all(temporary)?;
    done
}

/// The graph of the tiny model, if drawings are asked for.
fn drawn() -> Result<Vec<Plan>, BoxError> {
    if !is_drawing() {
        return Ok(Vec::new());
    }
    let (emulator, model) = (emulator(), Model::tiny()?);
    let tensors = Tensors::load(&model, &emulator)?;
    Ok(vec![
        build(&emulator, &kernels(&emulator)?, model.config, &tensors)?.plan(),
    ])
}

/// Runs all forms. `folder` is for the graph file, and for the model if none is given.
fn run(device: &Device, folder: &Path) -> Result<(), BoxError> {
    fs::create_dir_all(folder)?;
    let model = match argument("--model") {
        Some(given) => Model::open(Path::new(&given))?,
        None => {
            Model::write_tiny(folder)?;
            Model::open(folder)?
        }
    };
    let kernels = kernels(device)?;
    let given = GIVEN.map(|token| token % model.config.vocabulary as u32);
    let expected = decode(&model, &given, LEN.min(model.config.context));

    let tensors = Tensors::load(&model, device)?;
    let mut graph = build(device, &kernels, model.config, &tensors)?;
    check("memory of graph-runtime's", &tensors, &expected, || graph.launch())?;

    let pool = Pool::new(device, Tensors::bytes(&model))?;
    let own = Tensors::load(&model, &pool)?;
    let mut adopted = build(device, &kernels, model.config, &own)?;
    check("memory of the engine's own", &own, &expected, || adopted.launch())?;

    let path = folder.join("step.cugraph");
    adopted.plan().save(&path)?;
    let begun = Instant::now();
    let mut loaded = Loaded::open(device, &path)?;
    own.bind(&mut loaded)?;
    own.begin(&given)?;
    loaded.launch()?;
    loaded.synchronize()?;
    println!(
        "time:    {:.1} ms to open the file and for a first launch",
        begun.elapsed().as_secs_f64() * 1e3
    );
    check("a graph file", &own, &expected, || loaded.launch())?;
    own.save(&folder.join("expected.safetensors"), &expected)?;

    if bench::is_wanted(device) {
        let last = model.config.context as u32 - 1; // where a step stays, once it has come there
        for tensors in [&tensors, &own] {
            tensors.get::<u32>("position")?.copy_from(&[last, 0])?;
        }
        Figure::new("engine", 50, 200).graph(&mut graph)?;
        Figure::new("engine adopted", 50, 200).graph(&mut adopted)?;
        Figure::new("engine file", 50, 200).time(&mut loaded, Loaded::launch, |graph| graph.synchronize())?;
    }
    drop((adopted, loaded, own));
    drop_in_all_orders(device, &kernels, &model, &pool, &path)
}

fn kernels(device: &Device) -> Result<Module, BoxError> {
    Ok(device.module(Ptx::from_text("engine.ptx", KERNELS)?)?)
}

/// Writes the text, a launch for each token, and compares it and all logits with plain Rust.
fn check(
    form: &str,
    tensors: &Tensors,
    expected: &Decoded,
    mut step: impl FnMut() -> graph_runtime::Result<()>,
) -> Result<(), BoxError> {
    tensors.begin(&expected.text[..expected.given])?;
    let most = expected.logits.iter().map(|logits| largest(logits)).fold(0.0, f32::max);
    let mut worst = 0.0_f32;
    for (place, expected) in expected.logits.iter().enumerate() {
        step()?;
        let found = tensors.get::<f32>("logits")?.read_vec()?; // waits for the launch
        worst = worst.max(close(
            &format!("{form}, logits after token {place}"),
            &found,
            expected,
            1e-4 * most,
        )?);
    }
    let mut text = tensors.get::<u32>("text")?.read_vec()?;
    text.truncate(expected.text.len());
    if text != expected.text {
        return Err(format!("{form}: the text is {text:?}, not {:?}", expected.text).into());
    }
    println!(
        "check:   {form}: {} tokens as by plain Rust; the worst logit differs by {worst:.1e} of {most:.2}",
        text.len()
    );
    Ok(())
}

/// Drops a graph, a graph of a file and the buffers, while launches are in flight, in each order: the engine's memory
/// comes back when the last of them is gone, and not before.
fn drop_in_all_orders(
    device: &Device,
    kernels: &Module,
    model: &Model,
    pool: &Pool,
    path: &Path,
) -> Result<(), BoxError> {
    for order in 0..6 {
        let tensors = Tensors::load(model, pool)?;
        let all = pool.used();
        let mut graph = build(device, kernels, model.config, &tensors)?;
        let mut loaded = Loaded::open(device, path)?;
        tensors.bind(&mut loaded)?;
        tensors.begin(&[0])?;
        for _ in 0..3 {
            graph.launch()?;
            loaded.launch()?;
        }
        let mut values: Vec<Box<dyn Any>> = vec![Box::new(graph), Box::new(loaded), Box::new(tensors)];
        for number in [order % 3, order / 3, 0] {
            if pool.used() != all {
                return Err(format!(
                    "{} bytes came back while {} values had them",
                    all - pool.used(),
                    values.len()
                )
                .into());
            }
            drop(values.remove(number));
        }
        if pool.used() != 0 {
            return Err(format!("{} bytes did not come back", pool.used()).into());
        }
    }
    println!("check:   the engine's memory came back, whatever was dropped first");
    Ok(())
}
