//! A program of cudarc's, which knows nothing of this project: copies, kernels, streams, events, and a captured graph.

use crate::has_driver;
use crate::setup::PTX;
use graph_runtime::cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg, sys};
use graph_runtime::cudarc::nvrtc::Ptx;

const THREAD_LOCAL: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const FLAGS: sys::CUgraphInstantiate_flags =
    sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

#[test]
#[ignore = "needs a CUDA device"]
fn a_captured_graph_runs_at_every_launch() -> Result<(), DriverError> {
    assert!(has_driver());
    let context = CudaContext::new(0)?;
    let module = context.load_module(Ptx::from_src(PTX))?;
    let one = module.load_function("one")?;
    let stream = context.new_stream()?;
    let mut numbers = stream.clone_htod(&[7_u32; 64])?;
    let mut copy = stream.alloc_zeros::<u32>(64)?;
    stream.synchronize()?;
    // SAFETY: events between streams would become part of the capture; one stream uses the memory.
    unsafe { context.disable_event_tracking() };

    stream.begin_capture(THREAD_LOCAL)?;
    stream.memset_zeros(&mut numbers)?;
    let mut builder = stream.launch_builder(&one);
    builder.arg(&mut numbers);
    // SAFETY: the kernel writes the first number.
    unsafe { builder.launch(LaunchConfig::for_num_elems(1)) }?;
    stream.memcpy_dtod(&numbers, &mut copy)?;
    let graph = stream.end_capture(FLAGS)?.expect("a graph");

    assert_eq!(stream.clone_dtoh(&numbers)?, [7; 64], "nothing has run yet");
    for _ in 0..3 {
        graph.launch()?;
        let read = stream.clone_dtoh(&copy)?;
        stream.synchronize()?;
        assert_eq!(read[..2], [1, 0]);
        stream.memcpy_htod(&[9; 64], &mut numbers)?;
        stream.memcpy_htod(&[9; 64], &mut copy)?;
    }
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn streams_wait_for_events() -> Result<(), DriverError> {
    assert!(has_driver());
    let context = CudaContext::new(0)?;
    let (first, second) = (context.new_stream()?, context.new_stream()?);
    for round in 0..20_u32 {
        let numbers = first.clone_htod(&vec![round; 1 << 12])?;
        let mut copy = second.alloc_zeros::<u32>(1 << 12)?;
        second.join(&first)?;
        second.memcpy_dtod(&numbers, &mut copy)?;
        let read = second.clone_dtoh(&copy)?;
        second.synchronize()?;
        assert!(read.iter().all(|number| *number == round));
    }
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_kernel_beyond_its_memory_loses_the_context_of_its_process() -> Result<(), DriverError> {
    // On a GPU this would end the other tests of this process.
    if !crate::is_software() {
        return Ok(());
    }
    let context = CudaContext::new_non_primary(0, 0)?;
    let module = context.load_module(Ptx::from_src(PTX))?;
    let one = module.load_function("one")?;
    let stream = context.new_stream()?;
    let nowhere = 64_u64;
    let mut builder = stream.launch_builder(&one);
    builder.arg(&nowhere);
    // SAFETY: the driver in software finds that the address is none.
    unsafe { builder.launch(LaunchConfig::for_num_elems(1)) }?;
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.0, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert!(stream.clone_htod(&[1_u32]).is_err());
    drop(builder);
    std::mem::forget((stream, module, context));
    Ok(())
}
