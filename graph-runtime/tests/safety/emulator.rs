//! Mistakes that the emulator finds in graphs, in words: graph, node, kernel, block, thread, line and memory. Emulator
//! only.

use crate::common::*;
use graph_runtime::kernel::KernelFacts;
use graph_runtime::private::plan::{Mode, Param, ParamKind};
use std::process::Command;
use std::sync::{Arc, Mutex};

#[cuda_kernels("tests/kernels/emulator.ptx")]
unsafe extern "C" {
    fn past_end(out: &mut [u32]);
    fn misaligned(out: &mut [u32]);
    fn null_pointer(out: &mut [u32]);
    fn through(address: &[u64], out: &mut [u32]);
    #[allow(needless_mut)]
    fn address_of(data: &mut [u32], out: &mut [u64]);
    fn address_of_total(out: &mut [u64]);
    fn draw(out: &mut [u32]);
    fn unwritten(out: &mut [u32]);
    fn race(out: &mut [u32]);
    #[allow(needless_mut)]
    fn forever(out: &mut [u32]);
}

#[cuda_kernels("tests/kernels/print.ptx")]
unsafe extern "C" {
    fn say(out: &mut [u32]);
}

const fn buffer(name: &'static str, mode: Mode) -> Param {
    let kind = ParamKind::Buffer { unit: 4, mode };
    Param { name, kind }
}

/// Says that it only reads `in`.
enum StoreToInput {}

// SAFETY: it is false, and the emulator finds it.
unsafe impl Kernel for StoreToInput {
    const FACTS: &'static KernelFacts = &KernelFacts {
        name: "store_to_input",
        entry: "store_to_input",
        params: &[buffer("in", Mode::Read), buffer("out", Mode::ReadWrite)],
        ..*past_end::FACTS
    };
}

/// The kernel `draw`, which hides that it uses `total`: several may draw in any order.
enum HiddenDraw {}

// SAFETY: it is false; the emulator runs one node after the other, and is not asked to compare them.
unsafe impl Kernel for HiddenDraw {
    const FACTS: &'static KernelFacts = &KernelFacts {
        variables: &[],
        ..*draw::FACTS
    };
}

type Data = Place<[u32; 32], graph_runtime::OnDevice>;
type Address = Place<[u64; 1], graph_runtime::OnDevice>;

fn call<K: Kernel, const N: usize>(arguments: [CallArgument; N]) -> KernelCall<N> {
    // SAFETY: each call passes what the kernel's facts say; what the kernels do wrong, the emulator finds.
    unsafe { KernelCall::new::<K>(arguments) }
}

/// A graph of one kernel with one buffer.
fn one<K: Kernel>(device: &Device, blocks: u32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Graph");
    let mut out = builder.device::<[u32; 32]>("numbers");
    let call = call::<K, 1>([CallArgument::write(&mut out)]);
    builder.kernel("node", Launch::new(blocks, 32), call);
    builder.build()
}

/// The error of waiting for a launch.
fn fault(graph: &mut Graph) -> String {
    graph.launch().expect("launching only starts it");
    match graph.synchronize() {
        Err(error @ Error::Fault { .. }) => error.to_string(),
        other => panic!("a fault is expected: {other:?}"),
    }
}

/// A message without the number of its PTX line, which depends on the compiler.
fn without_line(message: &str) -> String {
    let (before, after) = message.split_once("PTX line ").expect("the message names a PTX line");
    before.to_owned() + "PTX line" + after.trim_start_matches(|digit: char| digit.is_ascii_digit())
}

fn fault_of<K: Kernel>(set: impl FnOnce(&mut EmulatorOptions), blocks: u32) -> String {
    let mut graph = one::<K>(&emulator_with(set), blocks).unwrap();
    without_line(&fault(&mut graph))
}

