//! The memory that the graphs of `train_conv` share.

use super::{BATCH, C1, C2, CLASSES, Data, FEATURES, PIXELS, Weights};
use crate::memory::Stages;
use graph_runtime::bytemuck::{cast_slice, from_bytes};
use graph_runtime::{Device, DeviceBuffer, Result};

/// The data, the weights, and the inputs of a step.
pub struct Shared {
    /// All images.
    pub images: DeviceBuffer<[[f32; PIXELS]]>,
    /// The digit of each.
    pub labels: DeviceBuffer<[u32]>,
    /// The filters and biases of the first convolution.
    pub w1: DeviceBuffer<[[f32; 9]; C1]>,
    /// Its biases.
    pub b1: DeviceBuffer<[f32; C1]>,
    /// The filters of the second convolution.
    pub w2: DeviceBuffer<[[[f32; 9]; C1]; C2]>,
    /// Its biases.
    pub b2: DeviceBuffer<[f32; C2]>,
    /// The weights of the last layer.
    pub w3: DeviceBuffer<[[f32; FEATURES]; CLASSES]>,
    /// Its biases.
    pub b3: DeviceBuffer<[f32; CLASSES]>,
    /// The images of a batch.
    pub x: DeviceBuffer<[[f32; PIXELS]; BATCH]>,
    /// Their digits.
    pub y: DeviceBuffer<[u32; BATCH]>,
}

impl Shared {
    /// Allocates the memory, and copies the data and the first weights to it.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &Device, data: &Data, stages: &mut Stages) -> Result<Self> {
        let images = device.alloc_slice(data.images.len())?;
        let labels = device.alloc_slice(data.labels.len())?;
        images.copy_from(&data.images)?;
        labels.copy_from(&data.labels)?;
        stages.end("data ready", size_of_val(&*data.images) + size_of_val(&*data.labels));

        let weights = Weights::first();
        let w1 = device.alloc::<[[f32; 9]; C1]>()?;
        let w2 = device.alloc::<[[[f32; 9]; C1]; C2]>()?;
        let w3 = device.alloc::<[[f32; FEATURES]; CLASSES]>()?;
        w1.copy_from(from_bytes(cast_slice(&weights.w1)))?;
        w2.copy_from(from_bytes(cast_slice(&weights.w2)))?;
        w3.copy_from(from_bytes(cast_slice(&weights.w3)))?;
        let (b1, b2, b3) = (device.alloc()?, device.alloc()?, device.alloc()?);
        stages.end("model ready", weights.parts().map(size_of_val).iter().sum());

        let (x, y) = (device.alloc()?, device.alloc()?);
        stages.end("static inputs", size_of::<([[f32; PIXELS]; BATCH], [u32; BATCH])>());
        Ok(Self {
            images,
            labels,
            w1,
            b1,
            w2,
            b2,
            w3,
            b3,
            x,
            y,
        })
    }

    /// Copies the weights to the host.
    ///
    /// # Errors
    /// If a launch that wrote them has failed.
    pub fn weights(&self) -> Result<Weights> {
        Ok(Weights {
            w1: self.w1.read()?.as_flattened().to_vec(),
            b1: self.b1.read()?.to_vec(),
            w2: self.w2.read()?.as_flattened().as_flattened().to_vec(),
            b2: self.b2.read()?.to_vec(),
            w3: self.w3.read()?.as_flattened().to_vec(),
            b3: self.b3.read()?.to_vec(),
        })
    }
}
