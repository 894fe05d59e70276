//! Library calls that are captured, and nodes that are added by hand. Both need a CUDA device; here the driver's own
//! asynchronous calls take the place of a library's.

use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{result, sys};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};

/// Sets bytes. Tests give it memory that their nodes declare, or that is theirs.
fn set(stream: sys::CUstream, address: sys::CUdeviceptr, value: u8, bytes: usize) -> Result<(), BoxError> {
    // SAFETY: see above.
    Ok(unsafe { result::memset_d8_async(address, value, bytes, stream) }?)
}

/// Copies bytes; otherwise as `set`.
fn copy(stream: sys::CUstream, from: sys::CUdeviceptr, to: sys::CUdeviceptr, bytes: usize) -> Result<(), BoxError> {
    // SAFETY: see `set`.
    Ok(unsafe { result::memcpy_dtod_async(to, from, bytes, stream) }?)
}

#[test]
fn the_emulator_says_that_it_cannot() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Library");
    let mut data = builder.device::<[f32; 4]>("data");
    builder.capture("calls", (&mut data,), |_| panic!("never called"));
    refused(builder.build()).reads(
        "graph `Library`, node `calls`: library calls are captured from a stream of a CUDA device, and the CPU emulator has none; a \
         host function can stand for them there: `else |..| ..`, or `capture_or_else`",
    );
    let mut builder = GraphBuilder::new(&Device::emulator(), "Raw");
    // SAFETY: it is never called.
    unsafe { builder.raw("by_hand", (), |_, _| panic!("never called")) };
    let error = refused(builder.build());
    error.reads(
        "graph `Raw`, node `by_hand`: a `raw` node is made by calls of the CUDA driver, and needs a CUDA device",
    );
    assert!(matches!(error, Error::Unsupported { .. }));
}

#[test]
fn declared_accesses_take_part_in_the_analysis() {
    let mut builder = GraphBuilder::new(&device(), "Races");
    let mut a = builder.device::<[f32; 4]>("a");
    let b = builder.host::<[f32; 4]>("b");
    builder.capture("first", (&a, &mut b.row(0)), |_| Ok(()));
    builder.capture("second", (&mut a, ByValue(3)), |_| Ok(()));
    // SAFETY: the graph is never built.
    unsafe { builder.raw("third", (&b,), |_, _| Err("never called".into())) };
    builder.capture("twice", (&a, &mut a.whole()), |_| Ok(()));
    let text = builder.build().unwrap_err().to_string();
    let ends = "can run at the same time and both access";
    text.says(&format!("nodes `first` and `second` {ends} `a` [race]"));
    text.says(&format!("nodes `first` and `third` {ends} `b` [race]"));
    text.says("node `twice` gets `a` as `&` and again as `&mut` [aliased-argument]");

    let device = device();
    let other = GraphBuilder::new(&device, "Other").device::<f32>("x");
    let mut builder = GraphBuilder::new(&device, "Foreign");
    builder.capture("calls", (&other,), |_| Ok(()));
    refused(builder.build()).says("node `calls` uses memory of another graph [unknown-resource]");
}

/// `to = from`, then `fill[0..] = value`, captured.
fn captured(device: &Device, closure: impl FnMut() + Send + 'static) -> Result<Graph> {
    let mut closure = closure;
    let mut builder = GraphBuilder::new(device, "Captured");
    let input = builder.host::<[[f32; 4]; 2]>("input");
    let mut from = builder.device::<[[f32; 4]; 2]>("from");
    let mut to = builder.device::<[f32; 4]>("to");
    let fill = builder.device_slice::<u32>("fill", 6);
    let upload = builder.memcpy("upload", &input, &mut from);
    let memory = (&from.row(1), &mut to, &mut fill.rows(2..), ByValue(7_u32));
    let calls = builder.capture("calls", memory, move |stream| {
        closure();
        let (from, to, fill, value) = stream.memory();
        assert_eq!((from.bytes(), from.count::<f32>(), fill.count::<u32>()), (16, 4, 4));
        copy(stream.cu_stream(), from.address(), to.address(), from.bytes())?;
        // SAFETY: `fill` is declared to be written, and has this number of words.
        unsafe { sys::cuMemsetD32Async(fill.address(), value, fill.count(), stream.cu_stream()) }.result()?;
        Ok(())
    });
    builder.after(calls, &[upload]);
    let mut graph = builder.build()?;
    *graph.host_mut(&input)? = [[1.0; 4], counting()];
    graph.launch()?;
    assert_eq!(*graph.device(&to)?.read()?, counting());
    assert_eq!(graph.device(&fill)?.read_vec()?, [0, 0, 7, 7, 7, 7]);
    graph.device_mut(&to)?.copy_from(&[0.0; 4])?;
    graph.launch()?;
    graph.launch()?;
    assert_eq!(*graph.device(&to)?.read()?, counting()); // captured once, run at every launch
    Ok(graph)
}