#[test]
fn accesses_outside_name_everything_and_parts_their_bytes() {
    let place = "tests/kernels/emulator.cu";
    let wanted = format!(
        "graph `Graph`, node `node`: kernel `past_end`, block (0, 0, 0), thread (24, 0, 0), PTX line (graph-runtime/{place}:11): \
             store of 4 bytes at offset 128 of `numbers`, which has 128 bytes: 4 bytes past its end"
    );
    assert_eq!(fault_of::<past_end>(|_| {}, 2), wanted);
    let misaligned = fault_of::<misaligned>(|_| {}, 1);
    let expected = format!(
        "graph `Graph`, node `node`: kernel `misaligned`, block (0, 0, 0), thread (1, 0, 0), PTX line (graph-runtime/{place}:16): \
         store of 4 bytes at the misaligned address 0x"
    );
    assert!(misaligned.starts_with(&expected), "{misaligned}");
    let wanted = format!(
        "graph `Graph`, node `node`: kernel `null_pointer`, block (0, 0, 0), thread (0, 0, 0), PTX line \
             (graph-runtime/{place}:21): store of 4 bytes through a null pointer"
    );
    assert_eq!(fault_of::<null_pointer>(|_| {}, 1), wanted);

    // The mistake is in a row, which is all that the kernel got of the memory.
    let mut builder = GraphBuilder::new(&Device::emulator(), "Graph");
    let numbers = builder.device::<[[u32; 32]; 4]>("numbers");
    let call = call::<past_end, 1>([CallArgument::write(&mut numbers.row(2))]);
    builder.kernel("node", Launch::new(2, 32), call);
    let message = fault(&mut builder.build().unwrap());
    message.ends("store of 4 bytes at offset 128 of `numbers[256..384]`, which has 128 bytes: 4 bytes past its end");
}

/// A graph that reads through an address which the host gives.
fn reader(device: &Device) -> Result<(Graph, Address)> {
    let mut builder = GraphBuilder::new(device, "Reader");
    let address = builder.device::<[u64; 1]>("address");
    let mut out = builder.device::<[u32; 32]>("out");
    let arguments = [CallArgument::read(&address), CallArgument::write(&mut out)];
    builder.kernel("read", Launch::new(1, 32), call::<through, 2>(arguments));
    Ok((builder.build()?, address))
}

/// A graph whose device memory has the address that it says.
fn owner(device: &Device) -> Result<(Graph, u64)> {
    let mut builder = GraphBuilder::new(device, "Owner");
    let mut data: Data = builder.device("data");
    let mut address: Address = builder.device("address");
    let arguments = [CallArgument::write(&mut data), CallArgument::write(&mut address)];
    builder.kernel("tell", Launch::new(1, 1), call::<address_of, 2>(arguments));
    let graph = launched(builder.build())?;
    let address = graph.device(&address)?.read()?[0];
    Ok((graph, address))
}

#[test]
fn memory_that_is_read_only_of_others_or_freed() -> Result<()> {
    let device = Device::emulator();
    let (mut graph, place) = reader(&device)?;
    let (theirs, address) = owner(&device)?;
    graph.device_mut(&place)?.copy_from(&[address])?;
    let message = fault(&mut graph);
    message.ends("load of 4 bytes at offset 0 of `data`, which was not passed to the kernel");
    drop(theirs);
    let message = fault(&mut graph);
    message.begins("graph `Reader`, node `read`: kernel `through`");
    message.ends("load of 4 bytes at offset 0 of `data`, which was freed");

    let mut builder = GraphBuilder::new(&Device::emulator(), "Graph");
    let (input, mut out) = (builder.device::<[u32; 32]>("input"), builder.device::<[u32; 32]>("out"));
    let arguments = [CallArgument::read(&input), CallArgument::write(&mut out)];
    builder.kernel("store", Launch::new(1, 32), call::<StoreToInput, 2>(arguments));
    let message = fault(&mut builder.build()?);
    message.ends("store of 4 bytes at offset 0 of `input`, which was passed for reading only");
    Ok(())
}

#[test]
fn shared_memory_is_checked_on_request() -> Result<()> {
    launched(one::<unwritten>(&Device::emulator(), 1))?.synchronize()?;
    let expected = "graph `Graph`, node `node`: kernel `unwritten`, block (0, 0, 0), thread (31, 0, 0), PTX line \
         (graph-runtime/tests/kernels/emulator.cu:57): load of 4 bytes at offset 128 of shared memory, which nothing has \
         written";
    let message = fault_of::<unwritten>(|options| options.check_uninitialized = true, 1);
    message.reads(expected);

    launched(one::<race>(&Device::emulator(), 1))?.synchronize()?;
    let message = fault_of::<race>(|options| options.check_shared_races = true, 3);
    let expected = "graph `Graph`, node `node`: kernel `race`, block (0, 0, 0), thread (0, 0, 0), PTX line \
                    (graph-runtime/tests/kernels/emulator.cu:64): load of 4 bytes at offset 124 of shared memory races with \
                    a store by thread (31, 0, 0), PTX line ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.ends_with(": no barrier is between them"), "{message}");
    Ok(())
}

