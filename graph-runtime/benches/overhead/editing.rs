//! The cost of editing a graph.

use super::{BATCH, Device, Result, THREADS, bump, check, kernel_params, quartiles, report, turns};
use graph_runtime::cudarc::driver::sys;
use graph_runtime::{RawGraph, cuda_graph};
use std::cell::Cell;
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

/// The nodes of the graph that is edited.
const EDITED: usize = 1_000;

cuda_graph! {
    graph Edited {
        device data: [u32; 8];
        param  a: u32 = 1;
        param  b: u32 = 1;
        param  c: u32 = 1;

        for i in 3..EDITED {
            kernel other = bump<<<1, THREADS>>>(&mut data, 1);
        }
        kernel first  = bump<<<1, THREADS>>>(&mut data, a) after other;
        kernel second = bump<<<1, THREADS>>>(&mut data, b) after first;
        kernel third  = bump<<<1, THREADS>>>(&mut data, c) after second;
    }
}

/// `edit` against three calls of `cuGraphExecKernelNodeSetParams_v2` for the same nodes: by themselves, and with the
/// launch that follows. Every call changes a value. The bare side calls `_v2` because programs do, by CUDA's header and
/// by cudarc. `edit` calls the first version of the same function, which makes the same change in less time: three
/// bare calls of that version would take 0.06 to 0.09 us less.
pub(crate) fn measure(device: &Device) -> Result<()> {
    println!(
        "\n{}: CPU time to set three params that 3 of {EDITED} nodes use, in rounds of {BATCH} (wanted: a median of at most 1.05)",
        device.name()
    );
    let mut graph = Edited::build(device)?;
    let raw = graph.raw().expect("a CUDA graph");
    let mut nodes: Vec<BareNode> = last_three(&raw);
    let set = set_params();
    for (what, launches, samples, rounds) in [("edit", false, 9, 200), ("edit and launch", true, 1, 30)] {
        let mut ours = |value: u32| {
            let edited = graph.edit(|e| {
                e.set_a(value)?;
                e.set_b(value)?;
                e.set_c(value)
            });
            edited.expect("the graph is edited");
            if launches {
                graph.launch().expect("the graph launches");
            }
        };
        let mut bare = |value: u32| {
            for node in &mut nodes {
                *node.value = value;
                // SAFETY: `exec` was made of the graph with this node, and `params` points to arguments of `bump`.
                check(unsafe { set(raw.exec, node.node, black_box(&node.params)) });
            }
            if launches {
                check(unsafe_call!(cuGraphLaunch(raw.exec, raw.stream)));
            }
        };
        let wait = || check(unsafe_call!(cuStreamSynchronize(raw.stream)));
        let mut ratios: Vec<f64> = (0..samples)
            .map(|_| sample(what, rounds, &mut ours, &mut bare, wait))
            .collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let (above, median) = (ratios.iter().filter(|&&ratio| ratio > 1.05), ratios[samples / 2]);
        println!(
            "{what}: the median of {samples} ratios is {median:.3}, {} above 1.05",
            above.count()
        );
    }
    Ok(())
}

/// Prints the times of both sides, which take turns, and returns the ratio of their medians.
fn sample(what: &str, rounds: usize, ours: &mut dyn FnMut(u32), bare: &mut dyn FnMut(u32), wait: impl Fn()) -> f64 {
    let value = Cell::new(1);
    let time = |edit: &mut dyn FnMut(u32)| {
        let start = Instant::now();
        for _ in 0..BATCH {
            value.set(value.get() + 1);
            edit(value.get());
        }
        let seconds = start.elapsed().as_secs_f64();
        wait();
        seconds / f64::from(BATCH) * 1e6
    };
    let (times, bares) = turns(rounds / 10, rounds, || time(ours), || time(bare));
    report(what, "us", &times, &bares);
    quartiles(&times)[1] / quartiles(&bares)[1]
}

/// One of the nodes with its parameters, which point to `value` and to its other argument.
struct BareNode {
    node: sys::CUgraphNode,
    params: sys::CUDA_KERNEL_NODE_PARAMS,
    value: Box<u32>,
}

/// The nodes that were added last, ready to be given other values.
fn last_three(raw: &RawGraph) -> Vec<BareNode> {
    let mut count = 0;
    check(unsafe_call!(cuGraphGetNodes(raw.graph, ptr::null_mut(), &mut count)));
    let mut nodes = vec![ptr::null_mut(); count];
    check(unsafe_call!(cuGraphGetNodes(raw.graph, nodes.as_mut_ptr(), &mut count)));
    let last = nodes.split_off(count - 3).into_iter().map(|node| {
        let mut params = kernel_params(ptr::null_mut(), &mut []);
        check(unsafe_call!(cuGraphKernelNodeGetParams_v2(node, &mut params)));
        // SAFETY: the node has a copy of its arguments.
        let buffer = unsafe { params.kernelParams.read() };
        let mut value = Box::new(1_u32);
        let arguments = Box::leak(Box::new([buffer, (&raw mut *value).cast::<c_void>()]));
        let params = kernel_params(params.func, arguments);
        BareNode { node, params, value }
    });
    last.collect()
}

/// The driver's own function: the bindings look for it at each call.
fn set_params() -> SetParams {
    let mut function = ptr::null_mut();
    let name = c"cuGraphExecKernelNodeSetParams".as_ptr();
    check(unsafe_call!(cuGetProcAddress_v2(
        name,
        &mut function,
        12000,
        0,
        ptr::null_mut()
    )));
    // SAFETY: this is its type since CUDA 12.0.
    unsafe { std::mem::transmute::<*mut c_void, SetParams>(function) }
}

type SetParams =
    unsafe extern "C" fn(sys::CUgraphExec, sys::CUgraphNode, *const sys::CUDA_KERNEL_NODE_PARAMS) -> sys::CUresult;
