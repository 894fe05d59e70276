//! The weights to begin with, and whether the gradients by them are right.

use super::Train;
use crate::decoder::Sizes;
use crate::program::random;
use graph_runtime::{BoxError, DeviceBuffer};

/// Small random weights; gains are 1, biases 0.
pub fn first_weights(sizes: Sizes) -> Vec<f32> {
    let (mut random, mut weights) = (random(1), Vec::new());
    weights.resize_with(sizes.matrix(sizes.layers, 0), || random() * 0.04);
    for _ in 0..sizes.layers {
        weights.resize(weights.len() + 2 * sizes.width, 1.0);
        weights.resize(weights.len() + 11 * sizes.width, 0.0);
    }
    weights.resize(weights.len() + sizes.width, 1.0);
    weights.resize(weights.len() + sizes.width, 0.0);
    weights
}

/// Compares the gradients of a new graph with differences of the loss, along the gradient of each tensor. Prints the
/// largest difference. It leaves `weights` as they are.
///
/// # Errors
/// If a gradient is wrong, or any error of a launch.
pub fn check_gradients(train: &mut Train, weights: &DeviceBuffer<[f32]>, sizes: Sizes) -> Result<(), BoxError> {
    let mut loss = |values: &[f32]| {
        weights.copy_from(values)?;
        train.luck().reseed(1)?; // the windows of before
        train.launch()?;
        let gradients = train.gradients()?.read_vec()?;
        Ok::<_, BoxError>((f64::from(*train.loss()?), gradients))
    };
    let values = weights.read_vec()?;
    let (_, gradients) = loss(&values)?;
    let mut worst = 0.0_f64;
    let mut first = 0;
    for length in sizes.lengths() {
        let part = first..first + length;
        let square: f64 = gradients[part.clone()].iter().map(|g| f64::from(*g).powi(2)).sum();
        let step = 0.02 / square;
        let moved = |sign: f64| {
            let mut values = values.clone();
            for (value, gradient) in values[part.clone()].iter_mut().zip(&gradients[part.clone()]) {
                *value += (sign * step * f64::from(*gradient)) as f32;
            }
            values
        };
        let slope = (loss(&moved(1.0))?.0 - loss(&moved(-1.0))?.0) / 0.04;
        worst = worst.max((slope - 1.0).abs());
        first += length;
    }
    weights.copy_from(&values)?;
    if worst > 0.03 || worst.is_nan() {
        return Err(format!("a gradient is wrong by {worst} of it").into());
    }
    println!(
        "check:   gradients of {} tensors as differences of the loss say, to {worst:.4} of them",
        sizes.lengths().len()
    );
    Ok(())
}
