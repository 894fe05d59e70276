//! Layers as functions: each is a forward and a backward graph.

use crate::mlp::{Layer, descend, gradient, linear};
use graph_runtime::{Device, DeviceBuffer, Graphed, GraphedMemory, Result, cuda_graph};

/// Rows of a batch.
pub const ROWS: usize = 16;
/// The rate of learning.
const RATE: f32 = 0.3;

/// A batch.
pub type Rows<const N: usize> = DeviceBuffer<[[f32; N]; ROWS]>;

cuda_graph! {
    /// A linear layer; its outputs are not below 0 if `relu` is 1.
    pub graph Forward<const I: usize, const O: usize>(
        relu: u32, x: device [[f32; I]; ROWS], w: device [[f32; I]; O], b: device [f32; O], y: mut device [[f32; O]; ROWS],
    ) {
        kernel layer = linear<<<ROWS, O>>>(&x, &w, &b, &mut y, I as u32, O as u32, relu);
    }

    /// A step of gradient descent of a layer.
    pub graph Learn<const I: usize, const O: usize>(
        x: device [[f32; I]; ROWS], dy: device [[f32; O]; ROWS], w: mut device [[f32; I]; O], b: mut device [f32; O],
    ) {
        kernel learn = descend<<<O, I>>>(&dy, &x, &mut w, &mut b, RATE, ROWS as u32, I as u32);
    }

    /// The same, and before it the gradient by `x`, the outputs of a layer with `relu`.
    pub graph Backward<const I: usize, const O: usize>(
        x: device [[f32; I]; ROWS], dy: device [[f32; O]; ROWS], w: mut device [[f32; I]; O], b: mut device [f32; O],
        dx: mut device [[f32; I]; ROWS],
    ) {
        kernel back  = gradient<<<ROWS, I>>>(&dy, &w, &x, &mut dx, I as u32, O as u32);
        kernel learn = descend<<<O, I>>>(&dy, &x, &mut w, &mut b, RATE, ROWS as u32, I as u32) after back;
    }
}

/// A layer with `relu`, whose inputs need no gradients.
///
/// # Errors
/// If the device has too little memory.
pub fn first_layer<const I: usize, const O: usize>(
    device: &Device,
    layer: Layer<I, O>,
) -> Result<Graphed<Rows<I>, Rows<O>, ()>> {
    let Layer { w, b } = layer;
    let (inputs, outputs, grad_outputs) = (device.alloc()?, device.alloc()?, device.alloc()?);
    let forward = Forward::<I, O>::build(device, 1, &inputs, &w, &b, &outputs)?;
    let backward = Learn::<I, O>::build(device, &inputs, &grad_outputs, w, b)?;
    let memory = GraphedMemory {
        inputs,
        outputs,
        grad_outputs,
        grad_inputs: (),
    };
    Ok(Graphed::new(device, memory, forward, backward))
}

/// A layer after one with `relu`.
///
/// # Errors
/// If the device has too little memory.
pub fn next_layer<const I: usize, const O: usize>(
    device: &Device,
    layer: Layer<I, O>,
) -> Result<Graphed<Rows<I>, Rows<O>>> {
    let Layer { w, b } = layer;
    let (inputs, outputs) = (device.alloc()?, device.alloc()?);
    let (grad_outputs, grad_inputs) = (device.alloc()?, device.alloc()?);
    let forward = Forward::<I, O>::build(device, 0, &inputs, &w, &b, &outputs)?;
    let backward = Backward::<I, O>::build(device, &inputs, &grad_outputs, w, b, &grad_inputs)?;
    let memory = GraphedMemory {
        inputs,
        outputs,
        grad_outputs,
        grad_inputs,
    };
    Ok(Graphed::new(device, memory, forward, backward))
}
