//! Launches by the runtime library, against its bare call and against the driver's.

use crate::{BATCH, build, check, compare, names};
use graph_runtime::cudarc::driver::sys::{self, CUgraphExec, CUstream};
use graph_runtime::{Device, Result};
use libloading::Library;
use std::hint::black_box;

/// `cudaGraphLaunch`
type GraphLaunch = unsafe extern "C" fn(CUgraphExec, CUstream) -> u32;

/// `Graph::launch` of a chain of kernels against `cudaGraphLaunch`, and against `cuGraphLaunch`, of the same executable
/// graph on the same stream.
pub(crate) fn measure(device: &Device, kernels: usize) {
    if let Err(error) = try_measure(&device.with_runtime_api(), kernels) {
        println!("  by the runtime: {error}");
    }
}

fn try_measure(device: &Device, kernels: usize) -> Result<()> {
    let mut graph = build(device, kernels, 1, names(kernels))?;
    let raw = graph.raw().expect("a CUDA graph");
    // SAFETY: the handles live, and the context is current.
    let wait = || check(unsafe { sys::cuStreamSynchronize(raw.stream) });
    let mut ours = || {
        for _ in 0..BATCH {
            black_box(graph.launch()).expect("the graph launches");
        }
    };
    // Under the name by which it was loaded just now, so it is not loaded again.
    let names = ["libcudart.so.13", "libcudart.so.12", "libcudart.so"];
    // SAFETY: as for every library that the system has.
    let library = names.into_iter().find_map(|name| unsafe { Library::new(name) }.ok());
    if let Some(library) = library {
        // SAFETY: the type is that of CUDA's header, with an integer for its enum.
        let launch = unsafe { library.get::<GraphLaunch>(b"cudaGraphLaunch") }.expect("the function is there");
        let bare = || {
            for _ in 0..BATCH {
                // SAFETY: the handles live, and the context is current.
                assert_eq!(black_box(unsafe { launch(raw.exec, raw.stream) }), 0);
            }
        };
        compare("  by the runtime", &mut ours, bare, wait);
    }
    let bare = || {
        for _ in 0..BATCH {
            // SAFETY: as above.
            check(black_box(unsafe { sys::cuGraphLaunch(raw.exec, raw.stream) }));
        }
    };
    compare("   bare: driver's", &mut ours, bare, wait);
    Ok(())
}
