//! The checkpoint of a training, in a file of safetensors: the losses of the steps so far, and the weights after them.

use crate::tensors::{self, Tensor};
use graph_runtime::BoxError;
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::path::Path;

/// The name of the losses in the file.
const LOSSES: &str = "losses";

/// The state of a training after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint<const N: usize> {
    /// The loss of each step.
    pub losses: Vec<f32>,
    /// The weights, piece by piece.
    pub weights: [Vec<f32>; N],
}

impl<const N: usize> Checkpoint<N> {
    /// Reads a file, whose pieces of weights have these names. `None` if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read, or lacks something.
    pub fn read(path: &Path, names: [&str; N]) -> Result<Option<Self>, BoxError> {
        if !path.exists() {
            return Ok(None);
        }
        let named = |error: BoxError| format!("{}: {error}", path.display());
        let bytes = fs::read(path).map_err(|error| named(error.into()))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| named(error.into()))?;
        let numbers = |name| tensors::numbers(&file, name, Dtype::F32, None).map_err(named);
        let mut weights = [(); N].map(|()| Vec::new());
        for (piece, name) in weights.iter_mut().zip(names) {
            *piece = numbers(name)?;
        }
        let losses = numbers(LOSSES)?;
        Ok(Some(Self { losses, weights }))
    }

    /// Writes the file. If the process ends meanwhile, the file is the one that was there before.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(self, path: &Path, names: [&str; N]) -> Result<(), BoxError> {
        let new = path.with_extension("new");
        let pieces = names.into_iter().zip(self.weights);
        let tensors = [(LOSSES, self.losses)].into_iter().chain(pieces);
        let tensors: Vec<Tensor> = tensors.map(|(name, numbers)| Tensor::list(name, numbers)).collect();
        tensors::write(&new, &tensors)?;
        Ok(fs::rename(&new, path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("checkpoint-{}.safetensors", std::process::id()));
        let names = ["w", "b"];
        assert_eq!(Checkpoint::read(&path, names).unwrap(), None);
        let checkpoint = Checkpoint {
            losses: vec![2.0, 1.5],
            weights: [vec![0.1, -0.0, 1e-40], vec![3.0]],
        };
        checkpoint.clone().write(&path, names).unwrap();
        assert_eq!(Checkpoint::read(&path, names).unwrap(), Some(checkpoint));
        let error = Checkpoint::read(&path, ["w", "bias"]).unwrap_err().to_string();
        assert!(error.contains("checkpoint-") && error.contains("bias"), "{error}");
        fs::remove_file(&path).unwrap();
    }
}
