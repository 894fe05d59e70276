//! Features of CUDA devices only: streams and contexts of the user's, captures, limits of the device.

use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{CudaContext, CudaSlice, LaunchConfig, PushKernelArg, sys};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::sync::mpsc;

const THREAD_LOCAL: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const GLOBAL: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const INSTANTIATE: sys::CUgraphInstantiate_flags =
    sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

/// Takes its time, then counts how often it ran.
fn counter(device: &Device) -> Result<(Graph, Place<[u32; 1], OnHost>)> {
    let mut builder = GraphBuilder::new(device, "Counter");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut seen = builder.device::<[u32; 1]>("seen");
    let mut output = builder.host::<[u32; 1]>("output");
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps() / 8, &mut flag));
    let count = builder.kernel("count", Launch::new(1, 1), count::call(&mut seen));
    let download = builder.memcpy("download", &seen, &mut output);
    in_order(&mut builder, &[slow, count, download]);
    Ok((builder.build()?, output))
}

#[test]
#[ignore = "needs a CUDA device"]
fn names_and_raw_handles() -> Result<()> {
    let (device, _turn) = cuda();
    assert!(!device.is_emulator());
    device.name().begins("NVIDIA");
    refused(Device::cuda(1000)).begins("there is no CUDA device 1000; there are ");
    assert!(!Device::any().expect("the same device").is_emulator());

    let (graph, _) = counter(&device)?;
    let raw = graph.raw().expect("a CUDA graph has handles");
    assert!(!raw.graph.is_null() && !raw.exec.is_null() && !raw.stream.is_null());
    let mut nodes = 0;
    // SAFETY: the graph lives; a null list asks for the number of nodes.
    let result = unsafe { sys::cuGraphGetNodes(raw.graph, std::ptr::null_mut(), &mut nodes) };
    let nodes = if delayed() { nodes / 2 } else { nodes };
    assert_eq!((result, nodes), (sys::CUresult::CUDA_SUCCESS, 3));
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn launches_on_streams_of_the_users() -> Result<()> {
    let (device, _turn) = cuda();
    let (mut graph, output) = counter(&device)?;
    let stream = new_stream(&device);
    graph.launch_on(&stream)?;
    assert_eq!(graph.host(&output)?, &[1], "an accessor waits for the user's stream");
    graph.launch()?;
    graph.launch_on(&stream)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[4]); // launches on several streams follow each other
    graph.launch_on(&context(&device).default_stream())?;
    graph.launch_on(&context(&device).per_thread_stream())?;
    assert_eq!(graph.host(&output)?, &[6]);

    let (mut graph, output) = counter(&device)?;
    let stream = new_stream(&device);
    graph.launch_on(&stream)?;
    drop(stream);
    assert_eq!(graph.host(&output)?, &[1]);
    let stream = new_stream(&device);
    graph.launch_on(&stream)?;
    drop(stream);
    drop(graph);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn capturing_streams_are_refused_and_go_on_capturing() -> Result<()> {
    let (device, _turn) = cuda();
    let (mut graph, output) = counter(&device)?;
    for mode in [THREAD_LOCAL, GLOBAL] {
        let stream = new_stream(&device);
        stream.begin_capture(mode).expect("capture begins");
        let error = graph.launch_on(&stream).unwrap_err();
        assert!(matches!(error, Error::Stream { .. }), "{error}");
        error.begins("graph `Counter`: the stream is being captured");
        graph.launch()?; // its own stream is not captured
        graph.synchronize()?;
        stream.end_capture(INSTANTIATE).expect("the capture is still valid");
    }
    assert_eq!(graph.host(&output)?, &[2]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_capture_on_another_thread_is_not_disturbed() -> Result<()> {
    let (device, _turn) = cuda();
    let (mut graph, output) = counter(&device)?;
    let stream = new_stream(&device);
    let (begun, wait_for_begun) = mpsc::channel();
    let (done, wait_for_done) = mpsc::channel::<()>();
    let capture = std::thread::spawn(move || {
        stream.context().bind_to_thread().expect("the context binds");
        stream.begin_capture(GLOBAL).expect("capture begins");
        begun.send(()).expect("somebody listens");
        let _ = wait_for_done.recv();
        stream.end_capture(INSTANTIATE).map(drop)
    });
    wait_for_begun.recv().expect("the capture begins");
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[1]);
    let (mut second, of_second) = counter(&device)?; // allocates, loads, instantiates
    second.launch()?;
    assert_eq!(second.host(&of_second)?, &[1]);
    drop(second); // frees
    let buffer = device.alloc::<[f32; 16]>()?;
    buffer.copy_from(&counting())?;
    assert_eq!(*buffer.read()?, counting());
    drop((graph, buffer));
    drop(done);
    let ended = capture.join().expect("the thread ends");
    ended.expect("the capture is still valid");
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn streams_of_other_contexts_are_refused_and_any_may_be_current() -> Result<()> {
    let (device, _turn) = cuda();
    let (mut graph, _) = counter(&device)?;
    let other = Device::from(CudaContext::new_non_primary(0, 0).expect("a second context"));
    refused(graph.launch_on(&new_stream(&other))).reads("graph `Counter`: the stream belongs to another context");

    let other = Device::from(CudaContext::new_non_primary(0, 0).expect("a second context"));
    let ((mut graph, output), (mut second, of_second)) = (counter(&device)?, counter(&other)?);
    for count in 1..=3 {
        context(&other).bind_to_thread().expect("the context binds");
        graph.launch()?;
        context(&device).bind_to_thread().expect("the context binds");
        second.launch()?;
        assert_eq!(graph.host(&output)?, &[count]);
        assert_eq!(second.host(&of_second)?, &[count]);
    }
    // The last handles of the context go with the graph.
    drop(other);
    second.launch()?;
    drop(second);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_comes_from_cudarc_and_goes_there() -> Result<()> {
    let (device, _turn) = cuda();
    let stream = new_stream(&device);
    let numbers: Vec<f32> = counting::<1000>().into();
    let slice: CudaSlice<f32> = stream.clone_htod(&numbers).expect("a copy");
    let buffer = DeviceBuffer::from(slice);
    assert_eq!((buffer.len(), buffer.bytes()), (1000, 4000));
    assert_eq!(buffer.read_vec()?, numbers);
    buffer.copy_from(&[2.0; 1000])?;
    assert_eq!(read_by_cudarc(&buffer, &stream)?, [2.0; 1000]);
    drop(stream);
    assert_eq!(buffer.read_vec()?, [2.0; 1000]);

    let ours = device.alloc_slice::<u32>(64)?;
    ours.copy_from(&[7; 64])?;
    let stream = new_stream(&device);
    assert_eq!(read_by_cudarc(&ours, &stream)?, [7; 64]);
    assert_eq!(ours.read_vec()?, [7; 64], "still ours");
    Ok(())
}

/// Work from before the buffer was made, of which the events of a slice of a part know nothing.
#[test]
#[ignore = "needs a CUDA device"]
fn a_slice_is_lent_after_work_that_could_not_be_waited_for() -> Result<()> {
    let (device, _turn) = cuda();
    let (writer, captured, reader) = (new_stream(&device), new_stream(&device), new_stream(&device));
    let module = context(&device).load_module(Ptx::from_src(include_str!("../kernels/test_kernels.ptx")));
    let slow = module
        .and_then(|module| module.load_function("slow"))
        .expect("the kernel");
    let mut flag = writer.alloc_zeros::<u32>(1).expect("memory");
    let mut slice = writer.clone_htod(&[5.0_f32; 64]).expect("a copy");
    writer.synchronize().expect("done");

    captured.begin_capture(THREAD_LOCAL).expect("capture begins");
    let (steps, one) = (slow_steps(), LaunchConfig::for_num_elems(1));
    // SAFETY: `slow` writes the one element of `flag`.
    unsafe { writer.launch_builder(&slow).arg(&steps).arg(&mut flag).launch(one) }.expect("a launch");
    writer.memset_zeros(&mut slice).expect("a memset");
    let data = DeviceBuffer::from(slice); // CUDA lets nobody wait for the context now
    let _ = captured.end_capture(INSTANTIATE);
    assert_eq!(read_by_cudarc(&data.rows(32..)?, &reader)?, [0.0; 32]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn limits_of_the_device_and_of_changes_in_place() -> Result<()> {
    let (device, _turn) = cuda();
    let mut builder = GraphBuilder::new(&device, "Limits");
    let mut out = builder.device::<[u32; 1]>("out");
    let call = falsely::<Future, 1>([CallArgument::write(&mut out)]);
    builder.kernel("node", Launch::new(1, 1), call);
    refused(builder.build()).begins("graph `Limits`: kernel `count` is compiled for `sm_999`, but the device is `sm_");

    let mut builder = GraphBuilder::new(&device, "Limits");
    let from = builder.device::<[f32; 64]>("from");
    let mut to = builder.device::<[f32; 64]>("to");
    let launch = Launch::new(1, 64).shared(1 << 20);
    builder.kernel("reverse", launch, reverse_shared::call(&from, &mut to));
    refused(builder.build())
        .begins("graph `Limits`, node `reverse`: kernel `reverse_shared` needs 1048576 bytes of shared memory a block");

    let mut builder = GraphBuilder::new(&device, "Fixed");
    let mut data = builder.device::<[f64; 8]>("data");
    let set = builder.memset("set", &mut data, 0.0_f64);
    let mut graph = builder.build()?;
    let error = graph.update("value", |update| update.memset(set, &data, 0.1_f64));
    assert!(matches!(error, Err(Error::Unsupported { .. })));
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [0.0; 8]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn copies_of_more_than_four_gib_and_of_more_than_a_pitch() -> Result<()> {
    let (device, _turn) = cuda();
    const BYTES: usize = (4 << 30) + 4096;
    let mut builder = GraphBuilder::new(&device, "Large");
    let mut from = builder.device_slice::<u8>("from", BYTES);
    let mut to = builder.device_slice::<u8>("to", BYTES);
    let tail = BYTES - 4;
    let set = builder.memset("set", &mut from, 5_u8);
    let mark = builder.memset("mark", &mut from.rows(tail..), 9_u8);
    let copy = builder.memcpy("copy", &from, &mut to);
    in_order(&mut builder, &[set, mark, copy]);
    let mut graph = builder.build()?;
    graph.launch()?;
    let ends = graph.device(&to.rows(tail - 4..))?.read_vec()?;
    assert_eq!(ends, [5, 5, 5, 5, 9, 9, 9, 9]);
    assert_eq!(graph.device(&to.rows(..4))?.read_vec()?, [5; 4]);

    // The longest pitch of CUDA's copies is one byte less than 2 GiB.
    const LEN: usize = (1 << 28) + 3;
    let mut builder = GraphBuilder::new(&device, "Large");
    let mut from = builder.device_slice::<u64>("from", LEN);
    let mut to = builder.device_slice::<u64>("to", LEN);
    let mut last = builder.host::<[u64; 1]>("last");
    let set = builder.memset("set", &mut from, 7_u64);
    let copy = builder.memcpy("copy", &from, &mut to);
    let down = builder.memcpy("down", &to.rows_from::<1>(LEN - 1), &mut last);
    in_order(&mut builder, &[set, copy, down]);
    let mut graph = match builder.build() {
        Err(Error::Cuda { source, .. }) if source.code() == 2 => return Ok(()), // a small device
        built => built?,
    };
    graph.launch()?;
    assert_eq!(graph.host(&last)?, &[7]);
    Ok(())
}
