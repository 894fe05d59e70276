//! The memory of a decode step on a device, by name, whoever allocates it.

use super::allocate::Allocate;
use super::config::Config;
use super::model::Model;
use super::plain::Decoded;
use crate::tensors::{self, Tensor};
use graph_runtime::{BoxError, DeviceBuffer, Element, Loaded};
use std::collections::BTreeMap;
use std::path::Path;

/// The memory of a decode step: the weights by the names that the checkpoint gives them, and what goes from one token
/// to the next.
pub struct Tensors(BTreeMap<String, DeviceBuffer<[u8]>>);

impl Tensors {
    /// The names and the bytes of the memory that is not in a checkpoint: the cosines and sines of all angles, the
    /// text, the place in it with the number of given tokens, the logits, and the keys and values of each layer.
    fn others(config: Config) -> Vec<(String, usize)> {
        let Config {
            context,
            vocabulary,
            layers,
            ..
        } = config;
        let angles = context * config.head() / 2;
        let mut others: Vec<(String, usize)> = [
            ("cosines", angles),
            ("sines", angles),
            ("text", context),
            ("position", 2),
            ("logits", vocabulary),
        ]
        .map(|(name, len)| (name.to_owned(), len))
        .into();
        for layer in 0..layers {
            let kept = ["keys", "values"].map(|part| (Config::name(layer, part), context * config.kept()));
            others.extend(kept);
        }
        others
            .into_iter()
            .map(|(name, len)| (name, len * size_of::<f32>()))
            .collect()
    }

    /// The bytes that [`Tensors::load`] allocates, if blocks begin at multiples of 256.
    pub fn bytes(model: &Model) -> usize {
        let weights = model.weights.values().map(|numbers| size_of_val(&numbers[..]));
        let others = Self::others(model.config).into_iter().map(|(_, bytes)| bytes);
        weights.chain(others).map(|bytes| bytes.next_multiple_of(256)).sum()
    }

    /// Allocates all memory, and copies the weights to it.
    ///
    /// # Errors
    /// If there is too little memory, or if a copy fails.
    pub fn load(model: &Model, memory: &impl Allocate) -> Result<Self, BoxError> {
        let mut tensors = Self(BTreeMap::new());
        for (name, numbers) in &model.weights {
            let memory = memory.allocate(size_of_val(&numbers[..]))?;
            memory.cast::<f32>()?.copy_from(numbers)?;
            tensors.0.insert(name.clone(), memory);
        }
        for (name, bytes) in Self::others(model.config) {
            tensors.0.insert(name, memory.allocate(bytes)?);
        }
        for (name, numbers) in ["cosines", "sines"].into_iter().zip(model.config.angles()) {
            tensors.get::<f32>(name)?.copy_from(&numbers)?;
        }
        Ok(tensors)
    }

    /// The memory of this name.
    ///
    /// # Errors
    /// If there is none, or if it has no whole number of elements.
    pub fn get<T: Element>(&self, name: &str) -> Result<DeviceBuffer<[T]>, BoxError> {
        let memory = self.0.get(name).ok_or_else(|| format!("there is no memory `{name}`"))?;
        Ok(memory.cast()?)
    }

    /// Gives all memory to a graph that was opened.
    ///
    /// # Errors
    /// If the graph has no such memory, or other lengths.
    pub fn bind(&self, graph: &mut Loaded) -> Result<(), BoxError> {
        Ok(self.0.iter().try_for_each(|(name, memory)| graph.bind(name, memory))?)
    }

    /// Begins a text.
    ///
    /// # Errors
    /// If the context has no room for the tokens, or if the device has failed.
    pub fn begin(&self, given: &[u32]) -> Result<(), BoxError> {
        self.get::<u32>("text")?.rows(..given.len())?.copy_from(given)?;
        self.get::<u32>("position")?.copy_from(&[0, given.len() as u32])?;
        Ok(())
    }

    /// Writes what another program needs, beside the checkpoint, to write the same text, and to compare: the angles;
    /// the text, the number of its given tokens, and the logits that are in memory now. All are f32.
    ///
    /// # Errors
    /// If the file cannot be written, or if the device has failed.
    pub fn save(&self, path: &Path, decoded: &Decoded) -> Result<(), BoxError> {
        let mut list = vec![
            Tensor::list("given", vec![decoded.given as f32]),
            Tensor::list("text", decoded.text.iter().map(|&token| token as f32).collect()),
        ];
        for name in ["cosines", "sines", "logits"] {
            list.push(Tensor::list(name, self.get::<f32>(name)?.read_vec()?));
        }
        tensors::write(path, &list)
    }
}
