//! Inference of one image without a graph.

use super::{CLASSES, Model, PIXELS};
use graph_runtime::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{BoxError, Device};
use std::sync::Arc;

/// Returns a function that copies an image to the device, launches the kernel, and copies the logits back: all queued
/// on a stream, call by call.
///
/// # Errors
/// Any error of the driver.
pub fn calls(
    device: &Device,
    context: &Arc<CudaContext>,
    model: &Model,
) -> Result<impl FnMut(&[f32; PIXELS]) -> Result<[f32; CLASSES], BoxError> + use<>, BoxError> {
    let stream = CudaContext::new_stream(context)?;
    let module = context.load_module(Ptx::from_src(include_str!("../../kernels/infer.ptx")))?;
    let kernel = module.load_function("infer")?;
    let [layer1, layer2, layer3] = model.read()?.layers().map(|(layer, _)| stream.clone_htod(&*layer));
    let (layer1, layer2, layer3) = (layer1?, layer2?, layer3?);
    let (mut x, mut y) = (stream.alloc_zeros::<f32>(PIXELS)?, stream.alloc_zeros::<f32>(CLASSES)?);
    let mut image = device.alloc_host::<[f32; PIXELS]>()?;
    let mut logits = device.alloc_host::<[f32; CLASSES]>()?;
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (1024, 1, 1),
        shared_mem_bytes: 0,
    };
    Ok(move |pixels: &[f32; PIXELS]| {
        *image = *pixels;
        stream.memcpy_htod(image.as_slice(), &mut x)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&x).arg(&layer1).arg(&layer2).arg(&layer3).arg(&mut y);
        // SAFETY: one row of `x` and of `y`, three whole layers, and a block of 1,024 threads, as the kernel's contract
        // says.
        unsafe { launch.launch(config) }?;
        stream.memcpy_dtoh(&y, logits.as_mut_slice())?;
        stream.synchronize()?;
        Ok(*logits)
    })
}
