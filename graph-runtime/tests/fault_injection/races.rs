//! Another thread captures the stream while a graph is launched on it.

use crate::fake::device;
use crate::graphs::{Small, check};
use graph_runtime::cudarc::driver::{result, sys};
use graph_runtime::fault_injection as faults;
use graph_runtime::{CudaStream, Device, Error, GraphBuilder, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// The graph that was captured, as an address; 0 if there is none.
type Captured = Arc<AtomicUsize>;

fn new_stream(device: &Device) -> Arc<CudaStream> {
    let context = device.context().expect("a CUDA device has a context");
    context.new_stream().expect("a new stream")
}

/// A function that begins a capture, on another thread.
fn begin(stream: &Arc<CudaStream>) -> impl FnOnce() + Send + 'static {
    let stream = stream.clone();
    move || {
        let begun = thread::spawn(move || stream.begin_capture(RELAXED));
        begun.join().expect("the thread ends").expect("the capture begins");
    }
}

/// Other modes would have to be ended on the thread that began them.
const RELAXED: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// Ends the capture of a stream.
fn end_now(stream: &CudaStream, captured: &Captured) {
    stream.context().bind_to_thread().expect("the context binds");
    // SAFETY: the stream lives, and its context is current.
    let ended = unsafe { result::stream::end_capture(stream.cu_stream()) };
    captured.store(ended.map_or(0, |graph| graph.expose_provenance()), SeqCst);
}

/// A function that ends the capture, on another thread.
fn end(stream: &Arc<CudaStream>, captured: &Captured) -> impl FnOnce() + Send + 'static {
    let (stream, captured) = (stream.clone(), captured.clone());
    move || {
        thread::spawn(move || end_now(&stream, &captured))
            .join()
            .expect("the thread ends")
    }
}

/// Runs what was captured, if anything was.
fn run_captured(stream: &CudaStream, captured: &Captured) {
    let graph: sys::CUgraph = std::ptr::with_exposed_provenance_mut(captured.load(SeqCst));
    if graph.is_null() {
        return;
    }
    stream.context().bind_to_thread().expect("the context binds");
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    // SAFETY: the graph was captured, and lives.
    let exec = unsafe { result::graph::instantiate(graph, flags) }.expect("it was captured whole");
    // SAFETY: its memory is kept, which is what these tests are about.
    unsafe { result::graph::launch(exec, stream.cu_stream()) }.expect("it runs");
    stream.synchronize().expect("its memory is still there");
    // SAFETY: it has run, and is not used again.
    unsafe { result::graph::exec_destroy(exec) }.expect("it is destroyed");
    // SAFETY: as above.
    unsafe { result::graph::destroy(graph) }.expect("it is destroyed");
}

fn launches_and_is_right(graph: &mut Small) -> Result<()> {
    graph.launch()?;
    check(*graph.output()?, [42; 8]);
    Ok(())
}

#[test]
fn a_capture_that_begins_during_a_launch_becomes_invalid() -> Result<()> {
    let Some((device, _turn)) = device("races::a_capture_that_begins_during_a_launch_becomes_invalid") else {
        return Ok(());
    };
    for call in ["cuGraphLaunch", "cuEventRecord"] {
        let (mut graph, stream) = (Small::build(&device)?, new_stream(&device));
        faults::start();
        faults::before(call, 1, begin(&stream));
        let error = graph.launch_on(&stream).unwrap_err();
        assert!(matches!(error, Error::Stream { .. }), "{error}");
        assert!(
            error
                .to_string()
                .starts_with("graph `Small`: another thread began to capture the stream during the launch;"),
            "{error}"
        );
        let captured = Captured::default();
        end_now(&stream, &captured);
        assert_eq!(captured.load(SeqCst), 0, "no graph comes of the capture");
        launches_and_is_right(&mut graph)?;
        graph.launch_on(&stream)?;
        check(*graph.output()?, [42; 8]);
    }
    Ok(())
}

