//! Inference as a graph: the digits that `train_digits` has learnt, one image at a time.
//!
//! `infer [WEIGHTS.safetensors] [--bench]` tells how long an answer takes, from an image on the host to its logits on
//! the host: by a graph whose kernel accesses memory of the host, by a graph with copies, and by the same copies and
//! kernel queued one by one. It runs on the first CUDA device, or on the CPU emulator if there is none.
//!
//! At batch 1 all time is latency: 104 KB of weights are nothing, but a kernel that waits for the one before costs half
//! a microsecond or more, and a copy several. So all layers are one kernel of one block, which requests all weights
//! before it computes anything (`kernels/infer.cu`), and the shortest way to it and back has no copies.

use examples::digits::{self, CLASSES, Infer, Layer1, Layer2, Layer3, Model, PIXELS, answer};
use examples::{bench, log};
use graph_runtime::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{Device, MappedHost, cuda_graph};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

type R<T> = Result<T, Box<dyn Error>>;
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

fn main() -> R<()> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let model = match file {
        Some(file) => Model::load(&device, &std::fs::read(file)?)?,
        None => Model::load(&device, include_bytes!("../../data/digits.safetensors"))?,
    };
    let Model { layer1, layer2, layer3 } = &model;

    let (_, tests) = digits::digits()?;
    let images: Vec<_> = tests.iter().map(|test| test.image).collect();
    let weights = model.read()?;
    let expected: Vec<_> = images.iter().map(|image| weights.logits(image)).collect();
    let check = |what: &str, index: usize, found: &Logits| {
        let expected = &expected[index];
        let close = |(found, expected): (&f32, &f32)| (found - expected).abs() <= 1e-3;
        if found.iter().zip(expected).all(close) {
            return Ok(());
        }
        Err(format!(
            "{what}: the logits of image {index} are {found:?}, expected {expected:?}"
        ))
    };

    // All images in one launch: a block for each.
    let mut batch = Infer::build(&device, images.len(), layer1, layer2, layer3)?;
    batch.x_mut()?.copy_from(&images)?;
    batch.launch()?;
    let mut right = 0;
    for (index, (logits, test)) in batch.logits()?.read_vec()?.iter().zip(&tests).enumerate() {
        check("batch", index, logits)?;
        right += usize::from(answer(logits) == test.label as usize);
    }

    // One image at a time.
    let rounds = if device.is_emulator() { 20 } else { 10_000 };
    let latency = |what: &str, ask: &mut dyn FnMut(&Image) -> R<Logits>| -> R<()> {
        let mut times = Vec::new();
        for index in (0..images.len()).cycle().take(rounds) {
            let start = Instant::now();
            let logits = ask(&images[index])?;
            times.push(start.elapsed());
            check(what, index, &logits)?;
        }
        times.sort_unstable();
        let [p50, p90, p99] = [50, 90, 99].map(|percent| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6);
        println!("latency: {what:<14} p50 {p50:.1} us, p90 {p90:.1} us, p99 {p99:.1} us");
        Ok(())
    };
    let mut mapped = Mapped::build(&device, layer1, layer2, layer3)?;
    let (image, logits) = (mapped.image()?, mapped.logits()?);
    latency("graph, mapped", &mut |pixels| {
        for (index, pixel) in pixels.iter().enumerate() {
            image.store(index, *pixel)?;
        }
        for index in 0..CLASSES {
            logits.store(index, f32::NAN)?; // not there yet
        }
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
        latency("separate calls", &mut calls(&device, context, &model)?)?;
    }
    if right * 100 < tests.len() * 97 {
        return Err(format!("only {right} of {} images are told right", tests.len()).into());
    }
    println!(
        "check:   {right} of {} images told right, all logits as in plain Rust",
        tests.len()
    );

    if std::env::args().any(|argument| argument == "--bench") {
        let mut one = Infer::build(&device, 1, layer1, layer2, layer3)?;
        println!(
            "{}",
            bench::time("infer", 40, 500, &mut one, |one| one.launch(), |one| one.synchronize())?
        );
    }
    Ok(())
}

/// Waits for the logits themselves, which takes 2 us less than waiting for the launch to end and reading them then.
fn poll(graph: &Mapped, logits: &MappedHost<f32>) -> R<Logits> {
    let mut found = [f32::NAN; CLASSES];
    for (index, logit) in found.iter_mut().enumerate() {
        let mut left = 1 << 20;
        while logit.is_nan() && left > 0 {
            *logit = logits.load(index)?;
            left -= 1;
        }
        if logit.is_nan() {
            graph.synchronize()?; // says why there is none
            return Err("a logit is no number".into());
        }
    }
    Ok(found)
}

/// The work of [`Copied`], queued call by call.
fn calls(device: &Device, context: &Arc<CudaContext>, model: &Model) -> R<impl FnMut(&Image) -> R<Logits> + use<>> {
    let stream = CudaContext::new_stream(context)?;
    let module = context.load_module(Ptx::from_src(include_str!("../../kernels/infer.ptx")))?;
    let kernel = module.load_function("infer")?;
    let [layer1, layer2, layer3] = model.read()?.layers().map(|(layer, _)| stream.clone_htod(&*layer));
    let (layer1, layer2, layer3) = (layer1?, layer2?, layer3?);
    let (mut x, mut y) = (stream.alloc_zeros::<f32>(PIXELS)?, stream.alloc_zeros::<f32>(CLASSES)?);
    let (mut image, mut logits) = (device.alloc_host::<Image>()?, device.alloc_host::<Logits>()?);
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (1024, 1, 1),
        shared_mem_bytes: 0,
    };
    Ok(move |pixels: &Image| {
        *image = *pixels;
        stream.memcpy_htod(image.as_slice(), &mut x)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&x).arg(&layer1).arg(&layer2).arg(&layer3).arg(&mut y);
        // SAFETY: one row of `x` and of `y`, three whole layers, and a block of 1,024 threads, as the kernel's contract
        // says.
        unsafe { launch.launch(config) }?;
        stream.memcpy_dtoh(&y, logits.as_mut_slice())?;
        stream.synchronize()?;
        Ok(*logits)
    })
}
