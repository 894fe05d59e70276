//! Captured graphs: whole regions that are recorded from a stream. The driver's own asynchronous calls, and a kernel
//! that is launched by hand, take the place of a library.

use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{CudaFunction, CudaStream, LaunchConfig, PushKernelArg, result, sys};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{
    BoxError, CaptureMode, CaptureOptions, CaptureStream, CapturedGraph, DebugOptions, Device, DeviceBuffer, Error,
    Graph, GraphBuilder, Graphed, GraphedMemory, Launch, OnDevice, Place, PointerMut, Result, is_capturing,
};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

type Words = [u32; 64];
/// The type that `(&mut Place<Words, OnDevice>,)` is kept as.
type Kept = <(&'static mut Place<Words, OnDevice>,) as graph_runtime::NodeArguments>::Kept;

const ONCE: CaptureOptions = CaptureOptions {
    mode: CaptureMode::ThreadLocal,
    warm_up: 0,
};

fn new_stream(device: &Device) -> Arc<CudaStream> {
    let context = device.context().expect("a CUDA device has a context");
    context.new_stream().expect("a new stream")
}

/// The kernel `data[i] += value`, loaded by hand.
fn adder(device: &Device) -> CudaFunction {
    let context = device.context().expect("a CUDA device has a context");
    let module = context.load_module(Ptx::from_src(include_str!("../kernels/conditionals.ptx")));
    let function = module.and_then(|module| module.load_function("add_to"));
    function.expect("the kernel is there")
}

/// Launches `data[i] += value` on a stream.
fn add(stream: &Arc<CudaStream>, add: &CudaFunction, address: u64, value: u32) -> Result<(), BoxError> {
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
fn set(stream: sys::CUstream, address: u64, value: u32) -> Result<(), BoxError> {
    // SAFETY: see above.
    Ok(unsafe { sys::cuMemsetD32Async(address, value, 64, stream) }.result()?)
}

/// A graph of what `calls` queues, which may write `data`.
fn recorded<F>(device: &Device, options: CaptureOptions, data: &DeviceBuffer<Words>, calls: F) -> Result<CapturedGraph>
where
    F: for<'n> FnMut(&CaptureStream<'n, Kept>) -> Result<(), BoxError> + Send + 'static,
{
    let mut builder = GraphBuilder::new(device, "Region");
    let mut data = builder.shared("data", data, true);
    builder.build_captured(options, (&mut data,), calls)
}

/// The message of a region that gives no graph.
fn refusal<F>(device: &Device, options: CaptureOptions, calls: F) -> String
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
fn works(device: &Device) -> Result<()> {
    let data = device.alloc::<Words>()?;
    let mut graph = recorded(device, ONCE, &data, |stream| {
        set(stream.cu_stream(), stream.memory().0.address(), 5)
    })?;
    graph.launch()?;
    assert_eq!(*data.read()?, [5; 64]);
    Ok(())
}

#[test]
fn the_emulator_says_that_it_cannot() -> Result<()> {
    let device = Device::emulator();
    let data = device.alloc::<Words>()?;
    let error = recorded(&device, ONCE, &data, |_| panic!("never called")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    assert_eq!(
        error.to_string(),
        "graph `Region`, node `recorded`: library calls are captured from a stream of a CUDA device, and the CPU emulator has none"
    );
    Ok(())
}

#[test]
fn a_captured_graph_has_no_other_nodes_and_keeps_to_its_memory() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Region");
    let mut data = builder.device::<Words>("data");
    builder.memset("clear", &mut data, 0_u32);
    let error = builder.build_captured(ONCE, (&mut data,), |_| panic!("never called"));
    let text = error.unwrap_err().to_string();
    assert!(
        text.starts_with("graph `Region`, node `recorded`: the work of a captured graph is all of it"),
        "{text}"
    );

    let mut builder = GraphBuilder::new(&device, "Region");
    let mut weights = builder.shared("weights", &device.alloc::<Words>()?, false);
    let error = builder.build_captured(ONCE, (&mut weights,), |_| panic!("never called"));
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("node `recorded`") && text.contains("`weights`") && text.contains("[access]"),
        "{text}"
    );
    Ok(())
}