#[test]
fn a_launch_that_was_captured_keeps_its_memory_for_ever() -> Result<()> {
    let Some((device, _turn)) = device("races::a_launch_that_was_captured_keeps_its_memory_for_ever") else {
        return Ok(());
    };
    let (mut graph, stream) = (Small::build(&device)?, new_stream(&device));
    let captured = Captured::default();
    faults::start();
    faults::before("cuGraphLaunch", 1, begin(&stream));
    faults::after("cuStreamIsCapturing", 2, end(&stream, &captured));
    let text = "graph `Small`: another thread captured the stream during a launch";
    let error = graph.launch_on(&stream).unwrap_err();
    assert!(error.to_string().starts_with(text), "{error}");
    assert_ne!(
        captured.load(SeqCst),
        0,
        "the capture was ended before it became invalid"
    );
    let error = graph.launch().unwrap_err();
    assert!(error.to_string().starts_with(text), "{error}");
    assert!(graph.launch_on(&stream).unwrap_err().to_string().starts_with(text));
    let error = graph.output().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Small`: cuEventSynchronize failed: CUDA_ERROR_CAPTURED_EVENT (907)"
    );
    assert!(graph.data().is_err() && graph.synchronize().is_err());
    let before = faults::live();
    drop(graph);
    assert_eq!(faults::live(), before, "nothing is freed");
    run_captured(&stream, &captured);
    Ok(())
}

#[test]
fn a_capture_that_begins_and_ends_during_a_launch_is_found_by_the_event() -> Result<()> {
    let Some((device, _turn)) = device("races::a_capture_that_begins_and_ends_during_a_launch_is_found_by_the_event")
    else {
        return Ok(());
    };
    let (mut graph, stream) = (Small::build(&device)?, new_stream(&device));
    let captured = Captured::default();
    faults::start();
    faults::before("cuGraphLaunch", 1, begin(&stream));
    faults::before("cuStreamIsCapturing", 2, end(&stream, &captured));
    graph.launch_on(&stream)?; // nothing shows yet
    let error = graph.output().unwrap_err();
    assert!(error.to_string().contains("cuEventSynchronize failed"), "{error}");
    let before = faults::live();
    drop(graph);
    assert_eq!(faults::live(), before, "nothing is freed");
    run_captured(&stream, &captured);
    Ok(())
}

#[test]
fn shared_memory_of_a_captured_launch_is_kept_from_others() -> Result<()> {
    let Some((device, _turn)) = device("races::shared_memory_of_a_captured_launch_is_kept_from_others") else {
        return Ok(());
    };
    let data = device.alloc::<[u32; 8]>()?;
    let build = |value: u32| {
        let mut builder = GraphBuilder::new(&device, "Set");
        let mut place = builder.shared("data", &data, true);
        builder.memset("set", &mut place, value);
        builder.build()
    };
    let (mut first, mut second, stream) = (build(1)?, build(2)?, new_stream(&device));
    let captured = Captured::default();
    faults::start();
    faults::before("cuGraphLaunch", 1, begin(&stream));
    faults::after("cuStreamIsCapturing", 2, end(&stream, &captured));
    assert!(first.launch_on(&stream).is_err());
    for error in [
        data.read().map(drop).unwrap_err(),
        data.copy_from(&[0; 8]).unwrap_err(),
        second.launch().unwrap_err(),
        second.launch_on(&stream).unwrap_err(),
    ] {
        assert!(error.to_string().contains("CUDA_ERROR_CAPTURED_EVENT"), "{error}");
    }
    drop(second);
    let memory = |object| faults::live().get(object).copied();
    let before = memory("device memory");
    drop((first, data));
    assert_eq!(memory("device memory"), before, "nothing is freed");
    run_captured(&stream, &captured);
    Ok(())
}

#[test]
fn captures_at_any_time_break_nothing() -> Result<()> {
    let Some((device, _turn)) = device("races::captures_at_any_time_break_nothing") else {
        return Ok(());
    };
    const LAUNCHES: usize = 3000;
    let stream = new_stream(&device);
    let (stop, captures) = (AtomicBool::new(false), AtomicUsize::new(0));
    let outcomes = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                if stream.begin_capture(RELAXED).is_ok() {
                    let captured = Captured::default();
                    end_now(&stream, &captured);
                    captures.fetch_add(1, SeqCst);
                }
                thread::yield_now();
            }
        });
        let launched = launch_often(&device, &stream, LAUNCHES);
        stop.store(true, SeqCst);
        launched
    });
    println!(
        "faults: {outcomes:?} of {LAUNCHES} launches, {} captures",
        captures.load(SeqCst)
    );
    let outcomes = outcomes?;
    assert_eq!(outcomes.iter().sum::<usize>(), LAUNCHES);
    launches_and_is_right(&mut Small::build(&device)?)
}

/// The numbers of launches that ran, that were refused, and that were lost to a capture.
fn launch_often(device: &Device, stream: &CudaStream, launches: usize) -> Result<[usize; 3]> {
    let mut graph = Small::build(device)?;
    let mut outcomes = [0; 3];
    for _ in 0..launches {
        match graph.launch_on(stream) {
            Ok(()) => outcomes[0] += 1,
            Err(Error::Stream { .. } | Error::Cuda { .. }) => outcomes[1] += 1,
            Err(error) => return Err(error),
        }
        // While another thread captures, even waiting may fail, and a later wait succeeds. A launch that was captured
        // is never waited for.
        let waited = (0..100).find(|_| graph.synchronize().is_ok());
        if waited.is_none() {
            outcomes[2] += 1;
            outcomes[usize::from(outcomes[0] == 0)] -= 1;
            graph = Small::build(device)?;
        }
    }
    Ok(outcomes)
}
