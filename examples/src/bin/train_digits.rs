//! Training as a graph: a perceptron learns handwritten digits by Adam, with dropout, a warm-up and a cosine schedule.
//!
//! `train_digits [--epochs N] [--out FOLDER] [--weights FILE] [--bench]` writes the weights as safetensors, and the
//! loss curve and the confusion matrix as SVG. It runs on the first CUDA device, or on the CPU emulator, for fewer
//! epochs, if there is none.
//!
//! **The trap.** A recorded step repeats the arguments that its kernels were recorded with: an optimizer that computes
//! its rate and the number of the step on the host stays at step 1 and the first rate, silently. Here a value is either
//! a `param`, which `set_x` changes in the graph, or memory. The number of the step is memory, which the graph counts
//! up, and the schedule is a kernel that reads it. The program compares both with plain Rust after each epoch.
//!
//! **The last batch.** 1,437 images are 22 batches of 64 and a rest of 29. All kernels always compute 64 rows, but the
//! loss takes the `param` `rows`: it gives no gradient to the rows after it. `set_rows` changes one node, twice in an
//! epoch. A graph for each length would pay only where batches differ much (see `server`).

use examples::bench::{self, Figure};
use examples::charts;
use examples::digits::{CLASSES, Digit, HIDDEN, Layer1, Layer2, Layer3, Model, PIXELS, check_rates, digits, shuffle};
use examples::program::{argument, progress, random, start};
use graph_runtime::{Atomic, BoxError, Philox, cuda_graph, cuda_kernels};
use std::path::PathBuf;

/// Rows of a batch.
const B: usize = 64;
/// The share of the hidden numbers that dropout keeps.
const KEEP: f32 = 0.5;
/// The number of numbers of the layers.
const SIZES: [usize; 3] = [
    size_of::<Layer1>() / 4,
    size_of::<Layer2>() / 4,
    size_of::<Layer3>() / 4,
];

#[cuda_kernels("kernels/train_digits.ptx")]
unsafe extern "C" {
    /// `y = relu(x w^T + b)`, then dropout; a block for each 32 rows and 32 outputs
    #[requires(block.x == 256 && grid.y * 32 * inputs <= x.len() && (inputs + 1) * outputs <= layer.len())]
    #[requires(inputs > 0 && outputs > 0 && rng.len() >= 1 && grid.y * 32 * outputs <= y.len())]
    safe fn hidden(x: &[f32], layer: &[f32], rng: &[Philox], y: &mut [f32], inputs: u32, outputs: u32, keep: f32);
    /// The last layer, the gradient of the loss by its outputs, and the sum of the losses; a warp for each row
    #[requires(block.x.is_multiple_of(32) && grid.x * block.x <= 32 * x.len() && layer.len() >= 11)]
    #[requires(grid.x * block.x <= 32 * labels.len() && grid.x * block.x <= 32 * dy.len())]
    safe fn loss(
        x: &[[f32; 128]],
        layer: &[[f32; 128]],
        labels: &[u32],
        dy: &mut [[f32; 10]],
        loss: &Atomic<f32>,
        rows: u32,
    );
    /// The gradient by `x`, the outputs of a layer with ReLU and dropout, from `dy`, that by the next layer's outputs
    #[requires(block.x == 256 && grid.y * 32 * outputs <= dy.len() && outputs * inputs <= layer.len())]
    #[requires(inputs > 0 && outputs > 0 && grid.y * 32 * inputs <= x.len() && grid.y * 32 * inputs <= dx.len())]
    safe fn back(dy: &[f32], layer: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32, keep: f32);
    /// Counts the step, and writes the rate and the factors of Adam's moments; one thread
    #[requires(threads == 1)]
    safe fn schedule(step: &mut u32, rates: &mut [f32; 3], peak: f32, warm_up: u32, total: u32);
    /// A step of Adam; a block for each 32 outputs and 32 inputs
    #[requires(block.x == 256 && rows * outputs <= dy.len() && rows * inputs <= x.len() && (inputs + 1) * outputs <= size)]
    #[requires(0 < rows && rows <= 64 && inputs > 0 && outputs > 0 && size <= layer.len() && 2 * size <= moments.len())]
    safe fn learn(
        dy: &[f32],
        x: &[f32],
        rates: &[f32; 3],
        layer: &mut [f32],
        moments: &mut [f32],
        rows: u32,
        inputs: u32,
        outputs: u32,
        size: u32,
    );
}

