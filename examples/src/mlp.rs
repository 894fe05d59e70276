//! Linear layers: their kernels, and the perceptron of two layers that `mlp` trains and `server` serves.

use graph_runtime::{Device, DeviceBuffer, Result, cuda_kernels};

#[cuda_kernels("kernels/mlp.ptx", prove)]
unsafe extern "C" {
    /// `y[r][c] = x[r] . w[c] + b[c]`, not below 0 where `relu`; a block for each row, a thread for each column
    #[requires(grid.x * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= b.len() && grid.x * outputs <= y.len())]
    #[requires(outputs <= block.x)]
    pub safe fn linear(x: &[f32], w: &[f32], b: &[f32], y: &mut [f32], inputs: u32, outputs: u32, relu: u32);
    /// Adds the mean squared error of `y` to `loss`, and writes its gradient by `y` to `dy`; a thread for each of `n`
    #[requires(n <= threads && n <= y.len() && n <= target.len() && n <= dy.len())]
    pub safe fn squared_error(y: &[f32], target: &[f32], dy: &mut [f32], loss: &mut f32, n: u32);
    /// `dx[r][k]`: the gradient by the outputs of `linear` and its `relu`; a block for each row, a thread for each
    /// input
    #[requires(grid.x * outputs <= dy.len() && outputs * inputs <= w.len() && grid.x * inputs <= x.len() && grid.x * inputs <= dx.len())]
    #[requires(inputs <= block.x)]
    pub safe fn gradient(dy: &[f32], w: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32);
    /// `w -= rate * dy^T x`, and `b` likewise; a block for each output, a thread for each input
    #[requires(rows * grid.x <= dy.len() && rows * inputs <= x.len() && grid.x * inputs <= w.len() && grid.x <= b.len())]
    #[requires(inputs <= block.x)]
    pub safe fn descend(dy: &[f32], x: &[f32], w: &mut [f32], b: &mut [f32], rate: f32, rows: u32, inputs: u32);
}

/// The weights of a linear layer on a device, a row for each of `O` outputs, and its biases.
#[derive(Clone, Debug)]
pub struct Layer<const I: usize, const O: usize> {
    /// The weights.
    pub w: DeviceBuffer<[[f32; I]; O]>,
    /// The biases.
    pub b: DeviceBuffer<[f32; O]>,
}

impl<const I: usize, const O: usize> Layer<I, O> {
    /// Random weights, within plus and minus `scale`, and no biases.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &Device, random: &mut impl FnMut() -> f32, scale: f32) -> Result<Self> {
        let (w, b) = (device.alloc::<[[f32; I]; O]>()?, device.alloc()?);
        w.copy_from(&[(); O].map(|()| [(); I].map(|()| random() * scale)))?;
        Ok(Self { w, b })
    }

    /// Reads the weights and the biases.
    ///
    /// # Errors
    /// If a graph that writes them has failed.
    pub fn numbers(&self) -> Result<[Vec<f32>; 2]> {
        Ok([self.w.read()?.as_flattened().to_vec(), self.b.read()?.to_vec()])
    }

    /// Sets the weights and the biases, to what [`numbers`](Self::numbers) has read.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn set(&self, w: &[f32], b: &[f32]) -> Result<()> {
        self.w.rows(..)?.copy_from(w.as_chunks().0)?;
        self.b.rows(..)?.copy_from(b)
    }

    /// Reads the weights, and returns the function that the layer computes, in plain Rust.
    ///
    /// # Errors
    /// If a graph that writes the weights has failed.
    pub fn plain(&self) -> Result<impl Fn(&[f32; I]) -> [f32; O] + use<I, O>> {
        let (w, b) = (self.w.read()?, self.b.read()?);
        let dot = |x: &[f32; I], w: &[f32; I]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>();
        Ok(move |x: &[f32; I]| std::array::from_fn(|output| dot(x, &w[output]) + b[output]))
    }
}

/// Two layers with ReLU between, in plain Rust.
///
/// # Errors
/// As [`Layer::plain`].
pub fn perceptron<const I: usize, const H: usize, const O: usize>(
    first: &Layer<I, H>,
    second: &Layer<H, O>,
) -> Result<impl Fn(&[f32; I]) -> [f32; O] + use<I, H, O>> {
    let (first, second) = (first.plain()?, second.plain()?);
    Ok(move |x: &[f32; I]| second(&first(x).map(|hidden| hidden.max(0.0))))
}