#[test]
#[ignore = "needs a CUDA device"]
fn captured_calls_run_at_every_launch() -> Result<()> {
    let (device, _turn) = cuda();
    let runs = Arc::new(AtomicU32::new(0));
    let counter = runs.clone();
    let graph = captured(&device, move || {
        counter.fetch_add(1, Relaxed);
    })?;
    assert_eq!(runs.load(Relaxed), 1);
    assert_eq!(Arc::strong_count(&runs), 2, "the graph keeps the closure");
    drop(graph);
    assert_eq!(Arc::strong_count(&runs), 1);
    Ok(())
}

/// The message of building a graph with one capture.
fn refusal<F>(device: &Device, calls: F) -> String
where
    F: for<'n> FnMut(&CaptureStream<'n, Kept>) -> Result<(), BoxError> + Send + 'static,
{
    let mut builder = GraphBuilder::new(device, "Refused");
    let mut data = builder.device::<[f32; 1024]>("data");
    builder.capture("calls", (&mut data,), calls);
    let error = builder.build().unwrap_err();
    assert!(matches!(error, Error::Node { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("graph `Refused`, node `calls`: "), "{text}");
    text
}

/// The type that `(&mut Place<[f32; 1024], OnDevice>,)` is kept as.
type Kept =
    <(&'static mut graph_runtime::Place<[f32; 1024], graph_runtime::OnDevice>,) as graph_runtime::NodeArguments>::Kept;

#[test]
#[ignore = "needs a CUDA device"]
fn calls_that_captures_forbid_are_explained() -> Result<()> {
    let (device, _turn) = cuda();
    let forbidden = "does not allow during a capture, such as allocating, freeing or waiting";
    let text = refusal(&device, |stream| {
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(stream.cu_stream()) }?;
        Ok(())
    });
    has(text, &["CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", forbidden]);
    let text = refusal(&device, |_| {
        // SAFETY: the context is current.
        let _ = unsafe { result::malloc_sync(64) }; // an error that nobody looks at
        Ok(())
    });
    has(text, &["CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", forbidden]);
    let text = refusal(&device, |_| Err("the library does not want to".into()));
    text.ends("the closure of the capture failed: the library does not want to");

    let text = refusal(&device, |stream| {
        let (data,) = stream.memory();
        // SAFETY: the stream lives.
        let address = unsafe { result::malloc_async(stream.cu_stream(), 64) }?;
        set(stream.cu_stream(), data.address(), 1, 4)?;
        // SAFETY: the memory was allocated above.
        unsafe { result::free_async(address, stream.cu_stream()) }?;
        Ok(())
    });
    has(&text, &["allocates memory when it is called", "`workspace`"]);

    let other = new_stream(&device);
    let forked = other.clone();
    let text = refusal(&device, move |stream| {
        // SAFETY: nothing is queued but the fork itself.
        forked.join(unsafe { stream.cudarc() })?;
        let (data,) = stream.memory();
        set(forked.cu_stream(), data.address(), 1, 4)
    });
    assert!(text.contains("work was forked to another stream"), "{text}");
    other.synchronize().expect("the stream is of use again");
    captured(&device, || ()).map(drop)?;

    let inner = device.clone();
    let panicked = std::thread::spawn(move || refusal(&inner, |_| panic!("in the middle"))).join();
    assert!(panicked.is_err());
    device.alloc::<[f32; 4]>()?;
    captured(&device, || ()).map(drop)
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_fork_that_is_joined_is_captured() -> Result<()> {
    let (device, _turn) = cuda();
    let other = new_stream(&device);
    let mut builder = GraphBuilder::new(&device, "Forked");
    let mut data = builder.device::<[[u8; 64]; 2]>("data");
    builder.capture("calls", (&mut data,), move |stream| {
        let (data,) = stream.memory();
        // SAFETY: what is queued on it touches `data`.
        let cudarc = unsafe { stream.cudarc() };
        other.join(cudarc)?;
        set(stream.cu_stream(), data.address(), 1, 64)?;
        set(other.cu_stream(), data.address() + 64, 2, 64)?;
        Ok(cudarc.join(&other)?)
    });
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [[1; 64], [2; 64]]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn preparing_comes_first_and_what_it_makes_is_kept() -> Result<()> {
    let (device, _turn) = cuda();
    struct Handle(mpsc::Sender<&'static str>);
    impl Drop for Handle {
        fn drop(&mut self) {
            let _ = self.0.send("destroyed");
        }
    }
    let (sender, receiver) = mpsc::channel();
    let mut builder = GraphBuilder::new(&device, "Prepared");
    let mut data = builder.device::<[u8; 64]>("data");
    builder.capture("calls", (&mut data,), move |stream| {
        let (data,) = stream.memory();
        let handle = stream.prepare(|| {
            set(stream.cu_stream(), data.address() + 32, 9, 32)?;
            // SAFETY: the stream lives.
            unsafe { result::stream::synchronize(stream.cu_stream()) }?;
            // SAFETY: the context is current.
            let scratch = unsafe { result::malloc_sync(64) }?;
            // SAFETY: it was allocated above.
            unsafe { result::free_sync(scratch) }?;
            Ok(Handle(sender.clone()))
        })?;
        handle.0.send("made")?;
        let workspace = stream.workspace(16)?;
        copy(stream.cu_stream(), workspace.address(), data.address() + 48, 16)?;
        set(stream.cu_stream(), workspace.address(), 5, 16)
    });
    let mut graph = builder.build()?;
    let bytes = |last: u8| -> Vec<u8> { [[0; 32].as_slice(), &[9; 16], &[last; 16]].concat() };
    assert_eq!(graph.device(&data)?.read()?.as_slice(), bytes(9), "it ran at once");
    graph.launch()?;
    assert_eq!(graph.device(&data)?.read()?.as_slice(), bytes(0)); // a workspace is zeroed
    graph.launch()?;
    assert_eq!(graph.device(&data)?.read()?.as_slice(), bytes(5), "and kept");
    drop(graph);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), ["made", "destroyed"]);

    let text = refusal(&device, |stream| {
        let (data,) = stream.memory();
        set(stream.cu_stream(), data.address(), 1, 4)?;
        let _ = stream.prepare(|| Ok(())); // an error that nobody looks at
        set(stream.cu_stream(), data.address(), 1, 4)
    });
    text.ends("`prepare` must come before anything is captured");
    let text = refusal(&device, |stream| {
        stream.prepare(|| stream.prepare(|| Ok(1)))?;
        Ok(())
    });
    assert!(text.contains("`prepare` was called within `prepare`"), "{text}");
    let text = refusal(&device, |stream| {
        stream.prepare(|| Err::<(), _>("no licence".into()))?;
        Ok(())
    });
    text.ends("the closure of the capture failed: no licence");
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_capture_on_another_thread_goes_on() -> Result<()> {
    let (device, _turn) = cuda();
    let stream = new_stream(&device);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("captures");
    let inner = device.clone();
    std::thread::spawn(move || captured(&inner, || ()).map(drop))
        .join()
        .expect("no panic")?;
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    stream.end_capture(flags).expect("the capture was not disturbed");
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn unordered_captures_are_branches_of_the_graph() -> Result<()> {
    let (device, _turn) = cuda();
    let mut builder = GraphBuilder::new(&device, "Branches");
    let halves = builder.device::<[[u8; 64]; 2]>("halves");
    let mut output = builder.host::<[[u8; 64]; 2]>("output");
    let streams = Arc::new(Mutex::new(Vec::new()));
    let nodes = [0, 1].map(|half| {
        let streams = streams.clone();
        let name = ["left", "right"][half];
        builder.capture(name, (&mut halves.row(half),), move |stream| {
            let (half_of,) = stream.memory();
            streams.lock().unwrap().push(stream.cu_stream().addr());
            set(stream.cu_stream(), half_of.address(), half as u8 + 1, 64)
        })
    });
    let download = builder.memcpy("download", &halves, &mut output);
    builder.after(download, &nodes);
    let mut graph = builder.build()?;
    let levels: Vec<usize> = graph.plan().nodes.iter().map(|node| node.level).collect();
    assert_eq!(levels, [0, 0, 1]);
    let streams = streams.lock().unwrap().clone();
    assert!(streams.len() == 2 && streams[0] != streams[1], "{streams:?}");
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[[1; 64], [2; 64]]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_of_captures_is_not_rebound() -> Result<()> {
    let (device, _turn) = cuda();
    let buffers = [device.alloc::<[u8; 64]>()?, device.alloc::<[u8; 64]>()?];
    let mut builder = GraphBuilder::new(&device, "Bound");
    let mut shared = builder.shared("shared", &buffers[0], true);
    builder.capture("calls", (&mut shared,), |stream| {
        let (shared,) = stream.memory();
        set(stream.cu_stream(), shared.address(), 3, 64)
    });
    let mut graph = builder.build()?;
    refused(graph.rebind(&shared, &buffers[1]))
        .says("node `calls`: the memory of a `capture` or `raw` node cannot be rebound");
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [3; 64]);
    Ok(())
}

/// Writes `value` to the first `u32` of `memory`, once that is `expected`, with a batch memory operation node.
fn batch<K>(
    node: &RawNode<'_, K>,
    after: &[sys::CUgraphNode],
    address: sys::CUdeviceptr,
    expected: u32,
    value: u32,
) -> Result<sys::CUgraphNode, BoxError> {
    let word = |value| sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st__bindgen_ty_1 { value };
    let wait = sys::CUstreamBatchMemOpParams_union {
        waitValue: sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st {
            operation: sys::CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32,
            address,
            __bindgen_anon_1: word(expected),
            flags: sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32,
            alias: 0,
        },
    };
    let word = |value| sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st__bindgen_ty_1 { value };
    let write = sys::CUstreamBatchMemOpParams_union {
        writeValue: sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
            operation: sys::CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
            address,
            __bindgen_anon_1: word(value),
            flags: sys::CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_DEFAULT as u32,
            alias: 0,
        },
    };
    let mut operations = [wait, write];
    let params = sys::CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: node.context().cu_ctx(),
        count: operations.len() as u32,
        paramArray: operations.as_mut_ptr(),
        flags: 0,
    };
    let mut added = std::ptr::null_mut();
    // SAFETY: graph and nodes are what the closure was given, the parameters live for the call.
    unsafe { sys::cuGraphAddBatchMemOpNode(&mut added, node.graph(), after.as_ptr(), after.len(), &params) }
        .result()?;
    Ok(added)
}

#[test]
#[ignore = "needs a CUDA device"]
fn raw_nodes_are_between_their_neighbours_and_several_stand_for_one() -> Result<()> {
    let (device, _turn) = cuda();
    let mut builder = GraphBuilder::new(&device, "Batch");
    let mut word = builder.device::<u32>("word");
    let mut output = builder.host::<u32>("output");
    let set = builder.memset("set", &mut word, 5_u32);
    let gone = Arc::new(());
    let kept = gone.clone();
    // SAFETY: the node waits for and writes `word`, which it declares, after all that it is given.
    let flip = unsafe {
        builder.raw("flip", (&mut word,), move |node, after| {
            let _ = &kept;
            let (word,) = node.memory();
            batch(node, after, word.address(), 5, 6)
        })
    };
    let download = builder.memcpy("download", &word, &mut output);
    in_order(&mut builder, &[set, flip, download]);
    let mut graph = builder.build()?;
    for _ in 0..3 {
        graph.launch()?;
        assert_eq!(graph.host(&output)?, &6);
    }
    assert_eq!(Arc::strong_count(&gone), 2);
    drop(graph);
    assert_eq!(Arc::strong_count(&gone), 1);

    let mut builder = GraphBuilder::new(&device, "Chain");
    let mut data = builder.device::<[f32; 4]>("data");
    let set = builder.memset("set", &mut data, 1.0_f32);
    let add = |graph, after: &[sys::CUgraphNode]| -> Result<sys::CUgraphNode, BoxError> {
        let mut added = std::ptr::null_mut();
        // SAFETY: graph and nodes are those that the closure below was given, or added.
        unsafe { sys::cuGraphAddEmptyNode(&mut added, graph, after.as_ptr(), after.len()) }.result()?;
        Ok(added)
    };
    // SAFETY: the two nodes follow each other and touch nothing.
    let chain = unsafe {
        builder.raw("chain", (), move |node, after| {
            let first = add(node.graph(), after)?;
            add(node.graph(), &[first])
        })
    };
    let scale = builder.kernel("scale", Launch::new(1, 4), scale::call(&mut data, 3.0, 4));
    in_order(&mut builder, &[set, chain, scale]);
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [3.0; 4]);

    let build = |null: bool| {
        let mut builder = GraphBuilder::new(&device, "Raw");
        // SAFETY: nothing is added.
        unsafe {
            builder.raw("by_hand", (), move |node, _after| {
                assert!(!node.graph().is_null());
                if null {
                    Ok(std::ptr::null_mut())
                } else {
                    Err("no semaphore".into())
                }
            })
        };
        builder.build().unwrap_err().to_string()
    };
    assert_eq!(build(true), "graph `Raw`, node `by_hand`: the closure returned no node");
    let expected = "graph `Raw`, node `by_hand`: the closure failed: no semaphore";
    assert_eq!(build(false), expected);
    Ok(())
}
