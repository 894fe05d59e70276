//! Graphs that are built of what was read from others, and the kinds of nodes that are read.

use crate::common::*;
use crate::lift::{Unpooled, address, nodes, zeroes};
use crate::region::*;
use crate::turn::cuda;
use graph_runtime::cudarc;
use graph_runtime::cudarc::driver::{CudaStream, PushKernelArg, sys};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{ptr, slice};

const PTX: &str = include_str!("../kernels/conditionals.ptx");

/// A graph that was written as Rust: see [`the_text_of_a_graph_compiles_and_computes_the_same`].
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "the launches are those of the graph that was read"
)]
mod written {
    use graph_runtime::{Device, Result, cuda_graph, cuda_kernels};

    include!("written.rs");

    /// The contents of `x`, `y` and `out` after a launch.
    pub(super) fn launched(device: &Device) -> Result<[Vec<u32>; 3]> {
        let mut graph = Step::build(device)?;
        graph.launch()?;
        Ok([
            graph.x()?.read()?.to_vec(),
            graph.y()?.read()?.to_vec(),
            graph.out()?.to_vec(),
        ])
    }
}

/// Makes a call of the driver.
macro_rules! call {
    ($($call:tt)*) => {{
        // SAFETY: the handles and the memory of the calls of these tests live until nothing uses them any more, and
        // their parameters live for the calls.
        let code = unsafe { sys::$($call)* };
        assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    }};
}

/// The graph of what `calls` queues on a stream.
fn captured(stream: &Arc<CudaStream>, calls: impl FnOnce() -> Result<(), BoxError>) -> Result<sys::CUgraph, BoxError> {
    stream.synchronize()?;
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    calls()?;
    let mut graph = ptr::null_mut();
    call!(cuStreamEndCapture(stream.cu_stream(), &mut graph));
    Ok(graph)
}

/// Launches a graph once, and destroys it.
fn run(graph: sys::CUgraph, stream: &Arc<CudaStream>) -> Result<(), BoxError> {
    launch(graph, stream)?;
    call!(cuGraphDestroy(graph));
    Ok(())
}

/// Launches a graph once.
fn launch(graph: sys::CUgraph, stream: &Arc<CudaStream>) -> Result<(), BoxError> {
    let mut exec = ptr::null_mut();
    call!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    call!(cuGraphLaunch(exec, stream.cu_stream()));
    stream.synchronize()?;
    call!(cuGraphExecDestroy(exec));
    Ok(())
}

/// Counts its calls.
unsafe extern "C" fn count(calls: *mut c_void) {
    // SAFETY: the test passes the address of a counter that outlives the graph.
    unsafe { &*calls.cast::<AtomicU32>() }.fetch_add(1, Relaxed);
}

/// A batch that waits until a word is 6, and makes it 9.
fn add_batch(graph: sys::CUgraph, after: &[sys::CUgraphNode], context: sys::CUcontext, word: u64) {
    // The operations as words: the number, the address, the value, and the flags.
    let mut operations = [[1, word, 6, 1, 0, 0], [2, word, 9, 0, 0, 0_u64]];
    let params = sys::CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: context,
        count: 2,
        paramArray: operations.as_mut_ptr().cast(),
        flags: 0,
    };
    let mut added = ptr::null_mut();
    call!(cuGraphAddBatchMemOpNode(
        &mut added,
        graph,
        after.as_ptr(),
        after.len(),
        &params
    ));
}

/// The priority of a kernel node.
fn priority(node: sys::CUgraphNode) -> i32 {
    let mut value = sys::CUkernelNodeAttrValue { pad: [0; 64] };
    let attribute = sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    call!(cuGraphKernelNodeGetAttribute(node, attribute, &mut value));
    // SAFETY: the attribute is a number.
    unsafe { value.priority }
}

