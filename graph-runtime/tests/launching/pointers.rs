//! Contexts and streams of other bindings to CUDA, which are pointers here.

use crate::common::*;
use graph_runtime::cudarc::driver::CudaContext;
use std::ptr;
use std::sync::Arc;

cuda_graph! {
    graph Counted {
        host   input:  [f32; 64];
        device data:   [f32; 64];
        host   output: [f32; 64];
        memcpy upload   = input -> data;
        kernel doubled  = scale<<<1, 64>>>(&mut data, 2.0, 64) after upload;
        memcpy download = data -> output                   after doubled;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn raw_handles_of_other_bindings_are_pointers() -> Result<()> {
    cuda_device();
    let others = CudaContext::new(0).expect("a context");
    let kept = Arc::new(());
    let keep_alive = (others.clone(), kept.clone());
    // SAFETY: `others` keeps the context alive.
    let device = unsafe { Device::from_raw_context(others.cu_ctx().cast(), keep_alive) }?;
    assert_eq!(device.raw(), Some(others.cu_ctx()));
    let mut graph = Counted::build(&device)?;
    let event = device.event()?;
    assert!(event.raw().is_some_and(|event| !event.is_null()));
    drop(device);
    *graph.input_mut()? = counting();
    let stream = others.new_stream().expect("a stream");
    // SAFETY: the stream is of the context, and lives; so does the null stream.
    for stream in [stream.cu_stream().cast(), ptr::null_mut()] {
        graph.output_mut()?.fill(0.0);
        // SAFETY: as above.
        unsafe { graph.launch_on_raw(stream) }?;
        assert_eq!(graph.output()?, &std::array::from_fn(|i| 2.0 * i as f32));
    }
    let raw = graph.raw().expect("a graph on CUDA");
    assert!(!raw.graph.is_null() && !raw.exec.is_null() && !raw.stream.is_null());
    assert_eq!(
        Arc::strong_count(&kept),
        2,
        "the graph keeps what keeps the context alive"
    );
    drop(graph);
    assert_eq!(Arc::strong_count(&kept), 1);
    // The context was not destroyed with the device.
    others.synchronize().expect("the context lives");
    Ok(())
}

#[test]
fn a_pointer_that_is_no_context_is_an_error() {
    // SAFETY: the null context is none, which the driver says.
    let device = unsafe { Device::from_raw_context(ptr::null_mut(), ()) };
    assert!(device.is_err());
}

#[test]
fn the_emulator_has_no_handles() -> Result<()> {
    let device = Device::emulator();
    let mut graph = Counted::build(&device)?;
    // SAFETY: the emulator has no streams.
    let launched = unsafe { graph.launch_on_raw(ptr::null_mut()) };
    assert!(matches!(launched, Err(Error::Unsupported { .. })));
    assert!(device.raw().is_none() && device.event()?.raw().is_none() && graph.raw().is_none());
    Ok(())
}
