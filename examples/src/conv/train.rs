//! Training, with a graph and without one.

use super::{BATCH, Data, Eager, RATE, Shared, Weights, step};
use crate::bench::Figure;
use crate::memory::Stages;
use crate::program::close;
use graph_runtime::cudarc::driver::{CudaContext, DriverError};
use graph_runtime::{AnyGraph, BoxError, Device, Result};
use std::sync::Arc;

/// The number of stages that the steps are divided into.
const STAGES: usize = 6;

/// The first losses of PyTorch 2.11, at a rate of 0.1, by `examples/pytorch/train_conv.py`.
const PYTORCH: [f32; 6] = [2.316_329, 2.312_407, 2.283_12, 2.290_632, 2.278_969, 2.260_954];

/// The outcome of a training.
pub struct Trained {
    /// The memory at each stage.
    pub memory: Stages,
    /// The weights after one step.
    pub first: Weights,
    /// The weights after all steps.
    pub last: Weights,
    /// The loss of each step.
    pub losses: Vec<f32>,
}

impl Trained {
    /// Compares the first step with plain Rust, and the first losses with PyTorch's; and looks whether the loss falls.
    ///
    /// # Errors
    /// If one of these is not so: the message has the numbers.
    pub fn check(&self, data: &Data) -> Result<(), String> {
        let mut weights = Weights::first();
        let loss = step(&mut weights, &data.images[..BATCH], &data.labels[..BATCH], RATE);
        let (difference, found) = (self.first.difference(&weights), self.losses[0]);
        if difference > 1e-5 || (found - loss).abs() > 1e-5 {
            let losses = format!("the loss is {found}, expected {loss}");
            return Err(format!("the first step: weights differ by {difference}; {losses}"));
        }
        close("losses", &self.losses[..PYTORCH.len()], &PYTORCH, 1e-4)?;
        match self.means() {
            [start, end] if end > start => Err(format!("it does not learn: the loss goes from {start} to {end}")),
            _ => Ok(()),
        }
    }

    /// The mean losses of the first and of the last stage.
    pub fn means(&self) -> [f32; 2] {
        let count = (self.losses.len() / STAGES).max(1);
        let ends = [self.losses.chunks(count).next(), self.losses.rchunks(count).next()];
        ends.map(|losses| losses.map_or(0.0, |losses| losses.iter().sum::<f32>() / losses.len() as f32))
    }

    /// The largest difference of a loss to that of another training, relative to it, in the first 100 steps. (Later
    /// losses are near zero, and roundings have added up.)
    pub fn difference(&self, other: &Self) -> f32 {
        let pairs = self.losses.iter().zip(&other.losses).take(100);
        pairs
            .map(|(one, other)| (one - other).abs() / other)
            .fold(0.0, f32::max)
    }
}

/// Trains with the graph that `build` makes, and measures a step if there is a `row` for it. `losses` reads the losses
/// of all steps.
///
/// # Errors
/// Any error of `build` and of launches.
pub fn train<G: AnyGraph>(
    device: &Device,
    data: &Data,
    steps: usize,
    row: Option<&str>,
    build: impl FnOnce(&Shared) -> Result<G>,
    losses: impl FnOnce(&G) -> Result<Vec<f32>>,
) -> Result<Trained, BoxError> {
    let mut memory = Stages::new(device);
    let shared = Shared::new(device, data, &mut memory)?;
    let mut graph = build(&shared)?;
    memory.end("graph built", graph.memory_report().own_device());
    let mut first = Weights::first();
    for step in 1..=steps {
        graph.launch()?; // picks the next images by itself
        if step == 1 {
            first = shared.weights()?;
        }
        if step % (steps / STAGES).max(1) == 0 {
            graph.synchronize()?;
            memory.end(&format!("{step} steps"), 0);
        }
    }
    let (last, losses) = (shared.weights()?, losses(&graph)?);
    if let Some(row) = row {
        Figure::new(row, 50, 100).graph(&mut graph)?;
    }
    Ok(Trained {
        memory,
        first,
        last,
        losses,
    })
}

/// Trains with the same kernels, launched one by one. Returns the memory and the weights.
///
/// # Errors
/// Any error of the driver.
pub fn train_without_graph(
    device: &Device,
    context: &Arc<CudaContext>,
    data: &Data,
    steps: usize,
) -> Result<(Stages, Weights), DriverError> {
    let mut memory = Stages::new(device);
    let mut eager = Eager::new(context, data, steps, &mut memory)?;
    for step in 1..=steps {
        eager.launch(RATE)?;
        if step % (steps / STAGES).max(1) == 0 {
            eager.wait()?;
            memory.end(&format!("{step} steps"), 0);
        }
    }
    let weights = eager.weights()?;
    Ok((memory, weights))
}
