//! The cost of editing a graph.

use super::{BATCH, Device, Result, THREADS, bump, check, kernel_params, report};
use graph_runtime::cudarc::driver::sys;
use graph_runtime::{RawGraph, cuda_graph};
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

const ROUNDS: usize = 100;
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

/// `edit` against three calls of `cuGraphExecKernelNodeSetParams_v2` for the same nodes, while no launch is in flight:
/// by themselves, and with the launch that follows. Every call changes a value.
pub(crate) fn measure(device: &Device) -> Result<()> {
    println!(
        "\n{}: CPU time to set three params that 3 of {EDITED} nodes use, in rounds of {BATCH} (wanted: at most 1.10)",
        device.name()
    );
    let mut graph = Edited::build(device)?;
    let raw = graph.raw().expect("a CUDA graph");
    let (nodes, mut value, wait) = (last_three(&raw), 2, || {
        check(unsafe_call!(cuStreamSynchronize(raw.stream)))
    });
    let mut bare = |launches: bool| {
        let mut seconds = 0.0;
        for _ in 0..BATCH {
            let start = Instant::now();
            value += 1;
            for &(node, function, mut buffer) in &nodes {
                let mut arguments = [(&raw mut buffer).cast::<c_void>(), (&raw mut value).cast()];
                let params = kernel_params(function, &mut arguments);
                check(unsafe_call!(cuGraphExecKernelNodeSetParams_v2(
                    raw.exec,
                    node,
                    black_box(&params)
                )));
            }
            if launches {
                check(unsafe_call!(cuGraphLaunch(raw.exec, raw.stream)));
            }
            seconds += start.elapsed().as_secs_f64();
            wait();
        }
        seconds / f64::from(BATCH) * 1e6
    };
    let mut value = 2;
    let mut ours = |launches: bool| {
        let mut seconds = 0.0;
        for _ in 0..BATCH {
            let start = Instant::now();
            value += 1;
            let edited = graph.edit(|e| {
                e.set_a(value)?;
                e.set_b(value)?;
                e.set_c(value)
            });
            edited.expect("the graph is edited");
            if launches {
                graph.launch().expect("the graph launches");
            }
            seconds += start.elapsed().as_secs_f64();
            wait();
        }
        seconds / f64::from(BATCH) * 1e6
    };
    for (what, launches) in [("edit", false), ("edit and launch", true)] {
        for _ in 0..20 {
            bare(launches);
            ours(launches);
        }
        let (mut times, mut bares) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            if round % 2 == 0 {
                bares.push(bare(launches));
                times.push(ours(launches));
            } else {
                times.push(ours(launches));
                bares.push(bare(launches));
            }
        }
        report(what, "us", &times, &bares);
    }
    Ok(())
}

/// The nodes that were added last, each with its function and the address of its buffer.
fn last_three(raw: &RawGraph) -> Vec<(sys::CUgraphNode, sys::CUfunction, sys::CUdeviceptr)> {
    let mut count = 0;
    check(unsafe_call!(cuGraphGetNodes(raw.graph, ptr::null_mut(), &mut count)));
    let mut nodes = vec![ptr::null_mut(); count];
    check(unsafe_call!(cuGraphGetNodes(raw.graph, nodes.as_mut_ptr(), &mut count)));
    let last = nodes.split_off(count - 3).into_iter().map(|node| {
        let mut none = [];
        let mut params = kernel_params(ptr::null_mut(), &mut none);
        check(unsafe_call!(cuGraphKernelNodeGetParams_v2(node, &mut params)));
        // SAFETY: the node has a copy of its arguments.
        let buffer = unsafe { params.kernelParams.read() };
        // SAFETY: the first argument of `bump` is an address.
        let buffer = unsafe { buffer.cast::<sys::CUdeviceptr>().read() };
        (node, params.func, buffer)
    });
    last.collect()
}
