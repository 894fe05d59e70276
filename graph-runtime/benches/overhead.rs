//! The costs of this crate over the bare driver calls: of launching a graph, also on a pool, of building one of 10,000
//! nodes, and of editing three of 1,000 nodes; the time after which a launch's future is woken; and the time to build
//! graphs that share one large PTX text, with the argument `modules` this alone, on the emulator, too.
//!
//! Both sides run in one process, in turns, on the same executable graph (launching) or the same nodes and edges
//! (building, editing). Numbers are CPU times: medians over rounds, and the first and third quartiles.

#[path = "overhead/futures.rs"]
mod futures;
#[cfg(feature = "cudart")]
#[path = "overhead/runtime.rs"]
mod runtime;

use graph_runtime::cudarc::driver::{LaunchConfig, PushKernelArg, sys};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{
    CaptureOptions, CapturedGraph, Device, Graph, GraphBuilder, Launch, NodeId, OnDevice, Place, Result, cuda_kernels,
};
use std::ffi::{CString, c_void};
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

/// Launches between two waits: few enough that the queue of the GPU never makes the CPU wait.
const BATCH: u32 = 32;
const LAUNCH_ROUNDS: usize = 400;
const BUILD_ROUNDS: usize = 15;
const NODES: usize = 10_000;
const THREADS: u32 = 8;

/// The PTX of the kernel, for the side without this crate.
const PTX: &str = include_str!("overhead.ptx");

#[cuda_kernels("benches/overhead.ptx")]
unsafe extern "C" {
    /// `data[i] += by`, one thread for each element
    #[requires(threads <= data.len())]
    safe fn bump(data: &mut [u32], by: u32);
    /// Takes so many cycles of the GPU's clock.
    safe fn take(data: &mut [u32; 1], cycles: u32);
}

/// A bare driver call, as a program without this crate would make it.
macro_rules! unsafe_call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: every handle in this file lives until the end of the function or value that made it, the device's
        // context is current, and pointers are to locals that outlive the call.
        unsafe { sys::$function($($argument),*) }
    };
}

#[path = "overhead/editing.rs"]
mod editing;
#[path = "overhead/modules.rs"]
mod modules;
#[path = "overhead/pools.rs"]
mod pools;

fn main() -> Result<()> {
    let device = Device::any()?;
    if std::env::args().any(|argument| argument == "modules") {
        return modules::measure(&device);
    }
    if device.is_emulator() {
        println!(
            "overhead: there is no CUDA device, so there are no driver calls to compare with; nothing is measured"
        );
        return Ok(());
    }
    println!("{}: CPU time per launch, in rounds of {BATCH} launches", device.name());
    for kernels in [1, 10, 100] {
        launching(
            &format!("chain of {kernels:>3}"),
            build(&device, kernels, 1, names(kernels))?,
        );
        launching("  captured", captured(&device, kernels)?.into());
        #[cfg(feature = "cudart")]
        runtime::measure(&device, kernels);
    }
    editing::measure(&device)?;
    println!("\n{}: CPU time to build {NODES} kernel nodes", device.name());
    println!(
        "(both sides load the module, allocate and zero the memory, create a stream, add, instantiate, upload and wait;"
    );
    println!(
        " all launches are alike, room for the nodes is reserved and names are made beforehand; `net`: less what building one node takes, each side's own)"
    );
    for chains in [1, 8] {
        building(&device, chains);
    }
    modules::measure(&device)?;
    pools::measure(&device)?;
    futures::measure(&device)
}

/// `Graph::launch` against `cuGraphLaunch` of the same executable graph on the same stream.
fn launching(title: &str, mut graph: Graph) {
    let raw = graph.raw().expect("a CUDA graph");
    let bare = || {
        for _ in 0..BATCH {
            check(black_box(unsafe_call!(cuGraphLaunch(raw.exec, raw.stream))));
        }
    };
    let ours = || {
        for _ in 0..BATCH {
            black_box(graph.launch()).expect("the graph launches");
        }
    };
    compare(title, ours, bare, || {
        check(unsafe_call!(cuStreamSynchronize(raw.stream)));
    });
}