#[test]
fn unordered_nodes_that_meet_are_found_on_request() -> Result<()> {
    let build = |check_unordered, ordered| -> Result<Graph> {
        let device = emulator_with(|options| options.check_unordered = check_unordered);
        let mut builder = GraphBuilder::new(&device, "Graph");
        let mut address = builder.device::<[u64; 1]>("address");
        let (mut drawn, mut out) = (builder.device::<[u32; 32]>("drawn"), builder.device::<[u32; 32]>("out"));
        let tell = call::<address_of_total, 1>([CallArgument::write(&mut address)]);
        let tell = builder.kernel("tell", Launch::new(1, 1), tell);
        let draw = call::<draw, 1>([CallArgument::write(&mut drawn)]);
        let draw = builder.kernel("draw", Launch::new(1, 32), draw);
        let arguments = [CallArgument::read(&address), CallArgument::write(&mut out)];
        let read = builder.kernel("read", Launch::new(1, 32), call::<through, 2>(arguments));
        builder.after(draw, &[tell]);
        let before = [tell, draw];
        builder.after(read, if ordered { &before } else { &before[..1] });
        builder.build()
    };
    for (check, ordered) in [(false, false), (true, true)] {
        launched(build(check, ordered))?.synchronize()?;
    }
    let message = without_line(&fault(&mut build(true, false)?));
    let expected = "graph `Graph`, node `read`: kernel `through`, block (0, 0, 0), thread (0, 0, 0), PTX line \
         (graph-runtime/tests/kernels/emulator.cu:32): load of 4 bytes at offset 0 of `total`, which node `draw` \
         atomically updates, and neither comes before the other";
    assert_eq!(message, expected);
    Ok(())
}

#[test]
fn what_bodies_touch_belongs_to_their_node() -> Result<()> {
    let device = emulator_with(|options| options.check_unordered = true);
    let mut builder = GraphBuilder::new(&device, "Graph");
    let mut address = builder.device::<[u64; 1]>("address");
    let flags = builder.device::<[u32; 2]>("flags");
    let (mut drawn, mut out) = (builder.device::<[u32; 32]>("drawn"), builder.device::<[u32; 32]>("out"));
    let tell = call::<address_of_total, 1>([CallArgument::write(&mut address)]);
    let tell = builder.kernel("tell", Launch::new(1, 1), tell);
    // Both reach `total`, `read` by its address, which is no access of the graph's; the first from a body in a body.
    let writer = builder.while_loop("writer", &flags.row(0), |body| {
        let stop = body.memset("stop", &mut flags.row(0), 0_u32);
        let inner = body.if_then("inner", &flags.row(1), |then| {
            let call = call::<draw, 1>([CallArgument::write(&mut drawn)]);
            then.kernel("draw", Launch::new(1, 32), call);
        });
        body.after(inner, &[stop]);
    });
    let arguments = [CallArgument::read(&address), CallArgument::write(&mut out)];
    let reader = builder.if_then("reader", &flags.row(1), |then| {
        then.kernel("read", Launch::new(1, 32), call::<through, 2>(arguments));
    });
    builder.after(writer, &[tell]);
    builder.after(reader, &[tell]);
    let mut graph = builder.build()?;
    graph.device_mut(&flags)?.copy_from(&[1, 0])?;
    graph.launch()?;
    graph.synchronize()?;
    graph.device_mut(&flags)?.copy_from(&[1, 1])?;
    let message = without_line(&fault(&mut graph));
    let expected = "graph `Graph`, node `read`: kernel `through`, block (0, 0, 0), thread (0, 0, 0), PTX line \
         (graph-runtime/tests/kernels/emulator.cu:32): load of 4 bytes at offset 0 of `total`, which node `writer` \
         atomically updates, and neither comes before the other";
    assert_eq!(message, expected);
    Ok(())
}

