//! Inference as a graph: the digits that `train_digits` has learnt, one image at a time.
//!
//! `infer [WEIGHTS.safetensors] [--bench]` tells how long an answer takes, from an image on the host to its logits on
//! the host, by one launch of a graph and by separate calls of the same work on a stream. It runs on the first CUDA
//! device, or on the CPU emulator if there is none.
//!
//! At batch 1 all time is latency: 104 KB of weights are nothing, but each kernel that waits for the one before costs
//! about a microsecond, and each copy several. So all layers are one kernel of one block, which requests all weights
//! before it computes anything (see `kernels/infer.cu`).

use examples::digits::{self, CLASSES, Infer, Layer1, Layer2, Layer3, Model, PIXELS, answer};
use examples::{bench, log};
use graph_runtime::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{Device, cuda_graph};
use std::error::Error;
use std::time::{Duration, Instant};

type R<T> = Result<T, Box<dyn Error>>;

cuda_graph! {
    /// An answer: an image comes from the host, its logits go to the host.
    graph Answer(
        layer1: device Layer1,
        layer2: device Layer2,
        layer3: device Layer3,
    ) {
        host    image:  [[f32; PIXELS]; 1];
        host    logits: [[f32; CLASSES]; 1];
        scratch x:      [[f32; PIXELS]; 1];
        scratch y:      [[f32; CLASSES]; 1];

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
    let check = |what, index: usize, found: &[f32; CLASSES]| {
        let differs = |(found, expected): (&f32, &f32)| (found - expected).abs() > 1e-3;
        match found.iter().zip(&expected[index]).any(differs) {
            true => Err(format!(
                "{what}: the logits of image {index} are {found:?}, expected {:?}",
                expected[index]
            )),
            false => Ok(()),
        }
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

    // One image a launch.
    let mut graph = Answer::build(&device, layer1, layer2, layer3)?;
    let rounds = if device.is_emulator() { 30 } else { 20_000 };
    let mut by_graph = Vec::new();
    for round in 0..rounds {
        let index = round % images.len();
        let start = Instant::now();
        graph.image_mut()?[0] = images[index];
        graph.launch()?;
        let logits = graph.logits()?[0]; // waits
        by_graph.push(start.elapsed());
        check("graph", index, &logits)?;
    }
    println!("latency: graph           {}", percentiles(by_graph));
    if let Some(context) = device.context() {
        let mut by_calls = Vec::new();
        calls(&device, context, &model, &images, rounds, |index, logits, time| {
            by_calls.push(time);
            check("stream", index, logits)
        })?;
        println!("latency: separate calls  {}", percentiles(by_calls));
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

/// The same work as that of [`Answer`], queued call by call. `answered` gets each image's number, logits and time.
fn calls(
    device: &Device,
    context: &std::sync::Arc<CudaContext>,
    model: &Model,
    images: &[[f32; PIXELS]],
    rounds: usize,
    mut answered: impl FnMut(usize, &[f32; CLASSES], Duration) -> Result<(), String>,
) -> R<()> {
    let stream = CudaContext::new_stream(context)?;
    let module = context.load_module(Ptx::from_src(include_str!("../../kernels/infer.ptx")))?;
    let kernel = module.load_function("infer")?;
    let layers = model.read()?.layers().map(|(layer, _)| layer.to_vec());
    let layers = layers.map(|layer| stream.clone_htod(&layer));
    let [layer1, layer2, layer3] = layers;
    let (layer1, layer2, layer3) = (layer1?, layer2?, layer3?);
    let (mut x, mut y) = (stream.alloc_zeros::<f32>(PIXELS)?, stream.alloc_zeros::<f32>(CLASSES)?);
    let (mut image, mut logits) = (
        device.alloc_host::<[f32; PIXELS]>()?,
        device.alloc_host::<[f32; CLASSES]>()?,
    );
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (1024, 1, 1),
        shared_mem_bytes: 0,
    };
    for index in (0..images.len()).cycle().take(rounds) {
        let start = Instant::now();
        *image = images[index];
        stream.memcpy_htod(image.as_slice(), &mut x)?;
        // SAFETY: one row of `x` and of `y`, three whole layers, and a block of 1,024 threads, as the kernel's contract
        // says.
        unsafe {
            stream
                .launch_builder(&kernel)
                .arg(&x)
                .arg(&layer1)
                .arg(&layer2)
                .arg(&layer3)
                .arg(&mut y)
                .launch(config)
        }?;
        stream.memcpy_dtoh(&y, logits.as_mut_slice())?;
        stream.synchronize()?;
        answered(index, &logits, start.elapsed())?;
    }
    Ok(())
}

/// The median and what 90% and 99% of the times are not above, in microseconds.
fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let [p50, p90, p99] = [50, 90, 99].map(|percent| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6);
    format!("p50 {p50:.1} us, p90 {p90:.1} us, p99 {p99:.1} us")
}
