//! Faults that are planted in a graph of 200 nodes: the error names the node and the line, on the emulator and, in
//! debug mode, on the GPU; and what it says there without debug mode. A fault ends all work of a process on the GPU, so
//! each has a process of its own.

mod common;

use crate::common::*;
use std::env;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

#[cuda_kernels("tests/kernels/faults.ptx")]
unsafe extern "C" {
    fn past_end(count: &[u32; 1], out: &mut [u32]);
    fn misaligned(count: &[u32; 1], out: &mut [u32]);
    fn through(count: &[u32; 1], address: &[u64; 1], out: &mut [u32]);
    fn trapped(count: &[u32; 1]);
    fn endless(count: &[u32; 1]);
    fn scribble(count: &[u32; 1], address: &[u64; 1], input: &[u32], out: &mut [u32]);
    fn divided(count: &[u32; 1], parts: &[u32; 1], out: &mut [u32]);
    fn not_finite(count: &[u32; 1], row: &mut [f32]);
    #[allow(needless_mut)]
    fn address_of(data: &mut [u32], out: &mut [u64; 1]);
}

/// Set for the processes that tests start: the fault to plant.
const CHILD: &str = "CUDA_GRAPH_TEST_CHILD";
/// The most time that it takes to name a node and a line.
const MAX_TIME: Duration = Duration::from_secs(10);
/// The last line of a process whose error was right.
const NAMED: &str = "the error names the node";

/// Plants a fault in a process of its own, in debug mode, and expects an error that has all these parts. `cuda` are
/// further parts of the error of a GPU, `emulator` of that of the emulator.
fn in_a_process(test: &str, cuda: &[&str], emulator: &[&str]) {
    in_a_process_in(test, "1", cuda, emulator);
}

/// As [`in_a_process`], in a debug mode of another name.
fn in_a_process_in(test: &str, debug: &str, cuda: &[&str], emulator: &[&str]) {
    in_a_process_with(test, Some(debug), || {
        let mut parts = vec!["graph `Planted`, node `part.planted`: "];
        parts.extend(if device().is_emulator() { emulator } else { cuda });
        named(test, &parts);
    });
}

/// Runs a part of a test in a process of its own, with `CUDA_GRAPH_DEBUG` or without.
fn in_a_process_with(test: &str, debug: Option<&str>, run: impl FnOnce()) {
    if env::var_os(CHILD).is_some_and(|child| child == test) {
        run();
        println!("{NAMED}");
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, test)
        .env_remove("CUDA_GRAPH_DEBUG")
        .env("CUDA_GRAPH_DEBUG_TIMEOUT", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.envs(debug.map(|value| ("CUDA_GRAPH_DEBUG", value)));
    let mut child = command.spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let (mut text, mut errors) = (String::new(), String::new());
        let _ = out.read_to_string(&mut text);
        let _ = err.read_to_string(&mut errors);
        (text, errors)
    });
    // A kernel that never ends may keep the process from ending.
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if began.elapsed() > Duration::from_secs(60) => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (text, errors) = reader.join().unwrap();
    assert!(text.contains(NAMED), "{status:?}\n{text}\n{errors}");
    assert!(
        status.is_none_or(|status| status.success()),
        "{status:?}\n{text}\n{errors}"
    );
    assert!(
        status.is_some(),
        "the error was right, but the process did not end\n{text}\n{errors}"
    );
}

/// The device of the planted faults. On a GPU, the environment asks for debug mode.
fn faulty_device() -> Device {
    if !device().is_emulator() {
        return device();
    }
    emulator_with(|options| (options.step_limit, options.iteration_limit) = (Some(1 << 16), Some(100)))
}

