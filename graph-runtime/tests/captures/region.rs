//! A small region that is recorded from a stream, and the calls that it is made of: the driver's own asynchronous ones,
//! and a kernel that is launched by hand.

pub(crate) use crate::common::library::ONCE;
use crate::common::*;
use graph_runtime::cudarc::driver::{CudaFunction, CudaStream, LaunchConfig, PushKernelArg, sys};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::sync::Arc;

pub(crate) type Words = [u32; 64];
/// The type that `(&mut Place<Words, OnDevice>,)` is kept as.
pub(crate) type Kept = <(&'static mut Place<Words, OnDevice>,) as graph_runtime::NodeArguments>::Kept;

/// The usual options, with so many runs before the recording.
pub(crate) fn warm_up(warm_up: usize) -> CaptureOptions {
    CaptureOptions {
        warm_up,
        ..Default::default()
    }
}

/// The kernel `data[i] += value`, loaded by hand.
pub(crate) fn adder(device: &Device) -> CudaFunction {
    let module = context(device).load_module(Ptx::from_src(include_str!("../kernels/conditionals.ptx")));
    module
        .and_then(|module| module.load_function("add_to"))
        .expect("the kernel is there")
}

/// Launches `data[i] += value` on a stream.
pub(crate) fn add(stream: &Arc<CudaStream>, add: &CudaFunction, address: u64, value: u32) -> Result<(), BoxError> {
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (64, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: tests pass the address of 64 words, and declare to write them.
    unsafe { stream.launch_builder(add).arg(&address).arg(&value).launch(config) }?;
    Ok(())
}

/// Sets 64 words. As for `add`, the tests declare to write them.
pub(crate) fn set(stream: sys::CUstream, address: u64, value: u32) -> Result<(), BoxError> {
    // SAFETY: see above.
    Ok(unsafe { sys::cuMemsetD32Async(address, value, 64, stream) }.result()?)
}

/// A graph of what `calls` queues, which may write `data`.
pub(crate) fn recorded<F>(
    device: &Device,
    options: CaptureOptions,
    data: &DeviceBuffer<Words>,
    calls: F,
) -> Result<CapturedGraph>
where
    F: for<'n> FnMut(&CaptureStream<'n, Kept>) -> Result<(), BoxError> + Send + 'static,
{
    let mut builder = GraphBuilder::new(device, "Region");
    let mut data = builder.shared("data", data, true);
    builder.build_captured(options, (&mut data,), calls)
}

/// The message of a region that gives no graph.
pub(crate) fn refusal<F>(device: &Device, options: CaptureOptions, calls: F) -> String
where
    F: for<'n> FnMut(&CaptureStream<'n, Kept>) -> Result<(), BoxError> + Send + 'static,
{
    let data = device.alloc().expect("memory");
    let error = recorded(device, options, &data, calls).expect_err("it is refused");
    assert!(matches!(error, Error::Node { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("graph `Region`, node `recorded`: "), "{text}");
    text
}

/// Builds and runs a small region: the device is as good as new.
pub(crate) fn works(device: &Device) -> Result<()> {
    let data = device.alloc::<Words>()?;
    let mut graph = recorded(device, ONCE, &data, |stream| {
        set(stream.cu_stream(), stream.memory().0.address(), 5)
    })?;
    graph.launch()?;
    assert_eq!(*data.read()?, [5; 64]);
    Ok(())
}
