//! Inference as a graph: the digits that `train_digits` has learnt, one image at a time.
//!
//! `infer [WEIGHTS.safetensors] [--bench]` tells how long an answer takes, from an image on the host to its logits on
//! the host: by a graph whose kernel accesses memory of the host, by a graph with copies, and by the same copies and
//! kernel queued one by one. It runs on the first CUDA device, or on the CPU emulator if there is none.
//!
//! At batch 1 all time is latency: 104 KB of weights are nothing, but a kernel that waits for the one before costs half
//! a microsecond or more, and a copy several. So all layers are one kernel of one block, which requests all weights
//! before it computes anything (`kernels/infer.cu`), and the shortest way to it and back has no copies.

use examples::bench::{self, Figure, print_latency};
use examples::compare::close;
use examples::digits::{self, CLASSES, Digit, Infer, Layer1, Layer2, Layer3, Model, PIXELS, answer};
use examples::program::{file_argument, sized, start};
use graph_runtime::{BoxError, MappedHost, Result, cuda_graph};
use std::time::Instant;

type Image = [f32; PIXELS];
type Logits = [f32; CLASSES];

cuda_graph! {
    /// The kernel loads the image from memory of the host, and stores the logits there.
    graph Mapped(layer1: device Layer1, layer2: device Layer2, layer3: device Layer3) {
        mapped image:  [f32; PIXELS];
        mapped logits: [f32; CLASSES];

        kernel infer = digits::infer_mapped<<<1, 1024>>>(&image, &layer1, &layer2, &layer3, &logits);
    }

    /// The image is copied to the device, the logits are copied back.
    graph Copied(layer1: device Layer1, layer2: device Layer2, layer3: device Layer3) {
        host    image:  [Image; 1];
        host    logits: [Logits; 1];
        scratch x:      [Image; 1];
        scratch y:      [Logits; 1];

        memcpy up    = image -> x;
        kernel infer = digits::infer<<<1, 1024>>>(&x, &layer1, &layer2, &layer3, &mut y)  after up;
        memcpy down  = y -> logits                                                       after infer;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Mapped::PLAN, Copied::PLAN])?;
    let model = match file_argument() {
        Some(file) => Model::load(&device, &std::fs::read(file)?)?,
        None => Model::load(&device, include_bytes!("../../data/digits.safetensors"))?,
    };
    let Model { layer1, layer2, layer3 } = &model;
    let (_, tests) = digits::digits()?;
    let images: Vec<_> = tests.iter().map(|test| test.image).collect();
    let weights = model.read()?;
    let expected: Vec<_> = images.iter().map(|image| weights.logits(image)).collect();

    // All images in one launch: a block for each.
    let mut batch = Infer::build(&device, images.len(), layer1, layer2, layer3)?;
    batch.x_mut()?.copy_from(&images)?;
    batch.launch()?;
    let found = batch.logits()?.read_vec()?;
    close("batch", found.as_flattened(), expected.as_flattened(), 1e-3)?;
    let is_right = |(found, test): &(&Logits, &Digit)| answer(found) == test.label as usize;
    let (right, all) = (found.iter().zip(&tests).filter(is_right).count(), tests.len());

    // One image at a time.
    let rounds = sized(&device, 20, 10_000);
    let latency = |name: &str, ask: &mut dyn FnMut(&Image) -> Result<Logits, BoxError>| -> Result<(), BoxError> {
        let mut times = Vec::new();
        for (image, expected) in images.iter().zip(&expected).cycle().take(rounds) {
            let start = Instant::now();
            let logits = ask(image)?;
            times.push(start.elapsed());
            close(name, &logits, expected, 1e-3)?;
        }
        print_latency(name, &mut times);
        Ok(())
    };
    let mut mapped = Mapped::build(&device, layer1, layer2, layer3)?;
    let (image, logits) = (mapped.image()?, mapped.logits()?);
    latency("graph, mapped", &mut |pixels| {
        let mut pixels = pixels.iter().enumerate();
        pixels.try_for_each(|(index, pixel)| image.store(index, *pixel))?;
        (0..CLASSES).try_for_each(|index| logits.store(index, f32::NAN))?; // not there yet
        mapped.launch()?;
        poll(&mapped, &logits)
    })?;
    let mut copied = Copied::build(&device, layer1, layer2, layer3)?;
    latency("graph, copied", &mut |pixels| {
        copied.image_mut()?[0] = *pixels;
        copied.launch()?;
        Ok(copied.logits()?[0]) // waits
    })?;
    if let Some(context) = device.context() {
        latency("separate calls", &mut digits::calls(&device, context, &model)?)?;
    }
    if right * 100 < all * 97 {
        return Err(format!("only {right} of {all} images are told right").into());
    }
    println!("check:   {right} of {all} images told right, all logits as in plain Rust");
    if bench::is_wanted(&device) {
        Figure::new("infer", 40, 500).graph(&mut Infer::build(&device, 1, layer1, layer2, layer3)?)?;
    }
    Ok(())
}

/// Waits for the logits themselves, which takes 2 us less than waiting for the launch to end and reading them then.
fn poll(graph: &Mapped, logits: &MappedHost<f32>) -> Result<Logits, BoxError> {
    const TRIES: usize = 1 << 20;
    for tried in 0..=TRIES {
        if tried == TRIES {
            graph.synchronize()?; // a slow kernel, or an error that says why there is none
        }
        let mut found = [0.0; CLASSES];
        for (index, logit) in found.iter_mut().enumerate() {
            *logit = logits.load(index)?;
        }
        if !found.iter().any(|logit| logit.is_nan()) {
            return Ok(found);
        }
    }
    Err("a logit is no number".into())
}
