//! Another thread captures the stream while a graph is launched on it.
//!
//! On a GPU, each test runs in a process of its own. Drivers differ: with 580, a graph cannot be launched on a stream
//! that is being captured; others may make the launch a part of the capture. Both are tested with the driver in
//! software. A test names the outcomes that are safe, and prints the one that it saw.

use crate::common::*;
use crate::graphs::Small;
use crate::software::{alone, device, end_late_child, is_child, run_again, turn};
use graph_runtime::cudarc::driver::{result, sys};
use graph_runtime::fault_injection as faults;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use std::{env, thread};

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

/// The drivers: with one, launches cannot be captured, and with the other, they can.
const BOTH: [&[(&str, &str)]; 2] = [&[], &[("CUDA_GRAPH_DRIVER_CAPTURES_LAUNCHES", "1")]];

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
    assert_eq!(*graph.output()?, [42; 8]);
    Ok(())
}

/// What came of a launch during which another thread captured the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No graph came of the capture. The error says so, and the graph can be launched again.
    Invalid,
    /// Waiting fails for ever, so that the memory is neither lent nor freed: the launch, or the recording of its event,
    /// is in a captured graph.
    Kept,
}

/// Looks at the graph after its launch, and after the end of the capture.
fn look(mut graph: Small, stream: &CudaStream, launched: Result<()>, captured: &Captured) -> Result<Seen> {
    const INVALID: &str = "graph `Small`: another thread began to capture the stream during the launch;";
    const KEPT: &str = "graph `Small`: another thread captured the stream during a launch";
    let launched = launched.map_err(|error| error.to_string());
    match &launched {
        Err(error) if error.starts_with(INVALID) => {
            assert_eq!(captured.load(SeqCst), 0, "no graph comes of the capture");
            launches_and_is_right(&mut graph)?;
            graph.launch_on(stream)?;
            assert_eq!(*graph.output()?, [42; 8]);
            return Ok(Seen::Invalid);
        }
        Err(error) if error.starts_with(KEPT) => {
            for refused in [graph.launch(), graph.launch_on(stream)] {
                assert!(refused.unwrap_err().to_string().starts_with(KEPT));
            }
        }
        Err(error) => panic!("{error}"),
        Ok(()) => {} // nothing has shown yet
    }
    refused(graph.output()).begins("graph `Small`: cuEventSynchronize failed: CUDA_ERROR_CAPTURED_EVENT");
    assert!(graph.data().is_err() && graph.synchronize().is_err());
    let before = faults::live();
    drop(graph);
    assert_eq!(faults::live(), before, "nothing is freed");
    run_captured(stream, captured);
    Ok(Seen::Kept)
}

/// When a capture ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// After the launch has returned.
    Later,
    /// After the launch has asked for the second time whether the stream is being captured.
    AfterQuestion,
    /// Just before that.
    BeforeQuestion,
}

/// Plans a capture of the stream that begins just before a call.
fn plan(call: &str, at_end: End, stream: &Arc<CudaStream>, captured: &Captured) {
    faults::start();
    faults::before(call, 1, begin(stream));
    match at_end {
        End::Later => {}
        End::AfterQuestion => faults::after("cuStreamIsCapturing", 2, end(stream, captured)),
        End::BeforeQuestion => faults::before("cuStreamIsCapturing", 2, end(stream, captured)),
    }
}

/// Lets a capture begin just before a call of a launch.
fn race(device: &Device, call: &str, at_end: End) -> Result<Seen> {
    let (mut graph, stream, captured) = (Small::build(device)?, new_stream(device), Captured::default());
    plan(call, at_end, &stream, &captured);
    let launched = graph.launch_on(&stream);
    assert_eq!(faults::pending(), 0);
    if matches!(at_end, End::Later) {
        end_now(&stream, &captured);
    }
    let seen = look(graph, &stream, launched, &captured)?;
    println!("faults: a capture from before {call}, which ends {at_end:?}: {seen:?}");
    Ok(seen)
}