#[test]
fn recorded_work_runs_at_every_launch() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::recorded_work_runs_at_every_launch") else {
        return Ok(());
    };
    let kernel = adder(&device);
    let (x, y) = (device.alloc::<Words>()?, device.alloc::<Words>()?);
    let mut builder = GraphBuilder::new(&device, "Step");
    let from = builder.shared("x", &x, false);
    let mut to = builder.shared("y", &y, true);
    let mut total = builder.device::<Words>("total");
    let runs = Arc::new(AtomicU32::new(0));
    let counter = runs.clone();
    let mut graph = builder.build_captured(ONCE, (&from, &mut to, &mut total), move |stream| {
        counter.fetch_add(1, Relaxed);
        let (from, to, total) = stream.memory();
        // SAFETY: both have this number of bytes; `x` is read and `y` written, as the graph says.
        unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
        // SAFETY: what is queued on it writes `y` and `total`.
        let cudarc = unsafe { stream.cudarc() };
        add(cudarc, &kernel, to.address(), 1)?;
        add(cudarc, &kernel, total.address(), 2)
    })?;
    assert_eq!(*graph.device(&total)?.read()?, [0; 64], "recorded, not run");
    let plan = graph.plan();
    assert_eq!((plan.nodes.len(), &*plan.nodes[0].name), (1, "recorded"));
    x.copy_from(&[10; 64])?;
    graph.launch()?;
    assert_eq!(*y.read()?, [11; 64]);
    drop(x); // the graph keeps it
    let stream = new_stream(&device);
    graph.launch_on(&stream)?;
    graph.launch()?;
    assert_eq!(*graph.device(&total)?.read()?, [6; 64]);
    assert_eq!(*y.read()?, [11; 64]);
    assert_eq!(runs.load(Relaxed), 1);
    if let Some(raw) = graph.raw() {
        let mut nodes = 0;
        // SAFETY: the graph lives; a null list asks for the number of nodes.
        unsafe { sys::cuGraphGetNodes(raw.graph, std::ptr::null_mut(), &mut nodes) }
            .result()
            .expect("the graph is the captured one");
        assert_eq!(nodes, 3, "the recorded nodes are the graph, not a child of it");
    }
    graph.launch()?;
    drop(graph);
    assert_eq!(Arc::strong_count(&runs), 1, "the closure went with the graph");
    Ok(())
}

/// Launches of declared and captured graphs that share memory follow each other, and so do their copies.
#[test]
fn launches_wait_for_others_that_use_the_memory() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::launches_wait_for_others_that_use_the_memory") else {
        return Ok(());
    };
    let data = device.alloc::<Words>()?;
    let kernel = adder(&device);
    let mut more = recorded(&device, ONCE, &data, move |stream| {
        // SAFETY: what is queued on it writes `data`.
        add(unsafe { stream.cudarc() }, &kernel, stream.memory().0.address(), 3)
    })?;
    let mut builder = GraphBuilder::new(&device, "Declared");
    let mut shared = builder.shared("data", &data, true);
    let mut flag = builder.device::<[u32; 1]>("flag");
    let wait = builder.kernel("wait", Launch::new(1, 1), slow::call(slow_steps() / 20, &mut flag));
    let late = builder.kernel("late", Launch::new(1, 64), add_to::call(&mut shared, 10));
    builder.after(late, &[wait]);
    let mut declared = builder.build()?;
    let stream = new_stream(&device);
    for round in 1..=3 {
        declared.launch()?;
        more.launch()?;
        declared.launch_on(&stream)?;
        more.launch_on(&stream)?;
        assert_eq!(*data.read()?, [26 * round; 64]);
    }
    data.copy_from(&[0; 64])?;
    declared.launch()?;
    drop(declared);
    more.launch()?;
    drop(more);
    assert_eq!(*data.read()?, [13; 64]);
    Ok(())
}

