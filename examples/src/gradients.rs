//! Gradients compared with differences of the loss.

use crate::program::random;
use graph_runtime::BoxError;
use std::ops::Range;

/// The share of its length by which a gradient may differ, along itself and along a random direction. A loss in f32
/// has few digits for the smaller steps along random directions.
const TOLERANCES: [f64; 2] = [0.03, 0.2];
/// The change of the loss that steps along these directions aim at. Random directions change many numbers a little:
/// with larger steps, too many pass the bend of a ReLU.
const CHANGES: [f64; 2] = [0.004, 4e-5];
/// The number of random directions. Some of them may be nearly at right angles to a mistake.
const RANDOM: usize = 4;

/// Compares the gradients of some tensors with differences of the loss, along the gradient of each tensor and along
/// random directions: the former is exact, and the latter see parts of a gradient that are missing. Prints the largest
/// difference, as a share of the gradient's length. `loss` returns the loss for other weights.
///
/// # Errors
/// If a gradient is wrong, zero or not finite, or any error of `loss`.
pub fn check_gradients(
    weights: &[f32],
    gradients: &[f32],
    tensors: &[Range<usize>],
    mut loss: impl FnMut(&[f32]) -> Result<f64, BoxError>,
) -> Result<(), BoxError> {
    let mut random = random(3);
    let mut worst = 0.0_f64;
    for (number, tensor) in tensors.iter().enumerate() {
        let gradient: Vec<f64> = gradients[tensor.clone()].iter().map(|part| f64::from(*part)).collect();
        let length = dot(&gradient, &gradient).sqrt();
        if !length.is_finite() || length == 0.0 {
            return Err(format!("the gradient of tensor {number} has the length {length}").into());
        }
        for turn in 0..=RANDOM {
            let direction: Vec<f64> = if turn == 0 {
                gradient.iter().map(|part| part / length).collect()
            } else {
                gradient
                    .iter()
                    .map(|_| if random() < 0.0 { -1.0 } else { 1.0 })
                    .collect()
            };
            let step = CHANGES[turn.min(1)] / length;
            let mut at = |sign: f64| {
                let mut moved = weights.to_vec();
                for (weight, part) in moved[tensor.clone()].iter_mut().zip(&direction) {
                    *weight += (sign * step * part) as f32;
                }
                loss(&moved)
            };
            let slope = (at(1.0)? - at(-1.0)?) / (2.0 * step);
            let difference = (slope - dot(&gradient, &direction)).abs() / length;
            let is_right = difference <= TOLERANCES[turn.min(1)]; // not if it is no number
            if !is_right {
                return Err(
                    format!("the gradient of tensor {number} is wrong by {difference:.4} of its length").into(),
                );
            }
            worst = worst.max(difference);
        }
    }
    let count = tensors.len();
    println!("check:   gradients of {count} tensors as differences of the loss say, to {worst:.4} of their length");
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss is half the sum of the squares of weights, so that the gradient is the weights.
    #[test]
    fn wrong_gradients_are_found() {
        let weights: Vec<f32> = (0..200).map(|index| 0.05 * (index % 7 + 1) as f32).collect();
        let check = |gradients: Vec<f32>| {
            let loss = |weights: &[f32]| Ok(weights.iter().map(|weight| f64::from(*weight).powi(2) / 2.0).sum());
            check_gradients(&weights, &gradients, &[0..100, 100..200], loss).is_ok()
        };
        assert!(check(weights.clone()));
        let wrong = |change: &dyn Fn(usize, f32) -> f32| {
            let parts = weights.iter().enumerate();
            check(parts.map(|(index, part)| change(index, *part)).collect())
        };
        assert!(!wrong(&|_, _| f32::NAN));
        assert!(!wrong(&|_, _| f32::INFINITY));
        assert!(!wrong(&|index, part| if index < 100 { 0.0 } else { part }));
        assert!(!wrong(&|index, part| if index % 2 == 0 { part } else { 0.0 }));
        assert!(!wrong(&|_, part| 1.1 * part));
        assert!(!wrong(&|index, part| if index == 150 { f32::NAN } else { part }));
    }
}
