//! Training as a graph: a perceptron learns handwritten digits by Adam, with dropout, a warm-up and a cosine schedule.
//!
//! `train_digits [--epochs N] [--out FOLDER] [--weights FILE] [--bench]` writes the weights as safetensors, and the
//! loss curve and the confusion matrix as SVG. It runs on the first CUDA device, or on the CPU emulator, for fewer
//! epochs, if there is none.
//!
//! **The trap.** A recorded step repeats the arguments that its kernels were recorded with: an optimizer that computes
//! its rate and the number of the step on the host stays at step 1 and the first rate, silently. (PyTorch's Adam counts
//! on the device if it is `capturable`; but a rate that is a Python number is captured as it is, whatever a scheduler
//! says.) Here a value is either a `param`, which `set_x` changes in the graph, or memory. The number of the step is
//! memory, which the graph counts up, and the schedule is a kernel that reads it. The program compares both with plain
//! Rust after each epoch.
//!
//! **The last batch.** 1,437 images are 22 batches of 64 and a rest of 29. All kernels always compute 64 rows, but the
//! loss takes the `param` `rows`: it gives no gradient to the rows after it. `set_rows` changes one node, twice in an
//! epoch. A graph for each length would pay only where batches differ much (see `server`).

use examples::bench::{self, Figure};
use examples::charts;
use examples::digits::{B, CLASSES, Digit, Model, Train, check_gradients, check_rates, digits, shuffle};
use examples::program::{argument, progress, random, sized, start};
use graph_runtime::BoxError;
use std::path::PathBuf;

fn main() -> Result<(), BoxError> {
    let device = start(&[Train::PLAN])?;
    let (epochs, wanted) = sized(&device, (2, 0.7), (60, 0.97));
    let epochs = argument("--epochs").map_or(Ok(epochs), |text| text.parse())?.max(1);
    let out = argument("--out").map_or(PathBuf::from("target/train_digits"), PathBuf::from);
    let weights = argument("--weights").map_or(out.join("digits.safetensors"), PathBuf::from);

    let (images, tests) = digits()?;
    let model = Model::new(&device, &mut random(1))?;
    let mut train = Train::build(&device, 7, &model.layer1, &model.layer2, &model.layer3)?;
    check_gradients(&mut train, &model, &images)?;
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

    let right = (0..CLASSES).map(|digit| confusion[digit][digit]).sum::<u32>();
    let all = tests.len();
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
        train.set_rows(B as u32)?; // a whole batch
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
