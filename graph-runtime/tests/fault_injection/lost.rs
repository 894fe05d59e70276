//! A context that is lost at a call, as by a kernel that fails, and a device whose memory ends. Both by the driver in
//! software alone, in processes of their own.

use crate::common::*;
use crate::graphs::{self, Bucket, Run};
use crate::software::device_with;
use std::env;

/// The environment variable with the call at which the context is lost.
const CALL: &str = "CUDA_GRAPH_FAULTS_CALL";

/// Calls of each kind: of memory, modules, building, changing, launching, waiting.
const CALLS: [&str; 14] = [
    "cuMemAlloc_v2",
    "cuMemHostAlloc",
    "cuModuleGetFunction",
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemsetNode",
    "cuGraphInstantiateWithParams",
    "cuGraphUpload",
    "cuGraphLaunch",
    "cuGraphExecKernelNodeSetParams",
    "cuGraphNodeSetEnabled",
    "cuStreamSynchronize",
    "cuEventRecord",
    "cuStreamWaitEvent",
];

/// Everything fails from that call on; nothing panics, hangs or crashes, also when all is dropped.
#[test]
fn a_context_is_lost_at_each_kind_of_call() {
    let test = "lost::a_context_is_lost_at_each_kind_of_call";
    for call in CALLS {
        for number in [1, 3] {
            let dies = format!("{call}:{number}=700");
            let Some((device, _turn)) = device_with(test, &[("CUDA_GRAPH_DRIVER_DIES", &dies), (CALL, call)]) else {
                continue;
            };
            let Ok(call) = env::var(CALL) else {
                return; // a GPU, whose context lives
            };
            let scenarios = [graphs::statements, graphs::sharing, graphs::pooling, graphs::outside];
            let mut run = Run::new();
            let ended = scenarios
                .into_iter()
                .try_for_each(|scenario| scenario(&device, &mut run));
            let error = ended.expect_err(&call).to_string();
            assert!(error.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{call}: {error}");
            refused(device.alloc::<u32>()).says("CUDA_ERROR_ILLEGAL_ADDRESS");
            return;
        }
    }
}

#[test]
fn graphs_that_fit_are_built_after_one_that_does_not() -> Result<()> {
    let test = "lost::graphs_that_fit_are_built_after_one_that_does_not";
    let Some((device, _turn)) = device_with(test, &[("CUDA_GRAPH_DRIVER_MEMORY", "4194304")]) else {
        return Ok(());
    };
    if !is_software() {
        return Ok(()); // its memory is as large as it is
    }
    for device in [device.clone(), device.with_pool(&device.pool())] {
        let error = refused(Bucket::build(&device, 1 << 20));
        error.begins("graph `Bucket`");
        error.says("CUDA_ERROR_OUT_OF_MEMORY");
        graphs::small(&device, &mut Run::new())?;
        let graph = launched(Bucket::build(&device, 8))?;
        assert_eq!(graph.output()?, &[4; 8]);
    }
    Ok(())
}