#[test]
fn a_capture_that_begins_during_a_launch_becomes_invalid() -> Result<()> {
    let Some((device, _turn)) = alone("races::a_capture_that_begins_during_a_launch_becomes_invalid", &BOTH) else {
        return Ok(());
    };
    for call in ["cuGraphLaunch", "cuEventRecord"] {
        assert_eq!(race(&device, call, End::Later)?, Seen::Invalid);
    }
    Ok(())
}

#[test]
fn a_launch_that_was_captured_keeps_its_memory_for_ever() -> Result<()> {
    let Some((device, _turn)) = alone("races::a_launch_that_was_captured_keeps_its_memory_for_ever", &BOTH) else {
        return Ok(());
    };
    for call in ["cuGraphLaunch", "cuEventRecord"] {
        race(&device, call, End::AfterQuestion)?;
    }
    Ok(())
}

#[test]
fn a_capture_that_begins_and_ends_during_a_launch_is_found_by_the_event() -> Result<()> {
    let test = "races::a_capture_that_begins_and_ends_during_a_launch_is_found_by_the_event";
    let Some((device, _turn)) = alone(test, &BOTH) else {
        return Ok(());
    };
    for call in ["cuGraphLaunch", "cuEventRecord"] {
        race(&device, call, End::BeforeQuestion)?;
    }
    Ok(())
}

/// A graph that sets shared memory.
fn set(device: &Device, data: &DeviceBuffer<[u32; 8]>, value: u32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Set");
    let mut place = builder.shared("data", data, true);
    builder.memset("set", &mut place, value);
    builder.build()
}

#[test]
fn shared_memory_of_a_captured_launch_is_kept_from_others() -> Result<()> {
    let Some((device, _turn)) = alone("races::shared_memory_of_a_captured_launch_is_kept_from_others", &BOTH) else {
        return Ok(());
    };
    for call in ["cuGraphLaunch", "cuEventRecord"] {
        for at_end in [End::AfterQuestion, End::BeforeQuestion] {
            share(&device, call, at_end)?;
        }
    }
    Ok(())
}

