//! Handwritten digits, and a perceptron that tells them apart: the data, the model's memory and its file, inference.
//!
//! `train_digits` makes the weights, `infer` uses them.

mod calls;
mod schedule;
mod train;

use crate::tensors;
use bytemuck::cast_slice;
pub use calls::calls;
use graph_runtime::{BoxError, Device, DeviceBuffer, Mapped, cuda_graph, cuda_kernels};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
pub use schedule::check_rates;
use std::path::Path;
pub use train::{B, Train, check_gradients};

/// The kernels of a step of training.
pub mod kernels {
    pub use super::train::{back, hidden, learn, loss, schedule};
}

/// Pixels of an image.
pub const PIXELS: usize = 64;
/// Outputs of each hidden layer.
pub const HIDDEN: usize = 128;
/// The digits.
pub const CLASSES: usize = 10;
/// One image of so many is kept for the test.
const KEPT: usize = 5;

/// A layer: the weights of each output, then the biases, in whole rows, so that each row lies at a multiple of 256
/// bytes.
pub type Layer1 = [[f32; PIXELS]; HIDDEN + HIDDEN / PIXELS];
/// As [`Layer1`].
pub type Layer2 = [[f32; HIDDEN]; HIDDEN + 1];
/// As [`Layer1`]; only 10 biases count.
pub type Layer3 = [[f32; HIDDEN]; CLASSES + 1];

/// The data, see `examples/data/README.md`.
const DIGITS: &str = include_str!("../data/digits.txt");

/// An image, each pixel from 0 to 1, and its digit.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit {
    /// Pixels, row by row.
    pub image: [f32; PIXELS],
    /// The digit that the image shows.
    pub label: u32,
}

/// Returns the images to train with, and the first of every five, to test with. (So both have all writers, as they have
/// after scikit-learn's `train_test_split`; the file goes writer by writer.)
///
/// # Errors
/// If the file has a line that is no image: the message has its number.
pub fn digits() -> Result<(Vec<Digit>, Vec<Digit>), String> {
    let (mut train, mut tests) = (Vec::new(), Vec::new());
    for (index, line) in DIGITS.lines().enumerate() {
        let digit = digit(line).ok_or_else(|| format!("digits.txt, line {}: no image", index + 1))?;
        if index % KEPT == 0 { &mut tests } else { &mut train }.push(digit);
    }
    Ok((train, tests))
}

/// Puts images into another order.
pub fn shuffle(images: &mut [Digit], random: &mut impl FnMut() -> f32) {
    for left in (1..images.len()).rev() {
        images.swap(left, ((random() + 1.0) / 2.0 * (left + 1) as f32) as usize);
    }
}

/// The image of a line.
fn digit(line: &str) -> Option<Digit> {
    let (pixels, label) = line.split_once(' ')?;
    let mut image = [0.0; PIXELS];
    if pixels.len() != PIXELS {
        return None;
    }
    for (pixel, value) in image.iter_mut().zip(pixels.chars()) {
        *pixel = value.to_digit(17)? as f32 / 16.0;
    }
    let label = label.parse().ok().filter(|label| *label < CLASSES as u32)?;
    Some(Digit { image, label })
}

/// The weights, which graphs share.
#[derive(Clone)]
pub struct Model {
    /// The first hidden layer.
    pub layer1: DeviceBuffer<Layer1>,
    /// The second hidden layer.
    pub layer2: DeviceBuffer<Layer2>,
    /// The layer whose outputs are logits.
    pub layer3: DeviceBuffer<Layer3>,
}

impl Model {
    /// Random weights and biases, as PyTorch begins: even within the root of `1 / inputs`.
    ///
    /// # Errors
    /// If the device has no memory for them.
    pub fn new(device: &Device, random: &mut impl FnMut() -> f32) -> graph_runtime::Result<Self> {
        let mut host = Weights::zeroed();
        for (layer, inputs) in host.layers() {
            let most = (1.0 / inputs as f32).sqrt();
            layer.fill_with(|| random() * most);
        }
        host.upload(device)
    }

