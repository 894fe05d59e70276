//! The weights of a decoder on a device: made by a formula, or read from a file.

use super::{Decode, Fill, Shape, Sizes};
use crate::tensors;
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
};
use graph_runtime::bytemuck::cast_slice;
use graph_runtime::{BoxError, Device, DeviceBuffer, Result};
use half::bf16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::Path;

/// The bytes of shared memory that the kernel itself declares.
const DECLARED: u32 = 17_408;
/// The multiprocessors that a device has at least if all clusters of the tuned kernel run at the same time.
const PROCESSORS: u32 = 128;
/// The names of the five tensors in a file of weights.
const NAMES: [&str; 5] = ["tokens", "places", "matrices", "vectors", "last_norm"];

/// The weights of a decoder, on a device.
pub struct Model {
    /// The sizes of all tensors.
    pub sizes: Sizes,
    /// The tensors, in the order of [`Sizes::lengths`].
    pub tensors: [DeviceBuffer<[bf16]>; 5],
}

impl Model {
    /// Makes weights by a formula, which `examples/pytorch/generate.py` repeats.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn from_formula(device: &Device, sizes: Sizes) -> Result<Self> {
        let model = Self::new(device, sizes)?;
        let width = sizes.width;
        let ones = [(0, 1), (0, 1), (0, 1), (2 * width, 13 * width), (width, 2 * width)];
        let scales = [0.1, 0.05, 0.06, 0.1, 0.2];
        for (index, tensor) in model.tensors.iter().enumerate() {
            let (ones, period) = ones[index];
            Fill::build(
                device,
                tensor,
                tensor.len(),
                index as u32 + 1,
                scales[index],
                ones,
                period,
            )?
            .launch()?;
        }
        Ok(model)
    }

    /// The tensors, by their names in a file of weights, which are those of the graph's memory.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &DeviceBuffer<[bf16]>)> {
        NAMES.into_iter().zip(&self.tensors)
    }

    /// Rounds weights to bf16; `weights` has all of them, as [`Sizes::weights`] says.
    ///
    /// # Errors
    /// If there are fewer, or if the device has too little memory.
    pub fn from_list(device: &Device, sizes: Sizes, weights: &[f32]) -> Result<Self> {
        let model = Self::new(device, sizes)?;
        let mut rest = weights.iter();
        for tensor in &model.tensors {
            let part = rest.by_ref().take(tensor.len());
            tensor.copy_from(&part.map(|weight| bf16::from_f32(*weight)).collect::<Vec<_>>())?;
        }
        Ok(model)
    }

    /// Loads weights that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// If the bytes are no such file, or if the device has too little memory.
    pub fn load(device: &Device, bytes: &[u8]) -> Result<Self, BoxError> {
        let file = SafeTensors::deserialize(bytes)?;
        let shape = |name| Ok::<_, BoxError>(file.tensor(name)?.shape().to_vec());
        let (tokens, places, vectors) = (shape("tokens")?, shape("places")?, shape("vectors")?);
        let (&[vocabulary, width], &[context, _], &[layers, ..]) = (&*tokens, &*places, &*vectors) else {
            return Err("the tensors have other numbers of dimensions".into());
        };
        let sizes = Sizes::new(layers, width, vocabulary, context);
        let model = Self::new(device, sizes)?;
        for ((name, shape), tensor) in NAMES.into_iter().zip(sizes.shapes()).zip(&model.tensors) {
            tensor.copy_from(&tensors::numbers::<bf16>(&file, name, Dtype::BF16, Some(&shape))?)?;
        }
        Ok(model)
    }

    /// Writes the weights into a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), BoxError> {
        let numbers = self.tensors.iter().map(DeviceBuffer::<[bf16]>::read_vec);
        let numbers = numbers.collect::<Result<Vec<_>>>()?;
        let mut views = Vec::new();
        for ((name, shape), numbers) in NAMES.into_iter().zip(self.sizes.shapes()).zip(&numbers) {
            views.push((name, TensorView::new(Dtype::BF16, shape, cast_slice(numbers))?));
        }
        Ok(safetensors::serialize_to_file(views, None, path)?)
    }

    fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let [tokens, places, matrices, vectors, last] = sizes.lengths().map(|len| device.alloc_slice(len));
        Ok(Self {
            sizes,
            tensors: [tokens?, places?, matrices?, vectors?, last?],
        })
    }

    /// Builds the graph that writes with these weights; `seed` is that of its luck.
    ///
    /// # Errors
    /// As those of `build`.
    pub fn decode(&self, device: &Device, seed: u64) -> Result<Decode> {
        let [tokens, places, matrices, vectors, last_norm] = &self.tensors;
        let shape = self.shape(device);
        Decode::build(
            device, self.sizes, shape, seed, tokens, places, matrices, vectors, last_norm,
        )
    }

    /// Returns the shape of launches on a device: that of the tuned kernel, if all its clusters run at the same time.
    fn shape(&self, device: &Device) -> Shape {
        let Some(context) = device.context() else {
            return Shape::of_blocks(2, 128);
        };
        let limit = |attribute| context.attribute(attribute).unwrap_or(0) as u32;
        let processors = limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let room = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let has_clusters = limit(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9 && processors >= PROCESSORS;
        if self.sizes.width == Sizes::GPT2.width && has_clusters && room >= Shape::TUNED.shared + DECLARED {
            Shape::TUNED
        } else {
            Shape::of_blocks(processors.min(128), 384)
        }
    }
}