/// Plants a fault, launches twice, and compares the error with what it must say.
fn named(fault: &str, parts: &[&str]) {
    let device = faulty_device();
    let freed = device.alloc_slice::<u32>(1 << 24).unwrap();
    let address = address(&device, &freed).unwrap();
    let shared = device.alloc_slice::<u32>(32).unwrap();
    let (mut graph, place) = planted(&device, fault, &shared).unwrap();
    if fault == "writes_through_shared_references_are_named" {
        graph.update_address(self::address(&device, &shared).unwrap());
    }
    if fault == "memory_whose_rebinding_failed_is_freed" {
        graph.update_address(address);
        // It has another length. Whoever ignores that takes it for kept by the graph.
        assert!(graph.graph.rebind(&place, &freed).is_err());
    }
    drop(freed);
    let graph = &mut graph.graph;
    let began = Instant::now();
    let outcome = graph.launch();
    let waited = graph.synchronize().unwrap_err();
    assert!(began.elapsed() < MAX_TIME, "{:?}", began.elapsed());
    println!("{waited}");
    let Error::Fault { site, .. } = &waited else {
        panic!("{waited}");
    };
    let expected = (Some("Planted"), Some("part.planted"));
    assert_eq!((site.graph_name(), site.node_name()), expected, "{waited}");
    let text = waited.to_string();
    for part in parts {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    if !device.is_emulator() {
        assert_eq!(outcome.unwrap_err().to_string(), text, "the launch has waited");
    }
    let goes_on = [
        "writes_through_shared_references_are_named",
        "values_that_are_not_finite_are_named",
    ];
    if !device.is_emulator() && !goes_on.contains(&fault) {
        assert_eq!(graph.launch().unwrap_err().to_string(), text, "nothing else is blamed");
        assert!(device.alloc::<[f32; 4]>().is_err(), "the context is lost");
        assert!(shared.read_vec().is_err());
    }
}

struct Planted {
    graph: Graph,
    address: Place<[u64; 1], OnDevice>,
}

impl Planted {
    fn update_address(&mut self, address: u64) {
        let mut memory = self.graph.device_mut(&self.address).unwrap();
        memory.copy_from(&[address]).unwrap();
    }
}

/// The address of memory on the device.
fn address(device: &Device, memory: &DeviceBuffer<[u32]>) -> Result<u64> {
    let mut builder = GraphBuilder::new(device, "Address");
    let mut data = builder.shared("data", memory, true);
    let mut out = builder.device::<[u64; 1]>("out");
    // SAFETY: it writes one word of `out`.
    let call = unsafe { address_of::call(&mut data, &mut out) };
    builder.kernel("ask", Launch::new(1, 1), call);
    let graph = launched(builder.build())?;
    Ok(graph.device(&out)?.read()?[0])
}

/// A graph of 200 nodes, of which `planted` fails in the third iteration of a `while`, within an `if`, within a child.
fn planted(device: &Device, fault: &str, shared: &DeviceBuffer<[u32]>) -> Result<(Planted, Place<[u32], OnDevice>)> {
    let launch = || Launch::new(1, 32);
    let mut builder = GraphBuilder::new(device, "Planted");
    let rows = builder.device::<[[f32; 32]; 8]>("rows");
    let place = builder.shared("shared", shared, true);
    let mut out = builder.device::<[u32; 32]>("out");
    let mut count = builder.device::<[u32; 1]>("count");
    let mut more = builder.device::<u32>("more");
    let address = builder.device::<[u64; 1]>("address");
    let parts = builder.device::<[u32; 1]>("parts");
    let mut row = builder.device::<[f32; 32]>("row");
    let mut last: Vec<NodeId> = Vec::new();
    for node in 0..190 {
        let mut row = rows.row(node % 8);
        let id = builder.kernel(format!("scale{node}"), launch(), scale::call(&mut row, 1.0, 32));
        if node >= 8 {
            builder.after(id, &[last[node - 8]]);
        }
        last.push(id);
    }
    let zero = builder.memset("zero", &mut count, 0_u32);
    let begin = builder.memset("begin", &mut more, 1_u32);
    let train = builder.while_loop("train", &more.whole(), |body| {
        let add = body.kernel("add", Launch::new(1, 1), add_to::call(&mut count, 1_u32));
        let part = body.child("part", |child| {
            child.if_then("maybe", &more, |then| {
                macro_rules! plant {
                    ($kernel:ident($($argument:expr),*)) => {{
                        // SAFETY: it is false: that is what these tests are about.
                        let call = unsafe { $kernel::call($($argument),*) };
                        then.kernel("planted", launch(), call)
                    }};
                }
                match fault {
                    "accesses_out_of_bounds_are_named" => plant!(past_end(&count, &mut out)),
                    "misaligned_accesses_are_named" => plant!(misaligned(&count, &mut out)),
                    "traps_are_named" => plant!(trapped(&count)),
                    "kernels_that_do_not_end_are_named" => plant!(endless(&count)),
                    "writes_through_shared_references_are_named" => {
                        plant!(scribble(&count, &address, &place, &mut out))
                    }
                    "divisions_by_a_count_of_0_are_named" => plant!(divided(&count, &parts, &mut out)),
                    "values_that_are_not_finite_are_named" => plant!(not_finite(&count, &mut row)),
                    _ => plant!(through(&count, &address, &mut out)),
                };
            });
        });
        body.after(part, &[add]);
        let again = body.kernel("again", Launch::new(1, 1), is_below::call(&count, 5_u32, &mut more));
        body.after(again, &[part]);
    });
    builder.after(train, &[zero, begin]);
    let end = builder.join("end");
    builder.after(end, &[train]);
    let graph = builder.build()?;
    Ok((Planted { graph, address }, place))
}

/// The parts of every error of a GPU.
macro_rules! on_cuda {
    ($($part:literal),*) => {
        &[
            $($part,)*
            "\nnote: it was launched as `<<<(1, 1, 1), (32, 1, 1)>>>`",
            "\nnote: one launch of this graph on the CPU emulator ",
            "faults.cu:",
            "\nnote: its arguments: `count`: 4 bytes of `count`, at 0x",
            "\nnote: it is in the `if` node `part.maybe`, in the `graph` node `part`, in iteration 3 of the `while` node `train`",
        ]
    };
}

#[test]
fn accesses_out_of_bounds_are_named() {
    in_a_process(
        "accesses_out_of_bounds_are_named",
        on_cuda!["kernel `past_end` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): it accessed"],
        &[
            "kernel `past_end`, block (0, 0, 0), thread (0, 0, 0)",
            "faults.cu:",
            "store of 4 bytes at address",
        ],
    );
}

#[test]
fn misaligned_accesses_are_named() {
    in_a_process(
        "misaligned_accesses_are_named",
        on_cuda!["kernel `misaligned` failed: CUDA_ERROR_MISALIGNED_ADDRESS (716): it accessed"],
        &["kernel `misaligned`", "misaligned address"],
    );
}

#[test]
fn null_pointers_are_named() {
    in_a_process(
        "null_pointers_are_named",
        on_cuda!["kernel `through` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): it accessed"],
        &["kernel `through`", "through a null pointer"],
    );
}

#[test]
fn traps_are_named() {
    in_a_process(
        "traps_are_named",
        on_cuda!["kernel `trapped` failed: CUDA_ERROR_"],
        &["kernel `trapped`", "the kernel executed `trap`"],
    );
}

#[test]
fn memory_whose_rebinding_failed_is_freed() {
    in_a_process(
        "memory_whose_rebinding_failed_is_freed",
        on_cuda!["kernel `through` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): it accessed"],
        &["kernel `through`", "which was freed"],
    );
}

#[test]
fn divisions_by_a_count_of_0_are_named() {
    in_a_process(
        "divisions_by_a_count_of_0_are_named",
        on_cuda!["kernel `divided` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): it accessed"],
        &["kernel `divided`", "faults.cu:", "store of 4 bytes"],
    );
}

#[test]
fn writes_through_shared_references_are_named() {
    in_a_process_in(
        "writes_through_shared_references_are_named",
        "writes",
        on_cuda!["kernel `scribble` wrote to byte 0 of `shared`, which it gets to read only (`&`)"],
        &["kernel `scribble`", "faults.cu:", "store of 4 bytes", "`shared`"],
    );
}

#[test]
fn values_that_are_not_finite_are_named() {
    in_a_process_in(
        "values_that_are_not_finite_are_named",
        "nan",
        &[
            "kernel `not_finite` wrote NaN to element 0 of `row`: the first value of the launch that is not finite",
            "\nnote: one launch of this graph on the CPU emulator fails there, too: ",
            "faults.cu:",
        ],
        &[
            "kernel `not_finite` wrote NaN to element 0 of `row`: the first value of the launch that is not finite",
            "\nnote: kernel `not_finite`, block (0, 0, 0), thread (0, 0, 0)",
            "faults.cu:",
            "a store of a value that is not finite",
        ],
    );
}

#[test]
fn kernels_that_do_not_end_are_named() {
    in_a_process(
        "kernels_that_do_not_end_are_named",
        on_cuda!["kernel `endless` has run for 2s, the time limit of debug mode, and has not ended"],
        &["kernel `endless`", "warp instructions"],
    );
}

/// Without debug mode, what a launch on the emulator finds is in the error of the GPU.
fn unasked(fault: &str, parts: &[&str]) {
    let device = faulty_device();
    let shared = device.alloc_slice::<u32>(32).unwrap();
    let (mut graph, _) = planted(&device, fault, &shared).unwrap();
    let began = Instant::now();
    let waited = graph
        .graph
        .launch()
        .and_then(|()| graph.graph.synchronize())
        .unwrap_err();
    assert!(began.elapsed() < MAX_TIME, "{:?}", began.elapsed());
    println!("{waited}");
    assert_eq!(matches!(waited, Error::Cuda { .. }), !device.is_emulator(), "{waited}");
    has(&waited, &["graph `Planted`"]);
    if !device.is_emulator() {
        has(&waited, parts);
        assert!(device.alloc::<[f32; 4]>().is_err(), "the context is lost");
    }
}

#[test]
fn the_emulator_finds_the_node_without_being_asked() {
    const TEST: &str = "the_emulator_finds_the_node_without_being_asked";
    in_a_process_with(TEST, None, || {
        unasked(
            "accesses_out_of_bounds_are_named",
            &[
                "graph `Planted`: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
                "\nnote: one launch of this graph on the CPU emulator fails at node `part.planted`: kernel `past_end`",
                "faults.cu:9",
                "\nnote: the contents of `rows`, `out` are lost, but it fails so whether they are zero or not",
                "\nhelp: run the program with `CUDA_GRAPH_DEBUG=1`",
            ],
        );
    });
}

/// The address of the access is lost with the memory that had it.
#[test]
fn what_depends_on_lost_contents_is_not_certain() {
    const TEST: &str = "what_depends_on_lost_contents_is_not_certain";
    in_a_process_with(TEST, None, || {
        unasked(
            "null_pointers_are_named",
            &[
                "on the CPU emulator fails at node `part.planted`: kernel `through`",
                "\nnote: it may be another fault, since the contents of `rows`, `out`, `address` are lost, and were zero",
            ],
        );
    });
}

/// Views of one memory overlap on the emulator, too: what the kernel reads was written through another view.
#[test]
fn views_of_one_memory_overlap_on_the_emulator() {
    #[cuda_kernels("tests/kernels/faults.ptx")]
    unsafe extern "C" {
        #[link_name = "trapped"]
        fn trapped_by(count: &[u32]);
    }
    const TEST: &str = "views_of_one_memory_overlap_on_the_emulator";
    in_a_process_with(TEST, None, || {
        let device = faulty_device();
        let arena = device.alloc_slice::<u32>(64).unwrap();
        let mut builder = GraphBuilder::new(&device, "Views");
        let mut all = builder.shared("all", &arena.rows(..48).unwrap(), true);
        let count = builder.shared("count", &arena.rows(40..).unwrap(), false);
        let set = builder.memset("set", &mut all, 3_u32);
        // SAFETY: it is false: the kernel ends the launch.
        let call = unsafe { trapped_by::call(&count) };
        let trap = builder.kernel("trap", Launch::new(1, 1), call);
        builder.after(trap, &[set]);
        let mut graph = builder.build().unwrap();
        let failed = graph.launch().and_then(|()| graph.synchronize()).unwrap_err();
        println!("{failed}");
        has(&failed, &["node `trap`: kernel `trapped`"]);
    });
}

#[test]
fn host_functions_are_not_called_again() {
    const TEST: &str = "host_functions_are_not_called_again";
    in_a_process_with(TEST, None, || {
        let device = faulty_device();
        let calls = Arc::new(AtomicU32::new(0));
        let mut builder = GraphBuilder::new(&device, "Called");
        let mut index = builder.host::<[u32; 4]>("index");
        let mut on_device = builder.device::<[u32; 4]>("on_device");
        let table = builder.device::<[f32; 4]>("table");
        let mut out = builder.device::<[f32; 4]>("out");
        let counter = calls.clone();
        let write = builder.call("write", (&mut index,), move |(index,)| {
            counter.fetch_add(1, Ordering::Relaxed);
            index.fill(u32::MAX);
        });
        let upload = builder.memcpy("upload", &index, &mut on_device);
        builder.after(upload, &[write]);
        // SAFETY: it is false: that is what this test is about.
        let call = unsafe { gather::call(&on_device, &table, &mut out) };
        let look_up = builder.kernel("look_up", Launch::new(1, 4), call);
        builder.after(look_up, &[upload]);
        let mut other = builder.device::<[f32; 4]>("other");
        builder.kernel("beside", Launch::new(1, 4), scale::call(&mut other, 1.0, 4));
        let mut graph = builder.build().unwrap();
        let failed = graph.launch().and_then(|()| graph.synchronize()).unwrap_err();
        println!("{failed}");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        if device.is_emulator() {
            has(&failed, &["graph `Called`, node `look_up`"]);
        } else {
            let left_out = "\nnote: that launch had to leave out node `write`, and what comes after it";
            has(
                &failed,
                &[
                    "on the CPU emulator finds no fault; but the contents of `other` are lost",
                    left_out,
                ],
            );
        }
    });
}

/// A `while` is not sticky: the graph can be launched again.
#[test]
fn whiles_that_do_not_end_are_named() -> Result<()> {
    let device = match device() {
        device if device.is_emulator() => faulty_device(),
        device => device.with_debug(DebugOptions {
            iteration_limit: Some(100),
            ..Default::default()
        }),
    };
    let mut builder = GraphBuilder::new(&device, "Endless");
    let mut count = builder.device::<[u32; 1]>("count");
    let mut more = builder.device::<u32>("more");
    builder.while_loop("train", &more.whole(), |body| {
        let add = body.kernel("add", Launch::new(1, 1), add_to::call(&mut count, 1_u32));
        let again = body.kernel("again", Launch::new(1, 1), is_below::call(&count, 300_u32, &mut more));
        body.after(again, &[add]);
    });
    let mut graph = builder.build()?;
    graph.device_mut(&more)?.copy_from(&1)?;
    let _ = graph.launch();
    refused(graph.synchronize())
        .begins("graph `Endless`, node `train`: began more than 100 iterations in one launch, the limit of ");
    let _ = graph.launch();
    assert!(graph.synchronize().is_err());
    graph.launch()?;
    assert_eq!(
        (graph.device(&count)?.read()?[0], *graph.device(&more)?.read()?),
        (300, 0)
    );
    Ok(())
}