    /// Reads the weights from a file as [`Model::save`] writes it.
    ///
    /// # Errors
    /// If the bytes are no such file: the message names the tensor that is missing or has another shape.
    pub fn load(device: &Device, file: &[u8]) -> Result<Self, BoxError> {
        let file = SafeTensors::deserialize(file)?;
        let mut host = Weights::zeroed();
        for ((layer, inputs), (name, outputs)) in host.layers().into_iter().zip(NAMES) {
            let read = |what, shape: &[usize]| {
                tensors::numbers::<f32>(&file, &format!("{name}.{what}"), Dtype::F32, Some(shape))
            };
            let (weights, rest) = layer.split_at_mut(outputs * inputs);
            weights.copy_from_slice(&read("weight", &[outputs, inputs])?);
            rest[..outputs].copy_from_slice(&read("bias", &[outputs])?);
        }
        Ok(host.upload(device)?)
    }

    /// Writes the weights as safetensors, under the names that PyTorch gives them in `nn.Sequential(Linear, ReLU,
    /// Linear, ReLU, Linear)`.
    ///
    /// # Errors
    /// If a graph that writes the weights has failed, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), BoxError> {
        let mut host = self.read()?;
        let mut tensors = Vec::new();
        for ((layer, inputs), (name, outputs)) in host.layers().into_iter().zip(NAMES) {
            let (weights, rest) = layer.split_at(outputs * inputs);
            let weight = TensorView::new(Dtype::F32, vec![outputs, inputs], cast_slice(weights))?;
            let bias = TensorView::new(Dtype::F32, vec![outputs], cast_slice(&rest[..outputs]))?;
            tensors.extend([(format!("{name}.weight"), weight), (format!("{name}.bias"), bias)]);
        }
        Ok(safetensors::serialize_to_file(tensors, None, path)?)
    }

    /// Counts what each digit of some images is taken for: `counts[label][answer]`.
    ///
    /// # Errors
    /// If the graph cannot be built or launched.
    pub fn confusion(&self, device: &Device, images: &[Digit]) -> graph_runtime::Result<[[u32; CLASSES]; CLASSES]> {
        let mut infer = Infer::build(device, images.len(), &self.layer1, &self.layer2, &self.layer3)?;
        let pixels: Vec<_> = images.iter().map(|digit| digit.image).collect();
        infer.x_mut()?.copy_from(&pixels)?;
        infer.launch()?;
        let mut counts = [[0; CLASSES]; CLASSES];
        for (logits, digit) in infer.logits()?.read_vec()?.iter().zip(images) {
            counts[digit.label as usize][answer(logits)] += 1;
        }
        Ok(counts)
    }

    /// Copies weights to the device: all layers, one after the other.
    ///
    /// # Errors
    /// If a graph that uses them has failed.
    pub fn write(&self, weights: &[f32]) -> graph_runtime::Result<()> {
        let mut host = Weights::zeroed();
        let mut rest = weights;
        for (layer, _) in host.layers() {
            let (own, others) = rest.split_at(layer.len());
            layer.copy_from_slice(own);
            rest = others;
        }
        self.layer1.copy_from(&host.layer1)?;
        self.layer2.copy_from(&host.layer2)?;
        self.layer3.copy_from(&host.layer3)
    }

    /// Copies the weights to the host.
    ///
    /// # Errors
    /// If a graph that writes them has failed.
    pub fn read(&self) -> graph_runtime::Result<Weights> {
        Ok(Weights {
            layer1: self.layer1.read()?,
            layer2: self.layer2.read()?,
            layer3: self.layer3.read()?,
        })
    }
}

/// The names of the layers in files, and the numbers of their outputs.
const NAMES: [(&str, usize); 3] = [("0", HIDDEN), ("2", HIDDEN), ("4", CLASSES)];

/// The weights on the host.
pub struct Weights {
    layer1: Box<Layer1>,
    layer2: Box<Layer2>,
    layer3: Box<Layer3>,
}

impl Weights {
    fn zeroed() -> Self {
        Self {
            layer1: bytemuck::zeroed_box(),
            layer2: bytemuck::zeroed_box(),
            layer3: bytemuck::zeroed_box(),
        }
    }

