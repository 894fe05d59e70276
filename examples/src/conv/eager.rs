//! The step of `train_conv` without a graph: the same kernels, launched one by one on a stream.

use super::{BATCH, C1, CELLS1, CLASSES, Data, FEATURES, PIXELS, Weights};
use crate::memory::Stages;
use graph_runtime::cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// Launches a kernel.
macro_rules! launch {
    ($stream:ident, $kernel:ident, ($x:literal, $y:literal), $threads:literal, $($argument:expr),*) => {{
        let mut builder = $stream.launch_builder($kernel);
        $(builder.arg($argument);)*
        // SAFETY: arguments and launches are those of the graph `Own`, which `#[requires]` bounds.
        unsafe {
            builder.launch(LaunchConfig {
                grid_dim: ($x, $y, 1),
                block_dim: ($threads, 1, 1),
                shared_mem_bytes: 0,
            })
        }?;
    }};
}

/// The weights, the memory and the kernels of a step, without a graph.
pub(super) struct Eager {
    stream: Arc<CudaStream>,
    kernels: [CudaFunction; 8],
    images: CudaSlice<f32>,
    labels: CudaSlice<u32>,
    x: CudaSlice<f32>,
    y: CudaSlice<u32>,
    weights: [CudaSlice<f32>; 6],
    /// `h1`, `h2`, the gradients by the logits, by `h2` and by `h1`.
    values: [CudaSlice<f32>; 5],
    which: [CudaSlice<u8>; 2],
    step: CudaSlice<u32>,
    losses: CudaSlice<f32>,
}

impl Eager {
    /// Allocates everything, and copies data and first weights.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn new(
        context: &Arc<CudaContext>,
        data: &Data,
        steps: usize,
        stages: &mut Stages,
    ) -> Result<Self, DriverError> {
        let stream = context.new_stream()?;
        let module = context.load_module(Ptx::from_src(include_str!("../../kernels/train_conv.ptx")))?;
        let kernel = |name| module.load_function(name);
        let kernels = [
            kernel("pick")?,
            kernel("conv1")?,
            kernel("conv2")?,
            kernel("head")?,
            kernel("conv2_backward")?,
            kernel("conv2_descend")?,
            kernel("conv1_descend")?,
            kernel("linear_descend")?,
        ];
        let (images, labels) = (
            stream.clone_htod(data.images.as_flattened())?,
            stream.clone_htod(&data.labels)?,
        );
        stages.end("data ready", images.num_bytes() + labels.num_bytes());
        let weights = Weights::first();
        let [w1, b1, w2, b2, w3, b3] = weights.parts().map(|part| stream.clone_htod(part));
        let weights = [w1?, b1?, w2?, b2?, w3?, b3?];
        stages.end("model ready", weights.iter().map(|part| part.num_bytes()).sum());
        let (x, y) = (stream.alloc_zeros(BATCH * PIXELS)?, stream.alloc_zeros::<u32>(BATCH)?);
        stages.end("static inputs", x.num_bytes() + y.num_bytes());
        let values = [
            stream.alloc_zeros(BATCH * C1 * CELLS1)?,
            stream.alloc_zeros(BATCH * FEATURES)?,
            stream.alloc_zeros(BATCH * CLASSES)?,
            stream.alloc_zeros(BATCH * FEATURES)?,
            stream.alloc_zeros(BATCH * C1 * CELLS1)?,
        ];
        let which = [
            stream.alloc_zeros::<u8>(BATCH * C1 * CELLS1)?,
            stream.alloc_zeros::<u8>(BATCH * FEATURES)?,
        ];
        let (step, losses) = (stream.alloc_zeros::<u32>(1)?, stream.alloc_zeros::<f32>(steps)?);
        stream.synchronize()?;
        let bytes = values
            .iter()
            .map(|part| part.num_bytes())
            .chain(which.iter().map(|part| part.num_bytes()));
        stages.end(
            "graph built",
            bytes.sum::<usize>() + step.num_bytes() + losses.num_bytes(),
        );
        Ok(Self {
            stream,
            kernels,
            images,
            labels,
            x,
            y,
            weights,
            values,
            which,
            step,
            losses,
        })
    }

    /// Queues one step.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn launch(&mut self, rate: f32) -> Result<(), DriverError> {
        let [pick, conv1, conv2, head, backward, descend2, descend1, linear] = &self.kernels;
        let [w1, b1, w2, b2, w3, b3] = &mut self.weights;
        let [h1, h2, d, dh2, dh1] = &mut self.values;
        let [which1, which2] = &mut self.which;
        let (n, steps) = (self.labels.len() as u32, self.losses.len() as u32);
        let (x, y, step, losses) = (&mut self.x, &mut self.y, &mut self.step, &mut self.losses);
        let stream = &self.stream;
        launch!(
            stream,
            pick,
            (32, 1),
            256,
            &self.images,
            &self.labels,
            &*step,
            &n,
            &mut *x,
            &mut *y
        );
        launch!(stream, conv1, (32, 4), 256, &*x, &*w1, &*b1, &mut *h1, &mut *which1);
        launch!(stream, conv2, (32, 4), 128, &*h1, &*w2, &*b2, &mut *h2, &mut *which2);
        launch!(
            stream,
            head,
            (32, 1),
            320,
            &*h2,
            &*w3,
            &*b3,
            &*y,
            &*step,
            &mut *d,
            &mut *dh2,
            losses,
            &steps
        );
        launch!(stream, backward, (32, 4), 256, &*dh2, &*which2, &*w2, &*h1, &mut *dh1);
        launch!(stream, descend2, (32, 4), 576, &*h1, &*dh2, &*which2, w2, b2, &rate);
        launch!(stream, descend1, (16, 1), 512, &*x, &*dh1, &*which1, w1, b1, &rate);
        launch!(stream, linear, (20, 1), 256, &*h2, &*d, w3, b3, &rate, step);
        Ok(())
    }

    /// Waits for all steps.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn wait(&self) -> Result<(), DriverError> {
        self.stream.synchronize()
    }

    /// Copies the weights to the host; waits for all steps.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn weights(&self) -> Result<Weights, DriverError> {
        let [w1, b1, w2, b2, w3, b3] = self.weights.each_ref().map(|part| self.stream.clone_dtoh(part));
        Ok(Weights {
            w1: w1?,
            b1: b1?,
            w2: w2?,
            b2: b2?,
            w3: w3?,
            b3: b3?,
        })
    }
}