#[test]
#[ignore = "needs a CUDA device"]
fn each_kind_of_node_is_read_and_built() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let kernel = adder(&device);
    let context = context(&device);
    let stream = context.new_stream()?;
    let calls = AtomicU32::new(0);
    let memory: Vec<Unpooled> = (0..3).map(|_| zeroes(&stream, 64)).collect::<Result<_, _>>()?;
    let [x, y, z] = [0, 1, 2].map(|index| address(&memory[index]));
    let graph = captured(&stream, || {
        set(stream.cu_stream(), x, 5)?;
        add(&stream, &kernel, x, 1)
    })?;
    let first = nodes(graph);
    let mut value = sys::CUkernelNodeAttrValue { pad: [0; 64] };
    value.priority = -1;
    let attribute = sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    call!(cuGraphKernelNodeSetAttribute(first[1], attribute, &value));
    add_batch(graph, &first[1..], context.cu_ctx(), x);
    let last = |graph| *nodes(graph).last().expect("it has nodes");
    let child = captured(&stream, || set(stream.cu_stream(), z, 3))?;
    let events = [context.new_event(None)?, context.new_event(None)?];
    let mut node = ptr::null_mut();
    {
        // `CUDA_MEMCPY3D` as words, of which the fifth ones are the kinds of memory.
        let mut copy = [0_u64; 25];
        (copy[4], copy[6], copy[15], copy[17]) = (2, x, 2, y);
        copy[22..].copy_from_slice(&[256, 1, 1]);
        let copy: *const sys::CUDA_MEMCPY3D = copy.as_ptr().cast();
        let before = last(graph);
        call!(cuGraphAddMemcpyNode(
            &mut node,
            graph,
            &before,
            1,
            copy,
            context.cu_ctx()
        ));
        call!(cuGraphAddChildGraphNode(&mut node, graph, ptr::null(), 0, child));
        let before = node;
        call!(cuGraphAddEventRecordNode(
            &mut node,
            graph,
            &before,
            1,
            events[0].cu_event()
        ));
        let before = node;
        call!(cuGraphAddEventWaitNode(
            &mut node,
            graph,
            &before,
            1,
            events[1].cu_event()
        ));
        let before = node;
        call!(cuGraphAddEmptyNode(&mut node, graph, &before, 1));
        let host = sys::CUDA_HOST_NODE_PARAMS {
            fn_: Some(count),
            userData: (&raw const calls).cast_mut().cast(),
        };
        let before = node;
        call!(cuGraphAddHostNode(&mut node, graph, &before, 1, &host));
        call!(cuGraphDestroy(child));
    }
    let options = LiftOptions::new()
        .ptx(PTX)?
        .memory("x", x, 256)
        .memory("y", y, 256)
        .memory("z", z, 256);
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
    let plan = lifted.plan();
    let names: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(
        names,
        [
            "fill_0", "add_to_0", "batch_0", "copy_0", "graph_0", "fill_1", "record_0", "wait_0", "join_0", "host_0"
        ]
    );
    let unknown: Vec<&str> = lifted.unknown_nodes().map(|(name, _)| name).collect();
    assert_eq!(unknown, ["batch_0", "host_0"]);
    // SAFETY: the kernel, the events and the counter live.
    let built = unsafe { lifted.build() }?;
    // SAFETY: as above; memory and PTX are those of the graph.
    let needed = unsafe { lifted.build_needed() }?;
    assert_eq!(priority(nodes(built)[1]), -1);
    // SAFETY: the graph that was built lives, and nothing changes it.
    let again = unsafe { Lifted::from_raw(built, &options) }?;
    assert!(again.plan().diff(plan).is_empty(), "{}", again.plan().diff(plan));
    let mut contents = Vec::new();
    for graph in [graph, built, needed] {
        for buffer in &memory {
            set(stream.cu_stream(), address(buffer), 0)?;
        }
        run(graph, &stream)?;
        let read = memory.iter().map(|buffer| stream.clone_dtoh(&**buffer));
        contents.push(read.collect::<Result<Vec<_>, _>>()?);
    }
    assert_eq!((contents[0][0][..2].to_vec(), contents[0][2][0]), (vec![9, 6], 3));
    assert_eq!(contents[0][1], contents[0][0]);
    assert!(contents[1..].iter().all(|other| *other == contents[0]));
    assert_eq!(calls.load(Relaxed), 3);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_graph_that_is_built_has_the_edges_that_are_asked_for() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let kernel = adder(&device);
    let stream = context(&device).new_stream()?;
    let memory: Vec<Unpooled> = (0..2).map(|_| zeroes(&stream, 64)).collect::<Result<_, _>>()?;
    let addresses = [address(&memory[0]), address(&memory[1])]; // which a capture cannot be asked for
    let graph = captured(&stream, || {
        (0..8).try_for_each(|step| add(&stream, &kernel, addresses[step % 2], step as u32))
    })?;
    let mut options = LiftOptions::new().fatbin(include_bytes!("../kernels/zstd.fatbin"))?;
    assert!(LiftOptions::new().fatbin(b"nothing").is_err());
    for (name, buffer) in ["x", "y"].into_iter().zip(&memory) {
        options = options.memory(name, address(buffer), 256);
    }
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
    // A process that another test has started is told no arguments.
    let is_told = std::env::var_os(FAILS).is_none();
    assert_eq!(lifted.unknown_nodes().count(), if is_told { 0 } else { 8 });
    launch(graph, &stream)?;
    if is_told {
        call!(cuGraphDestroy(graph)); // the plan is all that is left
    }
    let expected = memory.iter().map(|buffer| stream.clone_dtoh(&**buffer));
    let expected = expected.collect::<Result<Vec<_>, _>>()?;
    let edges = |graph: sys::CUgraph| -> Result<usize> {
        // SAFETY: the graph lives, and nothing changes it.
        let read = unsafe { Lifted::from_raw(graph, &options) }?;
        Ok(read.plan().nodes.iter().map(|node| node.after.len()).sum())
    };
    for is_needed in [false, true] {
        let built = if is_needed {
            // SAFETY: the kernel lives, and memory and PTX are those of the graph.
            unsafe { lifted.build_needed() }
        } else {
            // SAFETY: as above.
            unsafe { lifted.build() }
        }?;
        assert_eq!(edges(built)?, if is_needed && is_told { 6 } else { 7 });
        memory
            .iter()
            .try_for_each(|buffer| set(stream.cu_stream(), address(buffer), 0))?;
        run(built, &stream)?;
        for (buffer, expected) in memory.iter().zip(&expected) {
            assert_eq!(stream.clone_dtoh(&**buffer)?, *expected);
        }
    }
    if !is_told {
        call!(cuGraphDestroy(graph));
    }
    Ok(())
}

