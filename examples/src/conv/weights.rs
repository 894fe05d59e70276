//! The weights of the net, on the host.

use super::{C1, C2, CLASSES, FEATURES};
use crate::compare::close;
use crate::program::random;

/// The filters and biases of both convolutions and the last layer, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// `[C1][1][3][3]`
    pub w1: Vec<f32>,
    /// `[C1]`
    pub b1: Vec<f32>,
    /// `[C2][C1][3][3]`
    pub w2: Vec<f32>,
    /// `[C2]`
    pub b2: Vec<f32>,
    /// `[CLASSES][FEATURES]`
    pub w3: Vec<f32>,
    /// `[CLASSES]`
    pub b3: Vec<f32>,
}

impl Weights {
    /// Returns zeros.
    pub fn zeroed() -> Self {
        Self {
            w1: vec![0.0; C1 * 9],
            b1: vec![0.0; C1],
            w2: vec![0.0; C2 * C1 * 9],
            b2: vec![0.0; C2],
            w3: vec![0.0; CLASSES * FEATURES],
            b3: vec![0.0; CLASSES],
        }
    }

    /// Returns the weights to begin with: no biases, and random weights between plus and minus the root of
    /// `1 / inputs`, as PyTorch has them. `examples/pytorch/train_conv.py` has the same formula.
    pub fn first() -> Self {
        let mut weights = Self::zeroed();
        let mut random = random(1);
        for (part, inputs) in [
            (&mut weights.w1, 9),
            (&mut weights.w2, C1 * 9),
            (&mut weights.w3, FEATURES),
        ] {
            part.fill_with(|| random() / (inputs as f32).sqrt());
        }
        weights
    }

    /// The parts, in the order of their declaration.
    pub fn parts(&self) -> [&[f32]; 6] {
        [&self.w1, &self.b1, &self.w2, &self.b2, &self.w3, &self.b3]
    }

    /// The parts, to be changed.
    pub fn parts_mut(&mut self) -> [&mut [f32]; 6] {
        [
            &mut self.w1,
            &mut self.b1,
            &mut self.w2,
            &mut self.b2,
            &mut self.w3,
            &mut self.b3,
        ]
    }

    /// Compares with other weights, and returns the largest difference.
    ///
    /// # Errors
    /// If a weight differs by more than `tolerance`. The message begins with `name`.
    pub fn close(&self, name: &str, expected: &Self, tolerance: f32) -> Result<f32, String> {
        close(name, &self.parts().concat(), &expected.parts().concat(), tolerance)
    }
}