/// Lets a capture begin just before a call of a launch that writes shared memory.
fn share(device: &Device, call: &str, at_end: End) -> Result<()> {
    let data = device.alloc::<[u32; 8]>()?;
    let (mut first, mut second) = (set(device, &data, 1)?, set(device, &data, 2)?);
    let (stream, captured) = (new_stream(device), Captured::default());
    plan(call, at_end, &stream, &captured);
    let error = first.launch_on(&stream).unwrap_err().to_string();
    assert_eq!(faults::pending(), 0);
    if error.contains("that capture is invalid now") {
        println!("faults: shared memory, a capture from before {call}, which ends {at_end:?}: Invalid");
        assert_eq!(captured.load(SeqCst), 0, "no graph comes of the capture");
        second.launch_on(&stream)?;
        assert_eq!(*data.read()?, [2; 8]);
        first.launch()?;
        assert_eq!(*data.read()?, [1; 8]);
        return Ok(());
    }
    println!("faults: shared memory, a capture from before {call}, which ends {at_end:?}: Kept");
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

/// What the proofs assume of the driver (D7 of `docs/safety.md`), asked without this library's calls.
#[test]
fn the_driver_treats_captures_as_assumed() -> Result<()> {
    use sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED as INVALIDATED;
    let Some((device, _turn)) = alone("races::the_driver_treats_captures_as_assumed", &BOTH) else {
        return Ok(());
    };
    let data = device.alloc::<[u32; 8]>()?;
    let graph = set(&device, &data, 1)?;
    let exec = graph.raw().expect("a graph on CUDA").exec;
    let (stream, other, captured) = (new_stream(&device), new_stream(&device), Captured::default());
    let event = stream.context().new_event(None).expect("a new event");
    let (raw, raw_event) = (stream.cu_stream(), event.cu_event());
    let status = || {
        // SAFETY: the stream lives.
        unsafe { result::stream::is_capturing(raw) }.expect("the driver knows")
    };

    stream.begin_capture(RELAXED).expect("captures");
    // SAFETY: the graph and the stream live; nothing else uses the memory.
    let launched = unsafe { sys::cuGraphLaunch(exec, raw) };
    println!(
        "faults: bare cuGraphLaunch on a capturing stream: {launched:?}, then the capture is {:?}",
        status()
    );
    let refused = launched != sys::CUresult::CUDA_SUCCESS;
    assert!(!refused || status() == INVALIDATED); // a call that is refused ends the capture
    end_now(&stream, &captured);
    assert_eq!(captured.load(SeqCst) == 0, refused, "an invalid capture gives no graph");

    stream.begin_capture(RELAXED).expect("captures");
    // SAFETY: the stream lives.
    let waited = unsafe { sys::cuStreamSynchronize(raw) };
    println!(
        "faults: bare cuStreamSynchronize on a capturing stream: {waited:?}, then {:?}",
        status()
    );
    assert!(waited != sys::CUresult::CUDA_SUCCESS && status() == INVALIDATED);
    end_now(&stream, &captured);
    assert_eq!(captured.load(SeqCst), 0, "an invalid capture gives no graph");

    for earlier in [false, true] {
        if earlier {
            event.record(&stream).expect("records");
            event.synchronize().expect("waits");
        }
        stream.begin_capture(RELAXED).expect("captures");
        event.record(&stream).expect("records");
        end_now(&stream, &captured);
        // SAFETY: the event lives, and the context is current.
        let waited = unsafe { sys::cuEventSynchronize(raw_event) };
        // SAFETY: as above.
        let asked = unsafe { sys::cuEventQuery(raw_event) };
        // SAFETY: as above; the stream lives.
        let other_waits = unsafe { sys::cuStreamWaitEvent(other.cu_stream(), raw_event, 0) };
        println!(
            "faults: a captured event: bare cuEventSynchronize {waited:?}, cuEventQuery {asked:?}, cuStreamWaitEvent \
             {other_waits:?}"
        );
        use sys::CUresult::{CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_VALUE};
        let refused = |code| matches!(code, CUDA_ERROR_CAPTURED_EVENT | CUDA_ERROR_INVALID_VALUE);
        assert!(refused(waited) && refused(asked)); // the host cannot wait for such an event
    }
    other.synchronize().expect("nothing is queued there");
    Ok(())
}

/// The environment variable that says which part of the next test a process runs.
const PART: &str = "CUDA_GRAPH_RACE";
/// Parts without this library: one call, or all calls of a launch, on a stream that another thread captures.
const BARE: [&str; 5] = [
    "cuStreamIsCapturing",
    "cuGraphLaunch",
    "cuEventRecord",
    "cuStreamSynchronize",
    "all calls of a launch",
];
/// Launches by this library beside captures of another stream.
const APART: &str = "launches beside captures of another stream";
/// Launches by this library on the stream that another thread captures.
const SAME: &str = "launches on the captured stream";

/// Captures come at any time. Those of other streams disturb nothing. Those of the stream of a launch break nothing,
/// unless the driver itself does not survive such calls: P1 of `docs/safety.md`. So the same calls are made without
/// this library, in processes of their own, and the test prints which of them crash.
#[test]
fn captures_at_any_time_break_nothing() -> Result<()> {
    const TEST: &str = "races::captures_at_any_time_break_nothing";
    if let Ok(part) = env::var(PART) {
        end_late_child();
        let (device, _turn) = device(TEST).expect("this process has a driver");
        return beside_captures(&device, &part);
    }
    assert!(!is_child());
    // The memory that this process allocates for the others would count as leaked by another test.
    let _turn = turn();
    let mut crashes = Vec::new();
    for part in BARE.into_iter().chain([APART, SAME]) {
        let run = run_again(TEST, &[(PART, part)]);
        let crashed = run.status.code().is_none();
        println!("faults: captures, {part}: {}", run.status);
        let out = String::from_utf8_lossy(&run.stdout);
        let error = String::from_utf8_lossy(&run.stderr);
        out.lines()
            .filter(|line| line.contains("faults:"))
            .for_each(|line| println!("{line}"));
        let driver_does = BARE.contains(&part) || part == SAME && !crashes.is_empty();
        let accepted = crashed && driver_does && wants_cuda();
        assert!(
            run.status.success() || accepted,
            "{part}: {}\n{out}\n{error}",
            run.status
        );
        if crashed {
            crashes.push(part);
        }
    }
    if !crashes.is_empty() {
        println!("faults: the driver itself crashes (P1 of docs/safety.md): {crashes:?}");
    }
    Ok(())
}

/// Runs one part of the test while another thread begins and ends captures of a stream.
fn beside_captures(device: &Device, part: &str) -> Result<()> {
    let stream = new_stream(device);
    let (stop, captures) = (AtomicBool::new(false), AtomicUsize::new(0));
    let ran = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                if stream.begin_capture(RELAXED).is_ok() {
                    end_now(&stream, &Captured::default());
                    captures.fetch_add(1, SeqCst);
                }
                thread::yield_now();
            }
        });
        let ran = match part {
            SAME => launch_often(device, &stream),
            APART => launch_apart(device),
            call => call_often(device, &stream, call),
        };
        stop.store(true, SeqCst);
        ran
    });
    println!("faults: captures, {part}: {ran:?}, {} captures", captures.load(SeqCst));
    ran?;
    launches_and_is_right(&mut Small::build(device)?)
}

