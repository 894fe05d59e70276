//! Training, with a graph and without one.

use super::{BATCH, Data, Eager, RATE, Shared, Weights, step};
use crate::bench::Figure;
use crate::compare::{close, learnt, near};
use crate::memory::Stages;
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
        self.first.close("weights after the first step", &weights, 1e-5)?;
        close("loss of the first step", &self.losses[..1], &[loss], 1e-5)?;
        close("losses", &self.losses[..PYTORCH.len()], &PYTORCH, 1e-4)?;
        let [start, end] = self.means();
        learnt(start, end, 1.0)
    }

    /// The mean losses of the first and of the last stage.
    pub fn means(&self) -> [f32; 2] {
        let count = (self.losses.len() / STAGES).max(1);
        let ends = [self.losses.chunks(count).next(), self.losses.rchunks(count).next()];
        ends.map(|losses| losses.map_or(0.0, |losses| losses.iter().sum::<f32>() / losses.len() as f32))
    }

    /// Compares the losses of the first 100 steps with those of another training, and returns the largest difference.
    /// (Later losses are near zero, and roundings have added up.)
    ///
    /// # Errors
    /// If a loss differs by more than `tolerance` of it.
    pub fn close(&self, name: &str, expected: &Self, tolerance: f64) -> Result<f64, String> {
        let count = self.losses.len().min(100);
        let expected = &expected.losses[..expected.losses.len().min(100)];
        near(name, &self.losses[..count], expected, |loss| tolerance * loss)
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
