//! The parts that test programs share: the device to test, kernels, and random numbers.
#![expect(dead_code, reason = "every test binary uses a part of this")]

pub(crate) mod describe;
mod kernels;
pub(crate) mod library;
pub(crate) mod listener;
pub(crate) mod random;
pub(crate) mod tensor;

use graph_runtime::cudarc::driver::{CudaContext, DeviceRepr};
pub(crate) use graph_runtime::*;
pub(crate) use kernels::*;
use std::fmt::Display;
use std::pin::pin;
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The device that `CUDA_GRAPH_TEST_DEVICE` asks for: `cuda`, or the emulator. With `CUDA_GRAPH_TEST_DELAYS`, every
/// node of its graphs is delayed at random. With `CUDA_GRAPH_TEST_KEEPS_CONTEXT`, the context of a CUDA device stays
/// from test to test: under compute-sanitizer, making it takes seconds.
pub(crate) fn device() -> Device {
    static KEPT: OnceLock<Option<Device>> = OnceLock::new();
    let device = if wants_cuda() {
        let cuda = || Device::cuda(0).expect("CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device");
        KEPT.get_or_init(|| keeps_context().then(cuda));
        cuda()
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

/// Whether the host chooses which bodies run: on the emulator, and in debug mode.
pub(crate) fn runs_node_by_node() -> bool {
    !wants_cuda() || std::env::var_os("CUDA_GRAPH_DEBUG").is_some()
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

/// Added to a number, takes one from it.
pub(crate) const MINUS_ONE: u32 = u32::MAX;
/// Steps of `add_late` that take a GPU some 100 microseconds.
pub(crate) const LATE: u64 = 6000;

/// Whether the tests run under compute-sanitizer.
pub(crate) fn keeps_context() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_KEEPS_CONTEXT").is_some()
}

/// Whether the CUDA driver is the one in software, as `cargo xtask driver` says.
pub(crate) fn is_software() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DRIVER").is_some()
}

/// Steps of the kernel `slow`: enough that a GPU is still busy when the host does the next thing, few for the emulator.
pub(crate) fn slow_steps() -> u64 {
    if wants_cuda() && !is_software() {
        8_000_000
    } else {
        1000
    }
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

/// The only mistake of a graph that is not built, which has this code.
#[track_caller]
pub(crate) fn mistake<T>(built: Result<T>, code: Code) -> Diagnostic {
    let mut found = mistakes(built);
    assert_eq!((found.len(), found[0].code), (1, code), "{found:?}");
    found.remove(0)
}

/// The codes of the mistakes of a graph that is not built.
#[track_caller]
pub(crate) fn codes<T>(built: Result<T>) -> Vec<Code> {
    mistakes(built).iter().map(|mistake| mistake.code).collect()
}

/// Holds that a text, such as that of an error, has these parts.
#[track_caller]
pub(crate) fn has(text: impl Display, parts: &[&str]) {
    for part in parts {
        text.says(part);
    }
}

/// The error of what is refused.
#[track_caller]
pub(crate) fn refused<T>(result: Result<T>) -> Error {
    match result {
        Err(error) => error,
        Ok(_) => panic!("it is not refused"),
    }
}

/// What tests assert of a text, such as that of an error.
pub(crate) trait Says: Display {
    /// Holds that this is the whole text.
    #[track_caller]
    fn reads(&self, whole: &str) {
        assert_eq!(self.to_string(), whole);
    }

    /// Holds that this is a part of the text.
    #[track_caller]
    fn says(&self, part: &str) {
        assert!(self.to_string().contains(part), "no {part} in {self}");
    }

    /// Holds that the text begins so.
    #[track_caller]
    fn begins(&self, start: &str) {
        assert!(self.to_string().starts_with(start), "{start} does not begin {self}");
    }

    /// Holds that the text ends so.
    #[track_caller]
    fn ends(&self, end: &str) {
        assert!(self.to_string().ends_with(end), "{end} does not end {self}");
    }
}

impl<T: Display + ?Sized> Says for T {}

/// A graph that was built, after its first launch.
pub(crate) fn launched<G: AnyGraph>(built: Result<G>) -> Result<G> {
    let mut graph = built?;
    graph.launch()?;
    Ok(graph)
}

/// Lets each node run after the one before it.
pub(crate) fn in_order(builder: &mut GraphBuilder, nodes: &[NodeId]) {
    nodes.windows(2).for_each(|pair| builder.after(pair[1], &pair[..1]));
}

/// A graph, the index of its kernel, what that writes, and its node.
type Faulty = (Graph, Place<[u32; 4], OnHost>, Place<[f32; 4], OnDevice>, NodeId);

/// A graph whose kernel reads outside its table where its index says so.
pub(crate) fn faulty(device: &Device) -> Result<Faulty> {
    let mut builder = GraphBuilder::new(device, "Faulty");
    let index = builder.host::<[u32; 4]>("index");
    let mut on_device = builder.device::<[u32; 4]>("on_device");
    let table = builder.device::<[f32; 4]>("table");
    let mut out = builder.device::<[f32; 4]>("out");
    let upload = builder.memcpy("upload", &index, &mut on_device);
    // SAFETY: an index may be out of bounds: the emulator finds it, and on a GPU no other test shares the process.
    let call = unsafe { gather::call(&on_device, &table, &mut out) };
    let node = builder.kernel("look_up", Launch::new(1, 4), call);
    builder.after(node, &[upload]);
    Ok((builder.build()?, index, out, node))
}

/// The numbers in a log of the kernel `log_offset`, which begins with their count.
pub(crate) fn entries(log: &[u64; 100]) -> Vec<u64> {
    log[1..=log[0] as usize].to_vec()
}

/// 0, 1, 2, ...
pub(crate) fn counting<const N: usize>() -> [f32; N] {
    std::array::from_fn(|index| index as f32)
}

/// The context of a CUDA device.
pub(crate) fn context(device: &Device) -> &Arc<CudaContext> {
    device.context().expect("a CUDA device has a context")
}

/// A stream of a CUDA device.
pub(crate) fn new_stream(device: &Device) -> Arc<CudaStream> {
    context(device).new_stream().expect("a new stream")
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