#[test]
fn warming_up_runs_the_work_and_keeps_what_it_prepares() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::warming_up_runs_the_work_and_keeps_what_it_prepares") else {
        return Ok(());
    };
    let data = device.alloc::<Words>()?;
    let (made, kernel) = (Arc::new(AtomicUsize::new(0)), adder(&device));
    let (count, workspaces) = (made.clone(), Arc::new(Mutex::new(Vec::new())));
    let seen = workspaces.clone();
    let calls = move |stream: &CaptureStream<'_, Kept>| {
        let (data,) = stream.memory();
        let handle = stream.prepare(|| Ok(count.fetch_add(1, Relaxed)))?;
        assert_eq!(*handle, 0);
        seen.lock().expect("no panic").push(stream.workspace(256)?.address());
        // SAFETY: what is queued on it writes `data`.
        add(unsafe { stream.cudarc() }, &kernel, data.address(), 1)
    };
    let options = CaptureOptions {
        warm_up: 3,
        ..Default::default()
    };
    let mut graph = recorded(&device, options, &data, calls)?;
    assert_eq!(*data.read()?, [3; 64], "it ran three times, and was recorded");
    assert_eq!(made.load(Relaxed), 1);
    let seen = workspaces.lock().expect("no panic").clone();
    assert!(
        seen.len() == 4 && seen.iter().all(|&workspace| workspace == seen[0]),
        "{seen:?}"
    );
    graph.launch()?;
    assert_eq!(*data.read()?, [4; 64]);
    graph.record_again()?;
    graph.launch()?;
    assert_eq!(*data.read()?, [5; 64]);
    assert_eq!(made.load(Relaxed), 1);
    Ok(())
}

#[test]
fn warming_up_claims_the_memory() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::warming_up_claims_the_memory") else {
        return Ok(());
    };
    let text = device.alloc_host::<Words>()?.share();
    let options = CaptureOptions {
        warm_up: 1,
        ..Default::default()
    };
    let build = || {
        let mut builder = GraphBuilder::new(&device, "Region");
        let mut place = builder.shared("text", &text, true);
        builder.build_captured(options, (&mut place,), |stream| {
            let (text,) = stream.memory();
            let to = text.as_mut_ptr::<u32>() as u64;
            // SAFETY: the memory is page-locked, and the graph says that it writes it. Its device address is the same
            // (unified addressing).
            unsafe { sys::cuMemsetD32Async(to, 8, 64, stream.cu_stream()) }.result()?;
            Ok(())
        })
    };
    let lent = text.read()?;
    let error = build().unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert!(error.to_string().contains("graph `Region`, memory `text`"), "{error}");
    drop(lent);
    let mut graph = build()?;
    assert_eq!(*text.read()?, [8; 64]);
    text.write()?.fill(0);
    graph.launch()?;
    assert_eq!(*text.read()?, [8; 64]);

    // While the closure warms up, its own memory is in use.
    let data = device.alloc::<Words>()?;
    let inner = data.clone();
    let message = recorded(&device, options, &data, move |stream| {
        set(stream.cu_stream(), stream.memory().0.address(), 1)?;
        inner.read()?;
        Ok(())
    });
    let message = message.unwrap_err().to_string();
    assert!(
        message.contains("the closure failed while it warmed up") && message.contains("is in use"),
        "{message}"
    );
    data.copy_from(&[3; 64])?;
    assert_eq!(*data.read()?, [3; 64]);
    Ok(())
}

