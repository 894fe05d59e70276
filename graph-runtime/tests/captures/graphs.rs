//! Captured graphs: whole regions that are recorded from a stream. The driver's own asynchronous calls, and a kernel
//! that is launched by hand, take the place of a library.

use crate::common::library::copy;
use crate::common::*;
use crate::region::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{result, sys};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

#[test]
fn the_emulator_says_that_it_cannot() -> Result<()> {
    let device = Device::emulator();
    let data = device.alloc::<Words>()?;
    let error = recorded(&device, ONCE, &data, |_| panic!("never called")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    error.reads(
        "graph `Region`, node `recorded`: library calls are captured from a stream of a CUDA device, and the CPU emulator has none; a \
         host function can stand for them there: `else |..| ..`, or `capture_or_else`",
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
    refused(error).begins("graph `Region`, node `recorded`: the work of a captured graph is all of it");

    let mut builder = GraphBuilder::new(&device, "Region");
    let mut weights = builder.shared("weights", &device.alloc::<Words>()?, false);
    let error = builder.build_captured(ONCE, (&mut weights,), |_| panic!("never called"));
    has(refused(error), &["node `recorded`", "`weights`", "[access]"]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn recorded_work_runs_at_every_launch() -> Result<()> {
    let (device, _turn) = cuda();
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
        copy(stream.cu_stream(), &from, &to)?;
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
#[ignore = "needs a CUDA device"]
fn launches_wait_for_others_that_use_the_memory() -> Result<()> {
    let (device, _turn) = cuda();
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
#[ignore = "needs a CUDA device"]
fn warming_up_runs_the_work_and_keeps_what_it_prepares() -> Result<()> {
    let (device, _turn) = cuda();
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
    let options = warm_up(3);
    let mut graph = recorded(&device, options, &data, calls)?;
    assert_eq!(*data.read()?, [3; 64], "it ran three times, and was recorded");
    assert_eq!(made.load(Relaxed), 1);
    let seen = workspaces.lock().expect("no panic").clone();
    assert_eq!(seen, [seen[0]; 4]);
    graph.launch()?;
    assert_eq!(*data.read()?, [4; 64]);
    graph.record_again()?;
    graph.launch()?;
    assert_eq!(*data.read()?, [5; 64]);
    assert_eq!(made.load(Relaxed), 1);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn warming_up_claims_the_memory() -> Result<()> {
    let (device, _turn) = cuda();
    let text = device.alloc_host::<Words>()?.share();
    let options = warm_up(1);
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
    has(
        refused(message),
        &["the closure failed while it warmed up", "is in use"],
    );
    data.copy_from(&[3; 64])?;
    assert_eq!(*data.read()?, [3; 64]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn nothing_recorded_is_an_error_and_allocations_are_freed_in_the_region() -> Result<()> {
    let (device, _turn) = cuda();
    let expected = "nothing was recorded: work was queued on no stream, or on another stream or the null stream";
    let text = refusal(&device, ONCE, |_| Ok(()));
    assert!(text.contains(expected), "{text}");
    let other = new_stream(&device);
    let text = refusal(&device, ONCE, move |stream| {
        set(other.cu_stream(), stream.memory().0.address(), 1)?;
        Ok(())
    });
    assert!(text.contains(expected), "{text}");

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
    text.says("the work allocates memory that it does not free");
    text.says("`workspace`");
    works(&device)
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_is_rebound_by_recording_again_once_for_all() -> Result<()> {
    let (device, _turn) = cuda();
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
    refused(graph.record_again()).reads("graph `Bound`, node `recorded`: the closure of the capture failed: not now");
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [4; 64], "as before");
    assert!(graph.rebind(&place, &buffers[1]).is_err());
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [5; 64], "as before");
    fails.store(0, Relaxed);
    graph.rebind(&place, &buffers[1])?;
    graph.launch()?;
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), ([5; 64], [213; 64]));
    let error = graph.rebind(&place, &Device::emulator().alloc()?).unwrap_err();
    assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
    graph.launch()?;

    let [a, b, c, d] = [
        device.alloc()?,
        device.alloc()?,
        device.alloc()?,
        device.alloc::<Words>()?,
    ];
    let runs = Arc::new(AtomicU32::new(0));
    let counter = runs.clone();
    let mut builder = GraphBuilder::new(&device, "Edited");
    let (from, mut to) = (builder.shared("from", &a, false), builder.shared("to", &b, true));
    let mut graph = builder.build_captured(ONCE, (&from, &mut to), move |stream| {
        counter.fetch_add(1, Relaxed);
        let (from, to) = stream.memory();
        copy(stream.cu_stream(), &from, &to)
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

#[test]
#[ignore = "needs a CUDA device"]
fn workspaces_of_another_size_replace_the_old_ones() -> Result<()> {
    let (device, _turn) = cuda();
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
#[ignore = "needs a CUDA device"]
fn debug_mode_runs_the_region_as_one_node() -> Result<()> {
    let (device, _turn) = cuda();
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
#[ignore = "needs a CUDA device"]
fn two_closures_become_functions() -> Result<()> {
    let (device, _turn) = cuda();
    let memory = GraphedMemory {
        inputs: device.alloc::<Words>()?,
        outputs: device.alloc::<Words>()?,
        grad_outputs: device.alloc()?,
        grad_inputs: device.alloc::<Words>()?,
    };
    let options = warm_up(3);
    let record = |name: &'static str, from: &DeviceBuffer<Words>, to: &DeviceBuffer<Words>, by: u32| {
        let kernel = adder(&device);
        let mut builder = GraphBuilder::new(&device, name);
        let (from, mut to) = (builder.shared("from", from, false), builder.shared("to", to, true));
        builder.build_captured(options, (&from, &mut to), move |stream| {
            let (from, to) = stream.memory();
            copy(stream.cu_stream(), &from, &to)?;
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
        let expected = ([value + 1; 64], [value + 11; 64]);
        assert_eq!((*outputs.read()?, *gradients.read()?), expected);
    }
    Ok(())
}
