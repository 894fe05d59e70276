//! The streams that regions are recorded from: what a capture forbids on them, side streams, streams of the user's own,
//! and the state in which a failure leaves them.

use crate::common::library::copy;
use crate::common::*;
use crate::region::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{CudaStream, result, sys};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
#[ignore = "needs a CUDA device"]
fn modes_say_which_calls_are_forbidden() -> Result<()> {
    let (device, _turn) = cuda();
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
    let context = context(&device).clone();
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
#[ignore = "needs a CUDA device"]
fn side_streams_are_forked_nested_and_joined() -> Result<()> {
    let (device, _turn) = cuda();
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
    text.says("CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
    text.says("work was forked to another stream");
    for stream in [&outer, &inner] {
        assert!(!is_capturing(stream)?);
        stream.synchronize().expect("it is usable");
    }
    works(&device)
}

#[test]
#[ignore = "needs a CUDA device"]
fn errors_and_panics_leave_streams_usable() -> Result<()> {
    let (device, _turn) = cuda();
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
#[ignore = "needs a CUDA device"]
fn a_stream_says_whether_it_is_capturing() -> Result<()> {
    let (device, _turn) = cuda();
    let stream = new_stream(&device);
    assert!(!is_capturing(&stream)?);
    assert!(!is_capturing(&context(&device).default_stream())?);
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
        let is_capturing = is_capturing(unsafe { stream.cudarc() })?;
        streams.lock().expect("no panic").push(is_capturing);
        set(stream.cu_stream(), stream.memory().0.address(), 1)
    })?;
    assert_eq!(*seen.lock().expect("no panic"), [false, true]);
    Ok(())
}

/// `capture_begin` and `capture_end`, on a stream of the user's.
#[test]
#[ignore = "needs a CUDA device"]
fn a_stream_of_the_users_is_recorded() -> Result<()> {
    let (device, _turn) = cuda();
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
        copy(stream.cu_stream(), &from, &to).expect("it is queued");
        add(&stream, &kernel, to.address(), 2).expect("it is queued");
        let mut graph = capture.end()?;
        assert!(!is_capturing(&stream)?);
        y.copy_from(&[0; 64])?;
        graph.launch()?;
        assert_eq!(*y.read()?, [7; 64]);
        graph.launch_on(&stream)?;
        assert_eq!(*y.read()?, [7; 64]);
        for error in [graph.record_again().unwrap_err(), graph.rebind(&place, &x).unwrap_err()] {
            let is_refused = matches!(error, Error::Unsupported { .. } | Error::Invalid { .. });
            assert!(is_refused, "{error}");
        }
        graph.launch()?;
    }
    // A capture that ends without a graph leaves the stream usable.
    drop(begin(CaptureMode::ThreadLocal)?);
    assert!(!is_capturing(&stream)?);
    refused(begin(CaptureMode::ThreadLocal)?.0.end()).says("graph `Begun`, node `recorded`: nothing was recorded");
    let (capture, _) = begin(CaptureMode::ThreadLocal)?;
    let other = new_stream(&device);
    other.join(&stream).expect("a fork");
    set(other.cu_stream(), capture.memory().1.address(), 1).expect("it is queued");
    refused(capture.end()).says("work was forked to another stream");
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
#[ignore = "needs a CUDA device"]
fn what_a_stream_of_the_users_cannot_record_is_refused() -> Result<()> {
    fn begin(builder: GraphBuilder, stream: &Arc<CudaStream>) -> Error {
        // SAFETY: nothing is queued.
        let begun = unsafe { builder.begin_capture(stream, CaptureMode::ThreadLocal, ()) };
        begun.map(drop).expect_err("it is refused")
    }
    let (device, _turn) = cuda();
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
    error.says("the builder must have no nodes of its own");
    let error = begin(GraphBuilder::new(&device, "Begun"), &context(&device).default_stream());
    assert!(matches!(error, Error::Cuda { .. }), "{error}");
    assert!(!is_capturing(&stream)?);
    Ok(())
}