#[test]
fn modes_say_which_calls_are_forbidden() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::modes_say_which_calls_are_forbidden") else {
        return Ok(());
    };
    let allocates = || {
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(64) }?;
        // SAFETY: it was allocated above.
        unsafe { result::free_sync(address) }
    };
    let with = |mode| CaptureOptions {
        mode,
        ..Default::default()
    };
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal] {
        let text = refusal(&device, with(mode), move |stream| {
            set(stream.cu_stream(), stream.memory().0.address(), 1)?;
            let _ = allocates(); // an error that nobody looks at
            Ok(())
        });
        assert!(text.contains("does not allow during a capture"), "{mode:?}: {text}");
    }
    let data = device.alloc::<Words>()?;
    let mut relaxed = recorded(&device, with(CaptureMode::Relaxed), &data, move |stream| {
        allocates()?;
        set(stream.cu_stream(), stream.memory().0.address(), 2)
    })?;
    relaxed.launch()?;
    assert_eq!(*data.read()?, [2; 64]);

    // Calls of another thread: forbidden in the global mode only. Those of this crate never disturb.
    let context = device.context().expect("a CUDA device has a context").clone();
    let cases = [
        (CaptureMode::Global, None, true),
        (CaptureMode::Global, Some(CaptureMode::Relaxed), false),
        (CaptureMode::ThreadLocal, None, false),
    ];
    for (mode, of_thread, fails) in cases {
        let (device, context, seen) = (device.clone(), context.clone(), Arc::new(Mutex::new(None)));
        let (inner, written) = (device.clone(), seen.clone());
        let built = recorded(&device, with(mode), &data, move |stream| {
            set(stream.cu_stream(), stream.memory().0.address(), 4)?;
            let (inner, context, written) = (inner.clone(), context.clone(), written.clone());
            let other = thread::spawn(move || {
                works(&inner).expect("this crate's calls are not forbidden");
                context.bind_to_thread().expect("the context binds");
                let _mode = of_thread.map(CaptureMode::on_this_thread);
                *written.lock().expect("no panic") = Some(allocates().is_err());
            });
            other.join().map_err(|_| "the other thread panicked".into())
        });
        assert_eq!(*seen.lock().expect("no panic"), Some(fails), "{mode:?}");
        assert_eq!(built.is_err(), fails, "{mode:?}");
    }
    works(&device)
}

#[test]
fn side_streams_are_forked_nested_and_joined() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::side_streams_are_forked_nested_and_joined") else {
        return Ok(());
    };
    let (outer, inner) = (new_stream(&device), new_stream(&device));
    let forked = (outer.clone(), inner.clone());
    let mut builder = GraphBuilder::new(&device, "Forked");
    let mut rows = builder.device::<[Words; 3]>("rows");
    let mut graph = builder.build_captured(ONCE, (&mut rows,), move |stream| {
        let (rows,) = stream.memory();
        let row = |index: u64| rows.address() + 256 * index;
        // SAFETY: what is queued on it writes `rows`.
        let cudarc = unsafe { stream.cudarc() };
        forked.0.join(cudarc)?;
        set(cudarc.cu_stream(), row(0), 1)?;
        set(forked.0.cu_stream(), row(1), 2)?;
        forked.1.join(&forked.0)?;
        assert!(is_capturing(&forked.1)?);
        set(forked.1.cu_stream(), row(2), 3)?;
        forked.0.join(&forked.1)?;
        Ok(cudarc.join(&forked.0)?)
    })?;
    graph.launch()?;
    assert_eq!(*graph.device(&rows)?.read()?, [[1; 64], [2; 64], [3; 64]]);
    let forked = outer.clone();
    let text = refusal(&device, ONCE, move |stream| {
        // SAFETY: as above.
        forked.join(unsafe { stream.cudarc() })?;
        set(forked.cu_stream(), stream.memory().0.address(), 1)
    });
    assert!(
        text.contains("CUDA_ERROR_STREAM_CAPTURE_UNJOINED") && text.contains("work was forked to another stream"),
        "{text}"
    );
    for stream in [&outer, &inner] {
        assert!(!is_capturing(stream)?);
        stream.synchronize().expect("it is usable");
    }
    works(&device)
}

#[test]
fn errors_and_panics_leave_streams_usable() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::errors_and_panics_leave_streams_usable") else {
        return Ok(());
    };
    let other = new_stream(&device);
    for (mode, warm_up) in [
        (CaptureMode::Global, 0),
        (CaptureMode::ThreadLocal, 1),
        (CaptureMode::Relaxed, 0),
    ] {
        let options = CaptureOptions { mode, warm_up };
        let (forked, inner) = (other.clone(), device.clone());
        let calls = move |stream: &CaptureStream<'_, Kept>| {
            // SAFETY: what is queued on it writes `data`.
            forked.join(unsafe { stream.cudarc() })?;
            set(forked.cu_stream(), stream.memory().0.address(), 1)
        };
        let fails = calls.clone();
        let text = refusal(&device, options, move |stream| {
            fails(stream)?;
            Err("no more".into())
        });
        assert!(text.ends_with(": no more"), "{text}");
        let panicked = thread::spawn(move || {
            let data = inner.alloc::<Words>().expect("memory");
            recorded(&inner, options, &data, move |stream| {
                calls(stream)?;
                panic!("in the middle")
            })
            .map(drop)
        });
        assert!(panicked.join().is_err());
        assert!(!is_capturing(&other)?);
        other.synchronize().expect("it is usable");
        works(&device)?;
    }
    Ok(())
}