/// The variable by which calls of the driver in software fail.
const FAILS: &str = "CUDA_GRAPH_DRIVER_FAILS";

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_whose_arguments_are_not_told_are_built_like_the_nodes_that_were_read() -> Result<(), BoxError> {
    if !is_software() {
        println!("lift: this driver cannot be told to fail");
        return Ok(());
    }
    let test = "rebuilt::a_graph_that_is_built_has_the_edges_that_are_asked_for";
    let run = std::process::Command::new(std::env::current_exe()?)
        .args(["--include-ignored", "--exact", test])
        .env(FAILS, "cuFuncGetParamInfo=801")
        .output()?;
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && text.contains("1 passed"), "{text}");
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn allocations_of_a_graph_are_known_and_belong_to_it() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let stream = context(&device).new_stream()?;
    let graph = captured(&stream, || {
        let mut memory = 0;
        call!(cuMemAllocAsync(&mut memory, 4096, stream.cu_stream()));
        set(stream.cu_stream(), memory, 5)?;
        call!(cuMemFreeAsync(memory, stream.cu_stream()));
        Ok(())
    })?;
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &LiftOptions::new()) }?;
    assert_eq!(lifted.unknown_nodes().next(), None);
    let accesses = lifted.plan().nodes.iter().map(|node| node.accesses.len());
    assert_eq!(accesses.collect::<Vec<_>>(), [1; 3]);
    assert!(lifted.plan().unneeded_edges().is_empty());
    // SAFETY: nothing is built.
    let error = unsafe { lifted.build() }.expect_err("it allocates");
    assert_eq!(
        error.to_string(),
        "graph `Lifted`, node `alloc_0`: it cannot be in another graph: another graph gets the memory of an allocation at \
         another address"
    );
    call!(cuGraphDestroy(graph));
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn bodies_of_a_conditional_node_are_read_if_the_driver_tells_them() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let context = context(&device);
    let stream = context.new_stream()?;
    let data = zeroes(&stream, 64)?;
    stream.synchronize()?;
    let x = address(&data);
    let (mut graph, mut handle, mut node) = (ptr::null_mut(), 0, ptr::null_mut());
    let fill = |words| sys::CUDA_MEMSET_NODE_PARAMS {
        dst: x,
        pitch: 0,
        value: 1,
        elementSize: 4,
        width: words,
        height: 1,
    };
    {
        call!(cuGraphCreate(&mut graph, 0));
        call!(cuGraphConditionalHandleCreate(
            &mut handle,
            graph,
            context.cu_ctx(),
            1,
            1
        ));
        // SAFETY: all fields are numbers and pointers, of which zeros are values; so is the type of a kernel.
        let mut params: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: context.cu_ctx(),
        };
        call!(cuGraphAddNode_v2(
            &mut node,
            graph,
            ptr::null(),
            ptr::null(),
            0,
            &mut params
        ));
        // SAFETY: it is the parameters' part for conditional nodes.
        let bodies = unsafe { params.__bindgen_anon_1.conditional }.phGraph_out;
        // SAFETY: the driver has written the address of the list of bodies, which is one.
        let body = unsafe { *bodies };
        call!(cuGraphAddMemsetNode(
            &mut node,
            body,
            ptr::null(),
            0,
            &fill(16),
            context.cu_ctx()
        ));
        call!(cuGraphAddMemsetNode(
            &mut node,
            graph,
            ptr::null(),
            0,
            &fill(8),
            context.cu_ctx()
        ));
    }
    let options = LiftOptions::new().memory("x", x, 256);
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
    let names: Vec<&str> = lifted.plan().nodes.iter().map(|node| &*node.name).collect();
    if names[0] == "if_0" {
        assert_eq!(names, ["if_0", "fill_0", "fill_1"]);
        assert_eq!(lifted.unknown_nodes().next(), None);
        let texts: Vec<String> = lifted.findings().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            ["racing: `fill_0` and `fill_1` both touch `x[0..32]`, and nothing orders them"]
        );
    } else {
        // A driver before CUDA 13.2.
        assert_eq!(names, ["conditional_0", "fill_0"]);
        let reason = "the driver does not tell the bodies of a conditional node (before CUDA 13.2)";
        assert_eq!(lifted.unknown_nodes().collect::<Vec<_>>(), [("conditional_0", reason)]);
        assert_eq!((lifted.findings().len(), lifted.pairs_apart()), (0, 0));
    }
    // SAFETY: nothing is built.
    let error = unsafe { lifted.build() }
        .expect_err("a condition has one graph")
        .to_string();
    assert!(
        error.contains("it cannot be in another graph: its condition belongs to the graph"),
        "{error}"
    );
    call!(cuGraphDestroy(graph));
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_text_of_a_graph_compiles_and_computes_the_same() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let context = context(&device);
    let module = context.load_module(cudarc::nvrtc::Ptx::from_src(PTX))?;
    let (kernel, sum) = (module.load_function("add_to")?, module.load_function("accumulate")?);
    let stream = context.new_stream()?;
    let calls = AtomicU32::new(0);
    let memory: Vec<Unpooled> = (0..2).map(|_| zeroes(&stream, 64)).collect::<Result<_, _>>()?;
    let [x, y] = [0, 1].map(|index| address(&memory[index]));
    let mut out = ptr::null_mut();
    call!(cuMemHostAlloc(&mut out, 256, 0));
    let graph = captured(&stream, || {
        set(stream.cu_stream(), x, 5)?;
        add(&stream, &kernel, x, 1)?;
        let data = (&raw const calls).cast_mut().cast();
        call!(cuLaunchHostFunc(stream.cu_stream(), Some(count), data));
        let config = cudarc::driver::LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (64, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: both are memory of 64 words.
        unsafe { stream.launch_builder(&sum).arg(&x).arg(&y).launch(config) }?;
        call!(cuMemcpyDtoDAsync_v2(x + 32, y, 32, stream.cu_stream()));
        call!(cuMemcpyDtoHAsync_v2(out, x, 256, stream.cu_stream()));
        Ok(())
    })?;
    let options = LiftOptions::new()
        .name("Step")
        .ptx(PTX)?
        .memory("x", x, 256)
        .memory("y", y, 256)
        .memory("out", out.expose_provenance() as u64, 256);
    // SAFETY: the graph lives, and nothing changes it.
    let text = unsafe { Lifted::from_raw(graph, &options) }?.to_rust();
    let text = text.replace("\"kernels.ptx\"", "\"tests/kernels/conditionals.ptx\"");
    assert_eq!(text, include_str!("written.rs"));
    run(graph, &stream)?;
    let contents = memory.iter().map(|buffer| stream.clone_dtoh(&**buffer));
    let mut contents = contents.collect::<Result<Vec<_>, _>>()?;
    // SAFETY: the driver has allocated 64 words, and the launch, which has ended, has written them.
    contents.push(unsafe { slice::from_raw_parts(out.cast::<u32>(), 64) }.to_vec());
    assert_eq!(written::launched(&device)?.to_vec(), contents);
    call!(cuMemFreeHost(out));
    assert_eq!(written::launched(&Device::emulator())?, written::launched(&device)?);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_differs_between_two_captures_is_what_was_changed() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let kernel = adder(&device);
    let stream = context(&device).new_stream()?;
    let memory = zeroes(&stream, 64)?;
    let x = address(&memory);
    let options = LiftOptions::new().ptx(PTX)?.memory("x", x, 256);
    let lifted = |has_fill: bool| -> Result<Lifted, BoxError> {
        let graph = captured(&stream, || {
            add(&stream, &kernel, x, 1)?;
            if has_fill {
                set(stream.cu_stream(), x, 5)?;
            }
            add(&stream, &kernel, x, 2)
        })?;
        // SAFETY: the graph lives, and nothing changes it.
        let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
        call!(cuGraphDestroy(graph));
        Ok(lifted)
    };
    let (before, after) = (lifted(false)?, lifted(true)?);
    assert_eq!(
        before.plan().diff(after.plan()).to_string(),
        "+ node `fill_0`: memset, writes x\n\
         + edge add_to_0 -> fill_0\n\
         + edge fill_0 -> add_to_1\n\
         - edge add_to_0 -> add_to_1"
    );
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn copies_to_variables_of_modules_keep_their_order() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let context = context(&device);
    let ptx = include_str!("../kernels/constants.ptx");
    let stream = context.new_stream()?;
    let memory: Vec<Unpooled> = (0..2).map(|_| zeroes(&stream, 64)).collect::<Result<_, _>>()?;
    let [x, y] = [0, 1].map(|index| address(&memory[index]));
    let (mut table, mut bytes, mut raw) = (0, 0, ptr::null_mut());
    let image = std::ffi::CString::new(ptx)?;
    call!(cuModuleLoadData(&mut raw, image.as_ptr().cast()));
    call!(cuModuleGetGlobal_v2(&mut table, &mut bytes, raw, c"table".as_ptr()));
    let mut kernel = ptr::null_mut();
    call!(cuModuleGetFunction(&mut kernel, raw, c"weigh".as_ptr()));
    let graph = captured(&stream, || {
        call!(cuMemcpyDtoDAsync_v2(table, y, bytes, stream.cu_stream()));
        let mut address = x;
        let mut params = [(&raw mut address).cast::<c_void>()];
        let (params, none) = (params.as_mut_ptr(), ptr::null_mut());
        call!(cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            64,
            1,
            1,
            0,
            stream.cu_stream(),
            params,
            none
        ));
        Ok(())
    })?;
    let options = LiftOptions::new().ptx(ptx)?.memory("x", x, 256).memory("y", y, 256);
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
    assert!(
        lifted.plan().unneeded_edges().is_empty(),
        "{}",
        lifted.plan().unneeded_edges()
    );
    assert!(
        lifted.to_rust().contains("it uses `table` of its module"),
        "{}",
        lifted.to_rust()
    );
    call!(cuGraphDestroy(graph));
    call!(cuModuleUnload(raw));
    Ok(())
}
