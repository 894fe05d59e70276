//! The step of `train_conv` without a graph: the same kernels, launched one by one on a stream.

use super::{BATCH, C1, C2, CELLS1, CLASSES, Data, FEATURES, PARTS, PIXELS, Weights};
use crate::memory::Stages;
use graph_runtime::bytemuck::{Pod, cast_slice};
use graph_runtime::cudarc::driver::result::{
    free_sync, malloc_sync, memcpy_dtoh_sync, memcpy_htod_sync, memset_d8_sync,
};
use graph_runtime::cudarc::driver::sys::CUdeviceptr;
use graph_runtime::cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// Device memory, by `cuMemAlloc` as that of graphs. It is freed when it is dropped, which waits for its kernels.
struct Memory {
    address: CUdeviceptr,
    bytes: usize,
}

impl Memory {
    fn zeroed(bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the caller has made the context current.
        let address = unsafe { malloc_sync(bytes) }?;
        let memory = Self { address, bytes };
        // SAFETY: the memory has this number of bytes.
        unsafe { memset_d8_sync(address, 0, bytes) }?;
        Ok(memory)
    }

    fn of<T: Pod>(numbers: &[T]) -> Result<Self, DriverError> {
        let memory = Self::zeroed(size_of_val(numbers))?;
        // SAFETY: the memory has the numbers' bytes.
        unsafe { memcpy_htod_sync::<u8>(memory.address, cast_slice(numbers)) }?;
        Ok(memory)
    }

    fn read(&self) -> Result<Vec<f32>, DriverError> {
        let mut numbers = vec![0.0_f32; self.bytes / size_of::<f32>()];
        // SAFETY: the memory has the numbers' bytes.
        unsafe { memcpy_dtoh_sync(&mut numbers, self.address) }?;
        Ok(numbers)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `zeroed` has allocated it, and only this frees it. An error, of an earlier launch, has been seen.
        let _ = unsafe { free_sync(self.address) };
    }
}

/// The weights, the memory and the kernels of a step, without a graph.
pub(super) struct Eager {
    stream: Arc<CudaStream>,
    kernels: [CudaFunction; 9],
    /// All images and labels, and those of a step.
    data: [Memory; 4],
    /// The numbers of all images.
    n: u32,
    weights: [Memory; 6],
    /// `h1`, `h2`; the gradients by the logits, by `h2`, by `h1` and by the second filters; which cells were chosen.
    values: [Memory; 8],
    /// The number of the step, and the losses.
    counts: [Memory; 2],
    steps: u32,
}

impl Eager {
    /// Allocates everything, and copies data and first weights.
    ///
    /// # Errors
    /// Any error of the driver.
    pub(super) fn new(
        context: &Arc<CudaContext>,
        data: &Data,
        steps: usize,
        stages: &mut Stages,
    ) -> Result<Self, DriverError> {
        let stream = context.new_stream()?;
        context.bind_to_thread()?;
        let n = data.labels.len() as u32;
        let (images, labels) = (Memory::of(&data.images)?, Memory::of(&data.labels)?);
        stages.end("data ready", images.bytes + labels.bytes);
        let first = Weights::first();
        let [w1, b1, w2, b2, w3, b3] = first.parts().map(Memory::of);
        let weights = [w1?, b1?, w2?, b2?, w3?, b3?];
        stages.end("model ready", weights.iter().map(|part| part.bytes).sum());
        let (x, y) = (Memory::zeroed(BATCH * PIXELS * 4)?, Memory::zeroed(BATCH * 4)?);
        stages.end("static inputs", x.bytes + y.bytes);
        let module = context.load_module(Ptx::from_src(include_str!("../../kernels/train_conv.ptx")))?;
        let kernel = |name| module.load_function(name);
        let kernels = [
            kernel("pick")?,
            kernel("conv1")?,
            kernel("conv2")?,
            kernel("head")?,
            kernel("conv2_backward")?,
            kernel("conv2_gradient")?,
            kernel("linear_descend")?,
            kernel("filters_descend")?,
            kernel("conv1_descend")?,
        ];
        let values = [
            Memory::zeroed(BATCH * C1 * CELLS1 * 4)?,
            Memory::zeroed(BATCH * FEATURES * 4)?,
            Memory::zeroed(BATCH * CLASSES * 4)?,
            Memory::zeroed(BATCH * FEATURES * 4)?,
            Memory::zeroed(BATCH * C1 * CELLS1 * 4)?,
            Memory::zeroed(PARTS * C2 * C1 * 9 * 4)?,
            Memory::zeroed(BATCH * C1 * CELLS1)?,
            Memory::zeroed(BATCH * FEATURES)?,
        ];
        let counts = [Memory::zeroed(4)?, Memory::zeroed(steps * 4)?];
        stages.end(
            "graph built",
            values.iter().chain(&counts).map(|memory| memory.bytes).sum(),
        );
        Ok(Self {
            stream,
            kernels,
            data: [images, labels, x, y],
            n,
            weights,
            values,
            counts,
            steps: steps as u32,
        })
    }

