//! The parts that test programs share: the device to test, kernels, and random numbers.
#![expect(dead_code, reason = "every test binary uses a part of this")]

pub(crate) mod describe;
mod kernels;
pub(crate) mod random;

use graph_runtime::cudarc::driver::DeviceRepr;
use graph_runtime::{Code, CudaStream, Device, DeviceBuffer, Diagnostic, Element, EmulatorOptions, Error, Result};
pub(crate) use kernels::*;
use std::fmt::Display;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The device that `CUDA_GRAPH_TEST_DEVICE` asks for: `cuda`, or the emulator. With `CUDA_GRAPH_TEST_DELAYS`, every
/// node of its graphs is delayed at random.
pub(crate) fn device() -> Device {
    let device = if wants_cuda() {
        Device::cuda(0).expect("CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device")
    } else {
        Device::emulator()
    };
    if delayed() { device.with_delays(41) } else { device }
}

/// The emulator that orders what is unordered at random, another way at each launch, and reports nodes that meet; or
/// the GPU.
pub(crate) fn shuffling(seed: u64) -> Device {
    let device = device();
    if !device.is_emulator() {
        return device;
    }
    emulator_with(|options| (options.seed, options.check_unordered) = (Some(seed), true))
}

/// The emulator with an option of its own.
pub(crate) fn emulator_with(set: impl FnOnce(&mut EmulatorOptions)) -> Device {
    let mut options = EmulatorOptions::default();
    set(&mut options);
    Device::emulator_with(options)
}

/// Whether every node is delayed. On CUDA it is two nodes then.
pub(crate) fn delayed() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DELAYS").is_some()
}

/// The CUDA device, for a test that says by `#[ignore]` that it needs one: those run with `--include-ignored`.
pub(crate) fn cuda_device() -> Device {
    assert!(
        wants_cuda(),
        "without CUDA_GRAPH_TEST_DEVICE=cuda, tests use the emulator"
    );
    device()
}

pub(crate) fn wants_cuda() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DEVICE").is_some_and(|device| device == "cuda")
}

/// Steps of the kernel `slow`: enough that a GPU is still busy when the host does the next thing, few for the emulator.
pub(crate) fn slow_steps() -> u64 {
    if wants_cuda() { 8_000_000 } else { 1000 }
}

/// The mistakes of a graph that is not built.
#[track_caller]
pub(crate) fn mistakes<T>(built: Result<T>) -> Vec<Diagnostic> {
    match built {
        Err(Error::Invalid { diagnostics, .. }) => diagnostics,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a mistake was expected, but it is built"),
    }
}

/// The codes of the mistakes of a graph that is not built.
#[track_caller]
pub(crate) fn codes<T>(built: Result<T>) -> Vec<Code> {
    mistakes(built).iter().map(|mistake| mistake.code).collect()
}

/// Holds that a text, such as that of an error, has these parts.
#[track_caller]
pub(crate) fn has(text: impl Display, parts: &[&str]) {
    let text = text.to_string();
    parts
        .iter()
        .for_each(|part| assert!(text.contains(part), "no {part} in {text}"));
}

/// 0, 1, 2, ...
pub(crate) fn counting<const N: usize>() -> [f32; N] {
    std::array::from_fn(|index| index as f32)
}

/// The contents of a buffer on a CUDA device, as cudarc reads them.
pub(crate) fn read_by_cudarc<T: Element + DeviceRepr>(
    buffer: &DeviceBuffer<[T]>,
    stream: &Arc<CudaStream>,
) -> Result<Vec<T>> {
    // SAFETY: the slice is read on a stream of its context, which is not being captured, before it is given back.
    let lent = unsafe { buffer.as_cudarc() }?;
    Ok(stream.clone_dtoh(&*lent).expect("a copy"))
}

/// An executor for one future. Panics if that has not resolved after a minute, which no test takes.
pub(crate) fn block_on<F: std::future::Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    let began = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "nothing has woken the task for a minute"
        );
        thread::park_timeout(Duration::from_secs(60));
    }
}

/// Calls `f` on another thread. Panics if that has not ended after a minute, which no test takes.
pub(crate) fn without_deadlock<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(f()));
    match ended.recv_timeout(Duration::from_secs(60)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("a deadlock: nothing has come back for a minute"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the thread ended by {:?}", thread.join().map(drop)),
    }
}