#[test]
fn a_seed_draws_the_order_of_independent_nodes() -> Result<()> {
    // Each node draws a number; the first one comes before all others, the last one after.
    let orders = |seed| -> Result<Vec<Vec<u32>>> {
        let mut builder = GraphBuilder::new(&emulator_with(|options| options.seed = seed), "Graph");
        let mut places = Vec::new();
        let mut nodes = Vec::new();
        for index in 0..10 {
            let mut place = builder.device::<[u32; 32]>(format!("out{index}"));
            let draw = call::<HiddenDraw, 1>([CallArgument::write(&mut place)]);
            nodes.push(builder.kernel(format!("draw{index}"), Launch::new(1, 32), draw));
            places.push(place);
        }
        for &node in &nodes[1..9] {
            builder.after(node, &nodes[..1]);
        }
        builder.after(nodes[9], &nodes[1..9]);
        let mut graph = builder.build()?;
        let mut orders = Vec::new();
        for launch in 0..6 {
            graph.launch()?;
            let mut order = Vec::new();
            for place in &places {
                order.push(graph.device(place)?.read()?[0] - 10 * launch);
            }
            orders.push(order);
        }
        Ok(orders)
    };
    let plain: Vec<u32> = (0..10).collect();
    let unseeded = orders(None)?;
    assert!(unseeded.iter().all(|order| order == &unseeded[0]));
    let drawn = orders(Some(3))?;
    assert_eq!(drawn, orders(Some(3))?);
    assert_ne!(drawn, orders(Some(4))?);
    assert!(drawn.iter().any(|order| order != &drawn[0]));
    for order in &drawn {
        assert!(order[0] == 0 && order[9] == 9);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, plain);
    }
    Ok(())
}

#[test]
fn endless_waits_end() {
    let limits = |options: &mut EmulatorOptions| (options.step_limit, options.threads) = (Some(50_000), Some(1));
    let message = fault_of::<forever>(limits, 1);
    message.begins("graph `Graph`, node `node`: kernel `forever`, block (0, 0, 0)");
    let end = "the block executed more than 50000 warp instructions, its limit: does a loop never end, or wait for a \
               block that has not started?";
    assert!(message.ends_with(end), "{message}");
}

/// The lines that the kernel [`say`] prints, sorted.
const SAID: [&str; 4] = [
    "thread 0 of block 0:  1.50%",
    "thread 0 of block 1:  1.50%",
    "thread 1 of block 0:  2.50%",
    "thread 1 of block 1:  2.50%",
];

/// Launches a kernel that prints.
fn print_on(device: &Device) -> Result<()> {
    let mut builder = GraphBuilder::new(device, "Printing");
    let mut out = builder.device::<[u32; 32]>("out");
    // SAFETY: the kernel stores two elements.
    let call = unsafe { say::call(&mut out) };
    builder.kernel("say", Launch::new(2, 32), call);
    let graph = launched(builder.build())?;
    assert_eq!(graph.device(&out)?.read()?[..2], [3, 3]);
    Ok(())
}

#[test]
fn what_kernels_print_goes_to_the_receiver() -> Result<()> {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let sink = texts.clone();
    let device = Device::emulator().with_printer(move |text| sink.lock().unwrap().push(text.to_owned()));
    // The receiver stays when the device gets other options.
    for device in [&device, &device.with_delays(5)] {
        print_on(device)?;
        let mut texts = std::mem::take(&mut *texts.lock().unwrap());
        texts.sort();
        assert_eq!(texts, SAID.map(|text| format!("{text}\n")));
    }
    Ok(())
}

/// Prints in a process of its own, whose output the test reads.
#[test]
fn what_kernels_print_goes_to_standard_output() -> Result<()> {
    const CHILD: &str = "CUDA_GRAPH_TEST_PRINTS";
    if std::env::var_os(CHILD).is_some() {
        return print_on(&Device::emulator());
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut again = Command::new(program);
    let test = "emulator::what_kernels_print_goes_to_standard_output";
    again.args(["--exact", test, "--nocapture"]);
    let output = again.env(CHILD, "1").output().expect("this program runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut said: Vec<&str> = text.lines().filter(|line| line.starts_with("thread ")).collect();
    said.sort_unstable();
    assert_eq!(said, SAID, "{text}");
    Ok(())
}