    fn upload(mut self, device: &Device) -> graph_runtime::Result<Model> {
        let model = Model {
            layer1: device.alloc()?,
            layer2: device.alloc()?,
            layer3: device.alloc()?,
        };
        model.write(&self.concat())?;
        Ok(model)
    }

    /// Each layer, with the number of its inputs.
    pub fn layers(&mut self) -> [(&mut [f32], usize); 3] {
        [
            (self.layer1.as_flattened_mut(), PIXELS),
            (self.layer2.as_flattened_mut(), HIDDEN),
            (self.layer3.as_flattened_mut(), HIDDEN),
        ]
    }

    /// All layers, one after the other.
    pub fn concat(&mut self) -> Vec<f32> {
        self.layers().map(|(layer, _)| &*layer).concat()
    }

    /// The logits of an image, in plain Rust.
    pub fn logits(&self, image: &[f32; PIXELS]) -> [f32; CLASSES] {
        let first = layer::<PIXELS, HIDDEN>(image, self.layer1.as_flattened()).map(|y| y.max(0.0));
        let second = layer::<HIDDEN, HIDDEN>(&first, self.layer2.as_flattened()).map(|y| y.max(0.0));
        layer(&second, self.layer3.as_flattened())
    }
}

/// `x` times the weights of a layer, plus its biases.
fn layer<const INPUTS: usize, const OUTPUTS: usize>(x: &[f32; INPUTS], layer: &[f32]) -> [f32; OUTPUTS] {
    std::array::from_fn(|output| {
        let weights = &layer[output * INPUTS..][..INPUTS];
        let sum: f32 = x.iter().zip(weights).map(|(x, w)| x * w).sum();
        sum + layer[OUTPUTS * INPUTS + output]
    })
}

/// The digit of the largest logit.
pub fn answer(logits: &[f32; CLASSES]) -> usize {
    (1..CLASSES).fold(0, |best, digit| if logits[digit] > logits[best] { digit } else { best })
}

#[cuda_kernels("kernels/infer.ptx")]
unsafe extern "C" {
    /// The logits of each row of `x`, by a block of 1,024 threads each
    #[requires(grid.x <= x.len() && grid.x <= y.len() && block.x == 1024)]
    pub safe fn infer(
        x: &[[f32; 64]],
        layer1: &[[f32; 64]; 130],
        layer2: &[[f32; 128]; 129],
        layer3: &[[f32; 128]; 11],
        y: &mut [[f32; 10]],
    );
    /// As `infer`, from and to memory of the host
    #[requires(grid.x * 64 <= x.len() && grid.x * 10 <= y.len() && block.x == 1024)]
    pub safe fn infer_mapped(
        x: &[Mapped<f32>],
        layer1: &[[f32; 64]; 130],
        layer2: &[[f32; 128]; 129],
        layer3: &[[f32; 128]; 11],
        y: &[Mapped<f32>],
    );
}

cuda_graph! {
    /// Inference of a batch that lies on the device.
    pub graph Infer(
        batch: usize,
        layer1: device Layer1,
        layer2: device Layer2,
        layer3: device Layer3,
    ) {
        device x:      [[f32; PIXELS]; batch];
        device logits: [[f32; CLASSES]; batch];

        kernel infer = infer<<<batch, 1024>>>(&x, &layer1, &layer2, &layer3, &mut logits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::random;

    #[test]
    fn all_images_are_read() {
        let (train, tests) = digits().unwrap();
        assert_eq!((train.len(), tests.len()), (1437, 360));
        assert_eq!((tests[0].label, tests[0].image[2]), (0, 5.0 / 16.0));
        assert!(digit("0 1").is_none());
    }

    #[test]
    fn weights_come_back_from_a_file() {
        let device = Device::emulator();
        let model = Model::new(&device, &mut random(1)).unwrap();
        let path = std::env::temp_dir().join(format!("cuda-graph-digits-{}.safetensors", std::process::id()));
        model.save(&path).unwrap();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let again = Model::load(&device, &file).unwrap();
        let image = [0.5; PIXELS];
        let expected = model.read().unwrap().logits(&image);
        assert_eq!(again.read().unwrap().logits(&image), expected);
        assert!(Model::load(&device, &file[..file.len() - 1]).is_err());
    }
}
