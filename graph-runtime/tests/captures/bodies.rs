//! Captured calls in the bodies of `if`, `while` and `switch`, and in child graphs there. They need a CUDA device; on
//! the emulator, building them says so.

use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{result, sys};
use std::ffi::CString;

/// `data += value`, by a kernel of a module that is loaded before the capture.
fn add<K>(stream: &CaptureStream<'_, K>, data: &PointerMut<'_, u32, OnDevice>, value: u32) -> Result<(), BoxError> {
    let function = stream.prepare(|| {
        let ptx = CString::new(include_str!("../kernels/conditionals.ptx"))?;
        // SAFETY: the text ends with a zero. (The module stays loaded as long as the context.)
        let module = unsafe { result::module::load_data(ptx.as_ptr().cast()) }?;
        // SAFETY: the module was just loaded.
        let function = unsafe { result::module::get_function(module, CString::new("add_to")?) }?;
        Ok(function.expose_provenance())
    })?;
    let (mut address, mut value) = (data.address(), value);
    let mut params = [(&raw mut address).cast(), (&raw mut value).cast()];
    let function = std::ptr::with_exposed_provenance_mut(*function);
    // SAFETY: the kernel has these two parameters, and one thread of it changes one number, which the node declares.
    unsafe { result::launch_kernel(function, (1, 1, 1), (1, 1, 1), 0, stream.cu_stream(), &mut params) }?;
    Ok(())
}

/// `sum += value; copy = sum`
fn step<K>(
    stream: &CaptureStream<'_, K>,
    sum: &PointerMut<'_, u32, OnDevice>,
    copy: &PointerMut<'_, u32, OnDevice>,
    value: u32,
) -> Result<(), BoxError> {
    add(stream, sum, value)?;
    // SAFETY: both are one number, and the node declares to write them.
    unsafe { result::memcpy_dtod_async(copy.address(), sum.address(), 4, stream.cu_stream()) }?;
    Ok(())
}

cuda_graph! {
    /// Each sum and its copy belong to one body.
    graph Bodies {
        host   input:  [u32; 3];
        host   output: [[u32; 5]; 2];
        device flags:  [u32; 3];
        device sums:   [u32; 5];
        device copies: [u32; 5];

        memcpy upload = input -> flags;
        memset clear  = sums <- 0;
        memset forget = copies <- 0;
        join ready after upload, clear, forget;
        if choice = flags[0] {
            capture then = (&mut sums[0], &mut copies[0]) |stream| step(stream, &sums, &copies, 5);
        } else {
            capture otherwise = (&mut sums[1], &mut copies[1]) |stream| step(stream, &sums, &copies, 6);
        } after ready;
        while repeat = flags[1] {
            capture count = (&mut sums[2], &mut copies[2]) |stream| step(stream, &sums, &copies, 2);
            capture next  = (&mut flags[1]) |stream| add(stream, &flags, MINUS_ONE);
        } after ready;
        switch pick = flags[2] {
            {
                capture zero = (&mut sums[3], &mut copies[3]) |stream| step(stream, &sums, &copies, 7);
            }
            {
                for i in 0..2 {
                    capture one = (&mut sums[4], &mut copies[4]) |stream| step(stream, &sums, &copies, 8);
                }
            }
        } after ready;
        memcpy sums_back   = sums -> output[0] after choice, repeat, pick;
        memcpy copies_back = copies -> output[1] after choice, repeat, pick;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn captured_calls_and_children_with_them_run_in_bodies() -> Result<()> {
    let (device, _turn) = cuda();
    let mut graph = Bodies::build(&device)?;
    for (flags, expected) in [
        ([1, 3, 0], [5, 0, 6, 7, 0]),
        ([0, 0, 1], [0, 6, 0, 0, 16]),
        ([0, 100, 2], [0, 6, 200, 0, 0]),
    ] {
        *graph.input_mut()? = flags;
        graph.launch()?;
        assert_eq!(graph.output()?, &[expected; 2], "the conditions are {flags:?}");
    }

    let mut graph = Children::build(&device)?;
    let mut expected = [0; 3];
    for (rounds, inside) in [(4, 0), (2, 1), (0, 1)] {
        graph.rounds_mut()?.copy_from(&rounds)?;
        graph.inside_mut()?.copy_from(&inside)?;
        graph.launch()?;
        let more = [3, 3 * rounds, 3 * rounds * inside];
        expected = std::array::from_fn(|index| expected[index] + more[index]);
        assert_eq!(*graph.sums()?.read()?, expected);
        assert_eq!(*graph.copies()?.read()?, expected);
    }
    Ok(())
}

cuda_graph! {
    /// A child graph that holds a capture.
    graph Step {
        device sum:  u32;
        device copy: u32;
        capture calls = (&mut sum, &mut copy) |stream| step(stream, &sum, &copy, 3);
    }

    /// The child in two bodies, one inside the other, and beside them.
    graph Children {
        device rounds: u32;
        device inside: u32;
        device sums:   [u32; 3];
        device copies: [u32; 3];
        graph beside = Step(sum: &mut sums[0], copy: &mut copies[0]);
        while repeat = rounds {
            graph outer = Step(sum: &mut sums[1], copy: &mut copies[1]);
            if maybe = inside {
                graph inner = Step(sum: &mut sums[2], copy: &mut copies[2]);
            } after outer;
            kernel next = add_to<<<1, 1>>>(&mut rounds, MINUS_ONE) after maybe;
        };
    }
}

#[test]
fn the_emulator_says_that_it_cannot_in_a_body() {
    let error = Children::build(&Device::emulator()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    error.says("`: library calls are captured from a stream of a CUDA device");
    let error = Bodies::build(&Device::emulator()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

/// Queues a host function that does nothing.
fn call_host(stream: sys::CUstream) -> Result<(), BoxError> {
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    // SAFETY: the function takes any pointer.
    unsafe { sys::cuLaunchHostFunc(stream, Some(nothing), std::ptr::null_mut()) }.result()?;
    Ok(())
}

/// Adds a capture of a host function.
fn host_call(builder: &mut GraphBuilder) -> NodeId {
    builder.capture("calls", (), |stream| call_host(stream.cu_stream()))
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_a_body_cannot_hold_is_named() -> Result<()> {
    let (device, _turn) = cuda();
    // Outside of bodies, CUDA runs it.
    let mut builder = GraphBuilder::new(&device, "Outside");
    host_call(&mut builder);
    let mut graph = builder.build()?;
    graph.launch()?;
    graph.synchronize()?;

    let mut builder = GraphBuilder::new(&device, "Inside");
    let flag = builder.device::<u32>("flag");
    builder.while_loop("repeat", &flag, |body| {
        let maybe = body.if_then("maybe", &flag, |then| {
            host_call(then);
        });
        let stop = body.memset("stop", &mut flag.whole(), 0_u32);
        body.after(stop, &[maybe]);
    });
    mistake(builder.build(), Code::ConditionalBody).begins(
        "capture node `calls` captured a host function, which cannot be in the body of `maybe` [conditional-body]",
    );

    let mut builder = GraphBuilder::new(&device, "Refused");
    let flag = builder.device::<u32>("flag");
    builder.if_then("maybe", &flag, |then| {
        then.capture("calls", (), |stream| {
            // SAFETY: the stream lives.
            let address = unsafe { result::malloc_async(stream.cu_stream(), 64) }?;
            // SAFETY: the memory was allocated above.
            unsafe { result::free_async(address, stream.cu_stream()) }?;
            Ok(())
        });
    });
    refused(builder.build()).begins("graph `Refused`, node `calls`: the library allocates memory when it is called");
    Ok(())
}
