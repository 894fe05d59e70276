//! The driver in software ends what would never end, and its log names the node.

use crate::has_driver;
use crate::setup::{Setup, call, made};
use graph_runtime::cudarc::driver::sys;
use std::env;
use std::process::Command;
use std::ptr;

/// The environment variable of a process that launches something that never ends.
const ENDLESS: &str = "CUDA_GRAPH_ENDLESS";
const TEST: &str = "endless::what_would_never_end_fails_in_a_log_that_names_the_node";

/// A graph of two nodes, one of which never ends: a kernel, or a `while` in the body of an `if`.
fn graph(setup: &Setup, is_kernel: bool) -> sys::CUgraph {
    let graph = setup.graph();
    setup.kernel(graph);
    if is_kernel {
        let function = made!(cuModuleGetFunction(function, setup.module, c"endless".as_ptr()));
        let params = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function,
            kernelParams: ptr::null_mut(),
            ..setup.kernel_params(1, 1, 0, &mut [ptr::null_mut()])
        };
        made!(cuGraphAddKernelNode_v2(node, graph, ptr::null(), 0, &params));
    } else {
        let body = setup.conditional(graph, [0, 1], 1).expect("an `if`");
        // The handle belongs to the whole graph, and the node to the body.
        setup.conditional_in(graph, body, [1, 1], 1).expect("a `while`");
    }
    graph
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_would_never_end_fails_in_a_log_that_names_the_node() {
    assert!(has_driver());
    // A GPU would never be free again.
    if !crate::is_software() {
        return;
    }
    if let Ok(what) = env::var(ENDLESS) {
        let setup = Setup::new();
        let exec = setup.exec(graph(&setup, what == "kernel"));
        call!(cuGraphLaunch(exec, setup.stream.cu_stream()));
        let code = call!(cuStreamSynchronize(setup.stream.cu_stream()));
        assert_eq!(code, sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        std::mem::forget(setup);
        return;
    }
    for (what, expected) in [
        ("kernel", "node 1 (kernel): kernel `endless`"),
        (
            "while",
            "node 1 (if): node 0 (while): began an iteration more than 1s after the launch",
        ),
    ] {
        let mut child = Command::new(env::current_exe().expect("this program has a path"));
        child
            .args(["--exact", TEST, "--nocapture", "--include-ignored"])
            .env(ENDLESS, what)
            .env("CUDA_GRAPH_DRIVER_STEP_LIMIT", "100000")
            .env("CUDA_GRAPH_DRIVER_TIME_LIMIT", "1")
            .env("CUDA_GRAPH_DRIVER_LOG", "1");
        let output = child.output().expect("this program runs again");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains(expected), "{text}");
    }
}