/// Makes a call of the driver, or all those of a launch, for some time. Returns the number of calls that succeeded, of
/// those that failed, and 0.
fn call_often(device: &Device, stream: &CudaStream, call: &str) -> Result<[usize; 3]> {
    let data = device.alloc::<[u32; 8]>()?;
    let graph = set(device, &data, 1)?;
    let exec = graph.raw().expect("a graph on CUDA").exec;
    let event = stream.context().new_event(None).expect("a new event");
    let (stream, event) = (stream.cu_stream(), event.cu_event());
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: in all of these, what is named lives, and the context is current. The memory is kept for ever, below.
    let asks = &mut || unsafe { sys::cuStreamIsCapturing(stream, &mut status) };
    // SAFETY: as above.
    let launches = || unsafe { sys::cuGraphLaunch(exec, stream) };
    // SAFETY: as above.
    let records = || unsafe { sys::cuEventRecord(event, stream) };
    // SAFETY: as above.
    let waits = || unsafe { sys::cuStreamSynchronize(stream) };
    // SAFETY: as above.
    let waits_for_event = || unsafe { sys::cuEventSynchronize(event) };
    let mut outcomes = [0; 3];
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(if is_software() { 50 } else { 1000 }) {
        let results = match call {
            "cuStreamIsCapturing" => vec![asks()],
            "cuGraphLaunch" => vec![launches()],
            "cuEventRecord" => vec![records()],
            "cuStreamSynchronize" => vec![waits()],
            _ => vec![asks(), launches(), records(), asks(), waits_for_event()],
        };
        for result in results {
            outcomes[usize::from(result != sys::CUresult::CUDA_SUCCESS)] += 1;
        }
    }
    std::mem::forget((graph, data));
    Ok(outcomes)
}

/// Launches a graph on streams that nobody captures. Returns the number of launches, twice 0.
fn launch_apart(device: &Device) -> Result<[usize; 3]> {
    let stream = new_stream(device);
    let mut launches = 0;
    for _ in 0..10 {
        let mut graph = Small::build(device)?;
        for _ in 0..100 {
            launches_and_is_right(&mut graph)?;
            graph.launch_on(&stream)?;
            assert_eq!(*graph.output()?, [42; 8]);
            launches += 2;
        }
    }
    Ok([launches, 0, 0])
}

/// Launches a graph often. Returns the numbers of launches that ran, that were refused, and that were lost to a
/// capture.
fn launch_often(device: &Device, stream: &CudaStream) -> Result<[usize; 3]> {
    const LAUNCHES: usize = 3000;
    let mut graph = Small::build(device)?;
    let mut outcomes = [0; 3];
    for _ in 0..LAUNCHES {
        let launched = match graph.launch_on(stream) {
            Ok(()) => 0,
            Err(Error::Stream { .. } | Error::Cuda { .. }) => 1,
            Err(error) => return Err(error),
        };
        // While another thread captures, even waiting may fail, and a later wait succeeds. A launch that was captured
        // is never waited for.
        match (0..100).find(|_| graph.synchronize().is_ok()) {
            Some(_) => outcomes[launched] += 1,
            None => {
                outcomes[2] += 1;
                graph = Small::build(device)?;
            }
        }
    }
    Ok(outcomes)
}