#[test]
fn nothing_recorded_is_an_error() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::nothing_recorded_is_an_error") else {
        return Ok(());
    };
    let expected = "nothing was recorded: work was queued on no stream, or on another stream or the null stream";
    let text = refusal(&device, ONCE, |_| Ok(()));
    assert!(text.contains(expected), "{text}");
    let other = new_stream(&device);
    let text = refusal(&device, ONCE, move |stream| {
        set(other.cu_stream(), stream.memory().0.address(), 1)?;
        Ok(())
    });
    assert!(text.contains(expected), "{text}");
    Ok(())
}

#[test]
fn allocations_are_freed_in_the_region() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::allocations_are_freed_in_the_region") else {
        return Ok(());
    };
    let data = device.alloc::<Words>()?;
    let through = |stream: sys::CUstream, data: &PointerMut<'_, Words, OnDevice>| -> Result<u64, BoxError> {
        // SAFETY: the stream lives.
        let scratch = unsafe { result::malloc_async(stream, 256) }?;
        set(stream, scratch, 6)?;
        // SAFETY: both have 256 bytes, and the graph says that it writes `data`.
        unsafe { result::memcpy_dtod_async(data.address(), scratch, 256, stream) }?;
        Ok(scratch)
    };
    let mut graph = recorded(&device, ONCE, &data, move |stream| {
        let scratch = through(stream.cu_stream(), &stream.memory().0)?;
        // SAFETY: it was allocated on this stream, and nothing uses it any more.
        Ok(unsafe { result::free_async(scratch, stream.cu_stream()) }?)
    })?;
    for _ in 0..3 {
        data.copy_from(&[0; 64])?;
        graph.launch()?;
        assert_eq!(*data.read()?, [6; 64]);
    }
    graph.record_again()?;
    graph.launch()?;
    assert_eq!(*data.read()?, [6; 64]);
    let text = refusal(&device, ONCE, move |stream| {
        through(stream.cu_stream(), &stream.memory().0).map(drop)
    });
    assert!(
        text.contains("the work allocates memory that it does not free") && text.contains("`workspace`"),
        "{text}"
    );
    works(&device)
}