cuda_graph! {
    /// A step of training.
    graph Train(
        seed: u64,
        layer1: mut device Layer1,
        layer2: mut device Layer2,
        layer3: mut device Layer3,
    ) {
        host    images:   [[f32; PIXELS]; B];
        host    labels:   [u32; B];
        rng     dropout = seed, draws 4;
        param   rows:     u32 = B as u32;
        param   peak:     f32 = 4e-3;
        param   warm_up:  u32 = 1;
        param   total:    u32 = 1000;

        device  step:     u32;
        device  rates:    [f32; 3];
        device  losses:   f32;
        device  moments1: [Layer1; 2];
        device  moments2: [Layer2; 2];
        device  moments3: [Layer3; 2];
        scratch x:        [[f32; PIXELS]; B];
        scratch wanted:   [u32; B];
        scratch h1:       [[f32; HIDDEN]; B];
        scratch h2:       [[f32; HIDDEN]; B];
        scratch dy:       [[f32; CLASSES]; B];
        scratch dh2:      [[f32; HIDDEN]; B];
        scratch dh1:      [[f32; HIDDEN]; B];

        memcpy up      = images -> x;
        memcpy label   = labels -> wanted;
        kernel first   = hidden<<<(4, 2), 256>>>(&x, &layer1, &dropout, &mut h1, PIXELS, HIDDEN, KEEP)   after up;
        kernel second  = hidden<<<(4, 2), 256>>>(&h1, &layer2, &dropout, &mut h2, HIDDEN, HIDDEN, KEEP)  after first;
        kernel error   = loss<<<B / 8, 256>>>(&h2, &layer3, &wanted, &mut dy, &losses, rows)             after second, label;
        kernel back2   = back<<<(4, 2), 256>>>(&dy, &layer3, &h2, &mut dh2, HIDDEN, CLASSES, KEEP)       after error;
        kernel back1   = back<<<(4, 2), 256>>>(&dh2, &layer2, &h1, &mut dh1, HIDDEN, HIDDEN, KEEP)       after back2;

        kernel count   = schedule<<<1, 1>>>(&mut step, &mut rates, peak, warm_up, total);
        kernel learn3  = learn<<<(4, 1), 256>>>(&dy, &h2, &rates, &mut layer3, &mut moments3, B, HIDDEN, CLASSES, SIZES[2])  after back2, count;
        kernel learn2  = learn<<<(4, 4), 256>>>(&dh2, &h1, &rates, &mut layer2, &mut moments2, B, HIDDEN, HIDDEN, SIZES[1])  after back1, count;
        kernel learn1  = learn<<<(2, 4), 256>>>(&dh1, &x, &rates, &mut layer1, &mut moments1, B, PIXELS, HIDDEN, SIZES[0])   after back1, count;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Train::PLAN])?;
    let (epochs, wanted) = if device.is_emulator() { (2, 0.7) } else { (60, 0.97) };
    let epochs = argument("--epochs").map_or(Ok(epochs), |text| text.parse())?.max(1);
    let out = argument("--out").map_or(PathBuf::from("target/train_digits"), PathBuf::from);
    let weights = argument("--weights").map_or(out.join("digits.safetensors"), PathBuf::from);

    let (images, tests) = digits()?;
    let model = Model::new(&device, &mut random(1))?;
    let mut train = Train::build(&device, 7, &model.layer1, &model.layer2, &model.layer3)?;
    let steps = epochs * images.len().div_ceil(B) as u32;
    train.edit(|train| {
        train.set_warm_up(steps.div_ceil(10))?;
        train.set_total(steps)
    })?;
    let losses = fit(&mut train, images, epochs)?;
    let confusion = model.confusion(&device, &tests)?;
    charts::training(&out, &losses, &confusion)?;
    model.save(&weights)?;
    println!("written: {}, and charts in {}", weights.display(), out.display());

    let (right, all) = (
        (0..CLASSES).map(|digit| confusion[digit][digit]).sum::<u32>(),
        tests.len(),
    );
    let share = f64::from(right) / all as f64;
    if share < wanted {
        return Err(format!("only {right} of {all} tests are right, at least {wanted} of them are wanted").into());
    }
    println!(
        "check:   {right} of {all} tests right, {:.1}%; at least {:.0}% wanted",
        share * 100.0,
        wanted * 100.0
    );
    if bench::is_wanted(&device) {
        Figure::new("train_digits", 20, 200).graph(&mut train)?;
    }
    Ok(())
}

/// Trains for some epochs, and returns the mean loss of each.
fn fit(train: &mut Train, mut images: Vec<Digit>, epochs: u32) -> Result<Vec<f32>, BoxError> {
    let bar = progress(epochs)?;
    let (mut random, mut means, mut rates, mut step) = (random(2), Vec::new(), Vec::new(), 0);
    for _ in 0..epochs {
        shuffle(&mut images, &mut random);
        train.losses_mut()?.copy_from(&0.0)?;
        for batch in images.chunks(B) {
            if train.rows() != batch.len() as u32 {
                train.set_rows(batch.len() as u32)?;
            }
            let memory = train.memory_mut()?; // waits until the last step has read it
            for ((image, label), digit) in memory.images.iter_mut().zip(memory.labels).zip(batch) {
                (*image, *label) = (digit.image, digit.label);
            }
            train.launch()?;
            step += 1;
            if step == 1 || step % images.len().div_ceil(B) as u32 == 0 {
                let (found, counted) = (*train.rates()?.read()?, *train.step()?.read()?);
                rates.push(check_rates(
                    found,
                    counted,
                    step,
                    train.peak(),
                    train.warm_up(),
                    train.total(),
                )?);
            }
        }
        means.push(*train.losses()?.read()? / images.len() as f32);
        bar.set_message(format!("loss {:.4}", means[means.len() - 1]));
        bar.inc(1);
    }
    bar.finish();
    let (most, last) = (rates.iter().copied().fold(0.0, f64::max), rates[rates.len() - 1]);
    println!(
        "rates:   {:.5} at first, up to {most:.5}, {last:.5} at last: as scheduled",
        rates[0]
    );
    println!(
        "loss:    {:.4} in the first epoch, {:.4} in the last of {epochs}",
        means[0],
        means[means.len() - 1]
    );
    Ok(means)
}