/// Measures two ways to make [`BATCH`] launches, which `wait` then waits for.
fn compare(title: &str, mut ours: impl FnMut(), mut bare: impl FnMut(), wait: impl Fn()) {
    let time = |launch: &mut dyn FnMut()| {
        let start = Instant::now();
        launch();
        let time = start.elapsed().as_secs_f64();
        wait();
        time / f64::from(BATCH) * 1e6
    };
    let (times, bares) = turns(20, LAUNCH_ROUNDS, || time(&mut ours), || time(&mut bare));
    report(title, "us", &times, &bares);
}

/// The times of two ways to do the same. The second to run finds warmer caches, so the two take turns. The first rounds
/// do not count.
fn turns(
    first: usize,
    rounds: usize,
    mut ours: impl FnMut() -> f64,
    mut bare: impl FnMut() -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let both = |round: usize| {
        if round.is_multiple_of(2) {
            let bare = bare();
            (ours(), bare)
        } else {
            (ours(), bare())
        }
    };
    (0..first + rounds).map(both).skip(first).unzip()
}

/// A chain of kernels that is captured, not declared.
fn captured(device: &Device, kernels: usize) -> Result<CapturedGraph> {
    let context = device.context().expect("a CUDA device");
    let module = context.load_module(Ptx::from_src(PTX)).expect("the module loads");
    let bump = module.load_function("bump").expect("the kernel is there");
    let mut builder = GraphBuilder::new(device, "Captured");
    let mut data = builder.device::<[u32; THREADS as usize]>("data");
    builder.build_captured(CaptureOptions::default(), (&mut data,), move |stream| {
        let (data,) = stream.memory();
        // SAFETY: what is queued on it writes `data`.
        let stream = unsafe { stream.cudarc() };
        let (address, one) = (data.address(), 1_u32);
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        for _ in 0..kernels {
            // SAFETY: the kernel takes an address of `THREADS` words, and a number to add to them.
            unsafe { stream.launch_builder(&bump).arg(&address).arg(&one).launch(config) }?;
        }
        Ok(())
    })
}

/// A launch of `bump`.
fn kernel_params(function: sys::CUfunction, arguments: &mut [*mut c_void]) -> sys::CUDA_KERNEL_NODE_PARAMS {
    sys::CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: THREADS,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: arguments.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: ptr::null_mut(),
        ctx: ptr::null_mut(),
    }
}

/// `GraphBuilder` against the driver calls that it makes.
fn building(device: &Device, chains: usize) {
    let context = device.context().expect("a CUDA device").cu_ctx();
    let ours = |nodes: usize| {
        let names = names(nodes);
        let start = Instant::now();
        let graph = build(device, nodes, chains, names).expect("the graph is built");
        let time = start.elapsed().as_secs_f64() * 1e3;
        drop(graph);
        time
    };
    let bare = |nodes: usize| {
        check(unsafe_call!(cuCtxSetCurrent(context)));
        let start = Instant::now();
        let graph = Bare::build(nodes, chains);
        let time = start.elapsed().as_secs_f64() * 1e3;
        drop(graph);
        time
    };
    let (times, bares) = turns(1, BUILD_ROUNDS, || ours(NODES), || bare(NODES));
    // In rounds of their own: who builds just after a large graph was destroyed pays for that, 0.5 ms.
    let (fixed, fixed_bares) = turns(5, BUILD_ROUNDS, || ours(chains), || bare(chains));
    let plural = if chains == 1 { " " } else { "s" };
    report(&format!("{chains} chain{plural}"), "ms", &times, &bares);
    report(&format!("  {chains} node{plural} only"), "ms", &fixed, &fixed_bares);
    let net = |times: &[f64], fixed: &[f64]| quartiles(times)[1] - quartiles(fixed)[1];
    let (ours, bare) = (net(&times, &fixed), net(&bares, &fixed_bares));
    println!(
        "  net              {ours:8.3} ms   bare {bare:8.3} ms                     ratio {:.3}",
        ours / bare
    );
}

fn names(nodes: usize) -> Vec<String> {
    (0..nodes).map(|index| format!("bump_{index}")).collect()
}

