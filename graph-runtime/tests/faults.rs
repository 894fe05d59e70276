//! Faults that are planted in a graph of 200 nodes: the error names the node, on the emulator and, in debug mode, on
//! the GPU. A fault ends all work of a process on the GPU, so each has a process of its own.

mod common;

use crate::common::*;
use std::env;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cuda_kernels("tests/kernels/faults.ptx")]
unsafe extern "C" {
    fn past_end(count: &[u32; 1], out: &mut [u32]);
    fn misaligned(count: &[u32; 1], out: &mut [u32]);
    fn through(count: &[u32; 1], address: &[u64; 1], out: &mut [u32]);
    fn trapped(count: &[u32; 1]);
    fn endless(count: &[u32; 1]);
    #[allow(needless_mut)]
    fn address_of(data: &mut [u32], out: &mut [u64; 1]);
}

/// Set for the processes that tests start: the fault to plant.
const CHILD: &str = "CUDA_GRAPH_TEST_CHILD";
/// The last line of a process whose error was right.
const NAMED: &str = "the error names the node";

/// Plants a fault in a process of its own, and expects an error that has all these parts. `cuda` are further parts of
/// the error of a GPU, `emulator` of that of the emulator.
fn in_a_process(test: &str, cuda: &[&str], emulator: &[&str]) {
    if env::var_os(CHILD).is_some_and(|child| child == test) {
        let mut parts = vec!["graph `Planted`, node `part.planted`: "];
        parts.extend(if device().is_emulator() { emulator } else { cuda });
        named(test, &parts);
        println!("{NAMED}");
        return;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, test)
        .env("CUDA_GRAPH_DEBUG", "1")
        .env("CUDA_GRAPH_DEBUG_TIMEOUT", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
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
    if fault == "memory_whose_rebinding_failed_is_freed" {
        graph.update_address(address);
        // It has another length. Whoever ignores that takes it for kept by the graph.
        assert!(graph.graph.rebind(&place, &freed).is_err());
    }
    drop(freed);
    let graph = &mut graph.graph;
    let outcome = graph.launch();
    let waited = graph.synchronize().unwrap_err();
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
fn kernels_that_do_not_end_are_named() {
    in_a_process(
        "kernels_that_do_not_end_are_named",
        on_cuda!["kernel `endless` has run for 2s, the time limit of debug mode, and has not ended"],
        &["kernel `endless`", "warp instructions"],
    );
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