    /// Queues one step.
    ///
    /// # Errors
    /// Any error of the driver.
    pub(super) fn launch(&mut self, rate: f32) -> Result<(), DriverError> {
        let [images, labels, x, y] = self.data.each_ref().map(|memory| memory.address);
        let [w1, b1, w2, b2, w3, b3] = self.weights.each_ref().map(|memory| memory.address);
        let [h1, h2, d, dh2, dh1, dw2, which1, which2] = self.values.each_ref().map(|memory| memory.address);
        let [step, losses] = self.counts.each_ref().map(|memory| memory.address);
        let (n, steps, parts, taps, cells) = (self.n, self.steps, PARTS as u32, 144_u32, 16_u32);
        let [
            pick,
            conv1,
            conv2,
            head,
            conv2_backward,
            conv2_gradient,
            linear,
            filters,
            conv1_descend,
        ] = &self.kernels;
        macro_rules! launch {
            ($kernel:ident, $grid:expr, $threads:literal, $($argument:ident),*) => {{
                let (grid_dim, block_dim) = ($grid, ($threads, 1, 1));
                let mut builder = self.stream.launch_builder($kernel);
                $(builder.arg(&$argument);)*
                // SAFETY: arguments and launches are those of the graph `Own`, which `#[requires]` bounds.
                unsafe { builder.launch(LaunchConfig { grid_dim, block_dim, shared_mem_bytes: 0 }) }?;
            }};
        }
        launch!(pick, (32, 1, 1), 256, images, labels, step, n, x, y);
        launch!(conv1, (32, 4, 1), 256, x, w1, b1, h1, which1);
        launch!(conv2, (32, 4, 1), 256, h1, w2, b2, h2, which2);
        launch!(head, (32, 1, 1), 512, h2, w3, b3, y, step, d, dh2, losses, steps);
        launch!(conv2_backward, (32, 4, 1), 256, dh2, which2, w2, h1, dh1);
        launch!(conv2_gradient, (32, 8, 1), 256, h1, dh2, which2, dw2);
        launch!(linear, (40, 1, 1), 128, h2, d, w3, b3, rate, step);
        launch!(filters, (32, 1, 1), 256, dw2, dh2, h2, w2, b2, rate, parts, taps, cells);
        launch!(conv1_descend, (16, 3, 1), 512, x, dh1, which1, w1, b1, rate);
        Ok(())
    }

    /// Waits for all steps.
    ///
    /// # Errors
    /// Any error of the driver.
    pub(super) fn wait(&self) -> Result<(), DriverError> {
        self.stream.synchronize()
    }

    /// Copies the weights to the host; waits for all steps.
    ///
    /// # Errors
    /// Any error of the driver.
    pub(super) fn weights(&self) -> Result<Weights, DriverError> {
        self.wait()?;
        let [w1, b1, w2, b2, w3, b3] = self.weights.each_ref().map(Memory::read);
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