fn build(device: &Device, nodes: usize, chains: usize, names: Vec<String>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Chains");
    builder.reserve(nodes);
    let mut buffers: Vec<Place<[u32; THREADS as usize], OnDevice>> = (0..chains)
        .map(|chain| builder.device(format!("data_{chain}")))
        .collect();
    for (index, name) in (0..nodes).zip(names) {
        let call = bump::call(&mut buffers[index % chains], 1);
        let node = builder.kernel(name, Launch::new(1, THREADS), call);
        if let Some(before) = index.checked_sub(chains) {
            builder.after(node, &[NodeId::new(before)]);
        }
    }
    builder.build()
}

/// The same graph, made by bare driver calls.
struct Bare {
    module: sys::CUmodule,
    stream: sys::CUstream,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
    buffers: Vec<sys::CUdeviceptr>,
}

impl Bare {
    fn build(nodes: usize, chains: usize) -> Self {
        let mut bare = Self {
            module: ptr::null_mut(),
            stream: ptr::null_mut(),
            graph: ptr::null_mut(),
            exec: ptr::null_mut(),
            buffers: vec![0; chains],
        };
        let image = CString::new(PTX).expect("no zero bytes");
        check(unsafe_call!(cuStreamCreate(&mut bare.stream, 1)));
        for buffer in &mut bare.buffers {
            let bytes = 4 * THREADS as usize;
            check(unsafe_call!(cuMemAlloc_v2(buffer, bytes)));
            check(unsafe_call!(cuMemsetD8Async(*buffer, 0, bytes, bare.stream)));
            check(unsafe_call!(cuStreamSynchronize(bare.stream)));
        }
        check(unsafe_call!(cuModuleLoadData(&mut bare.module, image.as_ptr().cast())));
        let mut function = ptr::null_mut();
        check(unsafe_call!(cuModuleGetFunction(
            &mut function,
            bare.module,
            c"bump".as_ptr()
        )));
        check(unsafe_call!(cuGraphCreate(&mut bare.graph, 0)));
        let mut handles: Vec<sys::CUgraphNode> = Vec::with_capacity(nodes);
        for index in 0..nodes {
            let (mut buffer, mut by) = (bare.buffers[index % chains], 1_u32);
            let mut arguments = [(&raw mut buffer).cast::<c_void>(), (&raw mut by).cast()];
            let params = kernel_params(function, &mut arguments);
            let before = index.checked_sub(chains).map(|before| handles[before]);
            let before = before.as_slice();
            let mut node = ptr::null_mut();
            check(unsafe_call!(cuGraphAddKernelNode_v2(
                &mut node,
                bare.graph,
                before.as_ptr(),
                before.len(),
                &params
            )));
            handles.push(node);
        }
        let mut params = sys::CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags: 0,
            hUploadStream: ptr::null_mut(),
            hErrNode_out: ptr::null_mut(),
            result_out: sys::CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
        };
        check(unsafe_call!(cuGraphInstantiateWithParams(
            &mut bare.exec,
            bare.graph,
            &mut params
        )));
        check(unsafe_call!(cuGraphUpload(bare.exec, bare.stream)));
        check(unsafe_call!(cuStreamSynchronize(bare.stream)));
        bare
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        check(unsafe_call!(cuGraphExecDestroy(self.exec)));
        check(unsafe_call!(cuGraphDestroy(self.graph)));
        check(unsafe_call!(cuModuleUnload(self.module)));
        check(unsafe_call!(cuStreamDestroy_v2(self.stream)));
        for &buffer in &self.buffers {
            check(unsafe_call!(cuMemFree_v2(buffer)));
        }
    }
}

fn check(result: sys::CUresult) {
    assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
}

/// The first quartile, the median and the third quartile.
fn quartiles(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

/// One line: both medians with their spread, and the ratio of the medians.
fn report(what: &str, unit: &str, ours: &[f64], bare: &[f64]) {
    let ([low, median, high], [bare_low, bare_median, bare_high]) = (quartiles(ours), quartiles(bare));
    println!(
        "{what:<16} {median:8.3} {unit} ({low:.3} to {high:.3})   bare {bare_median:8.3} {unit} ({bare_low:.3} to {bare_high:.3})   ratio {:.3}",
        median / bare_median
    );
}
