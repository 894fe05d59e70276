//! A model in a folder: `config.json`, and tensors in any number of files of safetensors.

use super::config::Config;
use crate::program::random;
use crate::tensors::{self, Tensor};
use graph_runtime::BoxError;
use safetensors::tensor::SafeTensors;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The config of the tiny model.
const TINY: &str = r#"{
  "hidden_size": 64,
  "intermediate_size": 160,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "vocab_size": 256,
  "max_position_embeddings": 64,
  "rms_norm_eps": 1e-5,
  "rope_theta": 10000.0
}
"#;

/// A model, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its sizes.
    pub config: Config,
    /// Its tensors, by the names of [`Config::tensors`].
    pub weights: BTreeMap<String, Vec<f32>>,
}

impl Model {
    /// Reads a model: Llamas of Hugging Face in f32, f16 or bf16 that do not share `lm_head` with the embedding.
    ///
    /// # Errors
    /// If a file cannot be read, or if a tensor is missing or has another shape: the message names it.
    pub fn open(folder: &Path) -> Result<Self, BoxError> {
        let path = folder.join("config.json");
        let config = fs::read_to_string(&path).map_err(BoxError::from);
        let config = config.and_then(|text| Config::parse(&text));
        let config = config.map_err(|error| format!("{}: {error}", path.display()))?;
        let wanted: BTreeMap<_, _> = config.tensors().into_iter().collect();
        let mut weights = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "safetensors") {
                continue;
            }
            let bytes = fs::read(&path)?;
            let file = SafeTensors::deserialize(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            for (name, tensor) in file.iter() {
                let Some(shape) = wanted.get(name) else { continue };
                let (dtype, found) = (tensor.dtype(), tensor.shape());
                let numbers = tensors::floats(&tensor).filter(|_| found == shape).ok_or_else(|| {
                    let path = path.display();
                    format!("{path}: tensor `{name}` is {dtype:?} {found:?}, not F32, F16 or BF16 {shape:?}")
                })?;
                weights.insert(name.to_owned(), numbers);
            }
        }
        match wanted.keys().find(|name| !weights.contains_key(*name)) {
            Some(missing) => Err(format!("{}: no file has the tensor `{missing}`", folder.display()).into()),
            None => Ok(Self { config, weights }),
        }
    }

    /// A model of two layers, with weights by a formula.
    ///
    /// # Errors
    /// None: there is such a model.
    pub fn tiny() -> Result<Self, BoxError> {
        let config = Config::parse(TINY)?;
        let weights = config.tensors().into_iter().enumerate().map(|(seed, (name, shape))| {
            let mut random = random(seed as u32);
            // Rows keep the size of what they are multiplied with; gains are about one.
            let (middle, range) = match shape[..] {
                [_, columns] => (0.0, (3.0 / columns as f32).sqrt()),
                _ => (1.0, 0.2),
            };
            let numbers = (0..shape.iter().product()).map(|_| middle + range * random());
            (name, numbers.collect())
        });
        let weights = weights.collect();
        Ok(Self { config, weights })
    }

    /// Writes the tiny model: its config, a file for each layer, and one for the rest.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_tiny(folder: &Path) -> Result<(), BoxError> {
        let model = Self::tiny()?;
        fs::create_dir_all(folder)?;
        fs::write(folder.join("config.json"), TINY)?;
        let mut files: BTreeMap<String, Vec<Tensor>> = BTreeMap::new();
        for (name, shape) in model.config.tensors() {
            let layer = name.strip_prefix("model.layers.").and_then(|rest| rest.split_once('.'));
            let file = layer.map_or("rest".to_owned(), |(layer, _)| format!("layer{layer}"));
            let numbers = model.tensor(&name).to_vec();
            files.entry(file).or_default().push(Tensor { name, shape, numbers });
        }
        for (file, tensors) in files {
            tensors::write(&folder.join(file).with_extension("safetensors"), &tensors)?;
        }
        Ok(())
    }

    /// The tensor of this name, which [`Config::tensors`] has.
    pub fn tensor(&self, name: &str) -> &[f32] {
        self.weights.get(name).map_or(&[], Vec::as_slice)
    }
}