#[test]
fn memory_is_rebound_by_recording_again() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::memory_is_rebound_by_recording_again") else {
        return Ok(());
    };
    let kernel = adder(&device);
    let buffers = [device.alloc::<Words>()?, device.alloc::<Words>()?];
    let (value, fails) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
    let (given, failing) = (value.clone(), fails.clone());
    let mut builder = GraphBuilder::new(&device, "Bound");
    let mut place = builder.shared("data", &buffers[0], true);
    let mut graph = builder.build_captured(ONCE, (&mut place,), move |stream| {
        // SAFETY: what is queued on it writes `data`.
        let cudarc = unsafe { stream.cudarc() };
        let value = given.load(Relaxed);
        // More nodes: a graph of another shape.
        for _ in 0..=value / 100 {
            add(cudarc, &kernel, stream.memory().0.address(), value)?;
        }
        match failing.load(Relaxed) {
            0 => Ok(()),
            _ => Err("not now".into()),
        }
    })?;
    let exec = |graph: &Graph| graph.raw().map(|raw| raw.exec.addr());
    let first = exec(&graph);
    let stream = new_stream(&device);
    graph.launch()?;
    graph.launch_on(&stream)?;
    graph.rebind(&place, &buffers[1])?; // two launches may be in flight
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([2; 64], [1; 64]));
    value.store(10, Relaxed);
    graph.launch()?;
    graph.record_again()?;
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([2; 64], [12; 64]));
    assert_eq!(exec(&graph), first, "changed in place");

    value.store(100, Relaxed);
    graph.record_again()?;
    graph.launch()?;
    assert_eq!(*buffers[1].read()?, [212; 64], "two nodes now");
    value.store(1, Relaxed);
    graph.rebind(&place, &buffers[0])?;
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([3; 64], [212; 64]));

    fails.store(1, Relaxed);
    let error = graph.record_again().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Bound`, node `recorded`: the closure of the capture failed: not now"
    );
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [4; 64], "as before");
    assert!(graph.rebind(&place, &buffers[1]).is_err());
    assert!(matches!(graph.launch(), Err(Error::HalfRebound { .. })));
    fails.store(0, Relaxed);
    graph.rebind(&place, &buffers[1])?;
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([4; 64], [213; 64]));
    let error = graph.rebind(&place, &Device::emulator().alloc()?).unwrap_err();
    assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
    graph.launch()?;
    Ok(())
}

#[test]
fn workspaces_of_another_size_replace_the_old_ones() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::workspaces_of_another_size_replace_the_old_ones") else {
        return Ok(());
    };
    let data = device.alloc::<Words>()?;
    let size = Arc::new(AtomicUsize::new(256));
    let bytes = size.clone();
    let mut graph = recorded(&device, ONCE, &data, move |stream| {
        let workspace = stream.workspace(bytes.load(Relaxed))?;
        let last = workspace.address() + workspace.bytes() as u64 - 256;
        set(stream.cu_stream(), last, workspace.bytes() as u32)?;
        let (data,) = stream.memory();
        // SAFETY: both have 256 bytes, and the graph says that it writes `data`.
        Ok(unsafe { result::memcpy_dtod_async(data.address(), last, 256, stream.cu_stream()) }?)
    })?;
    for bytes in [256, 512, 512, 1 << 20, 256] {
        size.store(bytes, Relaxed);
        graph.launch()?; // the old workspace is in use while the new one is made
        graph.record_again()?;
        graph.launch()?;
        assert_eq!(*data.read()?, [bytes as u32; 64]);
    }
    Ok(())
}

#[test]
fn a_stream_says_whether_it_is_capturing() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::a_stream_says_whether_it_is_capturing") else {
        return Ok(());
    };
    let stream = new_stream(&device);
    let context = device.context().expect("a CUDA device has a context");
    assert!(!is_capturing(&stream)?);
    assert!(!is_capturing(&context.default_stream())?);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("it captures");
    assert!(is_capturing(&stream)?);
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let _ = stream.end_capture(flags);
    assert!(!is_capturing(&stream)?);
    let data = device.alloc::<Words>()?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (streams, options) = (seen.clone(), CaptureOptions { warm_up: 1, ..ONCE });
    recorded(&device, options, &data, move |stream| {
        // SAFETY: nothing is queued on it.
        streams
            .lock()
            .expect("no panic")
            .push(is_capturing(unsafe { stream.cudarc() })?);
        set(stream.cu_stream(), stream.memory().0.address(), 1)
    })?;
    assert_eq!(*seen.lock().expect("no panic"), [false, true]);
    Ok(())
}

#[test]
fn debug_mode_runs_the_region_as_one_node() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::debug_mode_runs_the_region_as_one_node") else {
        return Ok(());
    };
    let device = device.with_debug(DebugOptions::default());
    let kernel = adder(&device);
    let buffers = [device.alloc::<Words>()?, device.alloc::<Words>()?];
    let mut builder = GraphBuilder::new(&device, "Debugged");
    let mut place = builder.shared("data", &buffers[0], true);
    let options = CaptureOptions { warm_up: 2, ..ONCE };
    let mut graph = builder.build_captured(options, (&mut place,), move |stream| {
        // SAFETY: what is queued on it writes `data`.
        add(unsafe { stream.cudarc() }, &kernel, stream.memory().0.address(), 1)
    })?;
    assert!(graph.raw().is_none());
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [3; 64]);
    graph.record_again()?;
    graph.launch()?;
    graph.rebind(&place, &buffers[1])?;
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([4; 64], [1; 64]));
    Ok(())
}

/// PyTorch's `make_graphed_callables`: both closures are recorded, after they have warmed up.
#[test]
fn two_closures_become_functions() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::two_closures_become_functions") else {
        return Ok(());
    };
    let memory = GraphedMemory {
        inputs: device.alloc::<Words>()?,
        outputs: device.alloc::<Words>()?,
        grad_outputs: device.alloc()?,
        grad_inputs: device.alloc::<Words>()?,
    };
    let options = CaptureOptions {
        warm_up: 3,
        ..Default::default()
    };
    let record = |name: &'static str, from: &DeviceBuffer<Words>, to: &DeviceBuffer<Words>, by: u32| {
        let kernel = adder(&device);
        let mut builder = GraphBuilder::new(&device, name);
        let (from, mut to) = (builder.shared("from", from, false), builder.shared("to", to, true));
        builder.build_captured(options, (&from, &mut to), move |stream| {
            let (from, to) = stream.memory();
            // SAFETY: both have this number of bytes, and the graph says that it reads the one and writes the other.
            unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
            // SAFETY: what is queued on it writes `to`.
            add(unsafe { stream.cudarc() }, &kernel, to.address(), by)
        })
    };
    let forward = record("Forward", &memory.inputs, &memory.outputs, 1)?;
    let backward = record("Backward", &memory.grad_outputs, &memory.grad_inputs, 10)?;
    let mut graphed = Graphed::new(&device, memory, forward, backward);
    for value in [1, 2, 3] {
        let passed = device.alloc::<Words>()?;
        passed.copy_from(&[value; 64])?;
        let outputs = graphed.forward(&passed)?.clone();
        let gradients = graphed.backward(&outputs)?;
        assert_eq!(
            (*outputs.read()?, *gradients.read()?),
            ([value + 1; 64], [value + 11; 64])
        );
    }
    Ok(())
}

/// `capture_begin` and `capture_end`, on a stream of the user's.
#[test]
fn a_stream_of_the_users_is_recorded() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::a_stream_of_the_users_is_recorded") else {
        return Ok(());
    };
    let (stream, kernel) = (new_stream(&device), adder(&device));
    let (x, y) = (device.alloc::<Words>()?, device.alloc::<Words>()?);
    x.copy_from(&[5; 64])?;
    let begin = |mode| {
        let mut builder = GraphBuilder::new(&device, "Begun");
        let (from, mut to) = (builder.shared("x", &x, false), builder.shared("y", &y, true));
        // SAFETY: until the capture ends, what is queued below reads `x` and writes `y`.
        let capture = unsafe { builder.begin_capture(&stream, mode, (&from, &mut to)) };
        capture.map(|capture| (capture, to))
    };
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        let (capture, place) = begin(mode)?;
        assert!(is_capturing(&stream)?);
        let (from, to) = capture.memory();
        // SAFETY: both have this number of bytes, and the graph says that it reads the one and writes the other.
        let queued =
            unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) };
        queued.expect("it is queued");
        add(&stream, &kernel, to.address(), 2).expect("it is queued");
        let mut graph = capture.end()?;
        assert!(!is_capturing(&stream)?);
        y.copy_from(&[0; 64])?;
        graph.launch()?;
        assert_eq!(*y.read()?, [7; 64]);
        graph.launch_on(&stream)?;
        assert_eq!(*y.read()?, [7; 64]);
        for error in [graph.record_again().unwrap_err(), graph.rebind(&place, &x).unwrap_err()] {
            assert!(
                matches!(error, Error::Unsupported { .. } | Error::Invalid { .. }),
                "{error}"
            );
        }
        graph.launch()?;
    }
    // What ends without a graph leaves the stream usable.
    drop(begin(CaptureMode::ThreadLocal)?);
    assert!(!is_capturing(&stream)?);
    let error = begin(CaptureMode::ThreadLocal)?.0.end().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("graph `Begun`, node `recorded`: nothing was recorded"),
        "{error}"
    );
    let (capture, _) = begin(CaptureMode::ThreadLocal)?;
    let other = new_stream(&device);
    other.join(&stream).expect("a fork");
    set(other.cu_stream(), capture.memory().1.address(), 1).expect("it is queued");
    let error = capture.end().unwrap_err();
    assert!(
        error.to_string().contains("work was forked to another stream"),
        "{error}"
    );
    for stream in [&stream, &other] {
        assert!(!is_capturing(stream)?);
        stream.synchronize().expect("it is usable");
    }
    // If it is forgotten, the stream goes on capturing, and nothing else is disturbed.
    let begun = begin(CaptureMode::ThreadLocal)?.0;
    let error = begin(CaptureMode::ThreadLocal).map(drop).unwrap_err();
    assert!(matches!(error, Error::Cuda { .. }), "{error}");
    std::mem::forget(begun);
    works(&device)?;
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let _ = stream.end_capture(flags);
    assert!(!is_capturing(&stream)?);
    Ok(())
}

#[test]
fn what_a_stream_of_the_users_cannot_record_is_refused() -> Result<()> {
    fn begin(builder: GraphBuilder, stream: &Arc<CudaStream>) -> Error {
        // SAFETY: nothing is queued.
        let begun = unsafe { builder.begin_capture(stream, CaptureMode::ThreadLocal, ()) };
        begun.map(drop).expect_err("it is refused")
    }
    let Some((device, _turn)) = cuda("graphs::what_a_stream_of_the_users_cannot_record_is_refused") else {
        return Ok(());
    };
    let stream = new_stream(&device);
    let error = begin(GraphBuilder::new(&Device::emulator(), "Begun"), &stream);
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let mut builder = GraphBuilder::new(&device, "Begun");
    builder.device::<Words>("own");
    let error = begin(builder, &stream);
    assert!(error.to_string().contains("can use shared memory only"), "{error}");
    let mut builder = GraphBuilder::new(&device, "Begun");
    builder.join("node");
    let error = begin(builder, &stream);
    assert!(
        error.to_string().contains("the builder must have no nodes of its own"),
        "{error}"
    );
    let context = device.context().expect("a CUDA device has a context");
    let error = begin(GraphBuilder::new(&device, "Begun"), &context.default_stream());
    assert!(matches!(error, Error::Cuda { .. }), "{error}");
    assert!(!is_capturing(&stream)?);
    Ok(())
}

#[test]
fn several_buffers_are_rebound_by_one_recording() -> Result<()> {
    let Some((device, _turn)) = cuda("graphs::several_buffers_are_rebound_by_one_recording") else {
        return Ok(());
    };
    let buffers = [(); 4].map(|()| device.alloc::<Words>());
    let [a, b, c, d] = buffers;
    let (a, b, c, d) = (a?, b?, c?, d?);
    let runs = Arc::new(AtomicU32::new(0));
    let counter = runs.clone();
    let mut builder = GraphBuilder::new(&device, "Edited");
    let (from, mut to) = (builder.shared("from", &a, false), builder.shared("to", &b, true));
    let mut graph = builder.build_captured(ONCE, (&from, &mut to), move |stream| {
        counter.fetch_add(1, Relaxed);
        let (from, to) = stream.memory();
        // SAFETY: both have this number of bytes, and the graph says that it reads the one and writes the other.
        Ok(unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?)
    })?;
    c.copy_from(&[3; 64])?;
    graph.launch()?;
    graph.edit(|graph| {
        graph.rebind(&from, &c)?;
        graph.rebind(&to, &d)
    })?;
    graph.launch()?;
    assert_eq!((*b.read()?, *d.read()?, runs.load(Relaxed)), ([0; 64], [3; 64], 2));
    let error = graph.edit(|graph| {
        graph.rebind(&from, &a)?;
        graph.rebind(&to, &a)
    });
    assert!(matches!(error, Err(Error::Invalid { .. })), "{error:?}");
    graph.launch()?;
    assert_eq!(runs.load(Relaxed), 2, "nothing has changed");
    Ok(())
}
