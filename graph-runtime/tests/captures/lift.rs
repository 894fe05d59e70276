//! Graphs that others made, as plans.

use crate::common::*;
use crate::region::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::{CudaSlice, DevicePtr, sys};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const PTX: &str = include_str!("../kernels/conditionals.ptx");

/// A graph by the driver's own calls: fills of words of one buffer, all unordered.
pub(crate) fn fills(device: &Device, address: u64, parts: &[[usize; 2]]) -> sys::CUgraph {
    let context = context(device).cu_ctx();
    let mut graph = ptr::null_mut();
    // SAFETY: it writes the handle.
    let mut codes = vec![unsafe { sys::cuGraphCreate(&mut graph, 0) }];
    for [start, end] in parts {
        let params = sys::CUDA_MEMSET_NODE_PARAMS {
            dst: address + 4 * *start as u64,
            pitch: 0,
            value: 1,
            elementSize: 4,
            width: end - start,
            height: 1,
        };
        let mut node = ptr::null_mut();
        // SAFETY: the graph and the memory live.
        codes.push(unsafe { sys::cuGraphAddMemsetNode(&mut node, graph, ptr::null(), 0, &params, context) });
    }
    assert!(
        codes.iter().all(|code| *code == sys::CUresult::CUDA_SUCCESS),
        "{codes:?}"
    );
    graph
}

#[test]
#[ignore = "needs a CUDA device"]
fn captured_work_becomes_a_plan() -> Result<()> {
    let (device, _turn) = cuda();
    let kernel = adder(&device);
    let (x, y) = (device.alloc::<Words>()?, device.alloc::<Words>()?);
    let mut builder = GraphBuilder::new(&device, "Region");
    let mut x = builder.shared("x", &x, true);
    let mut y = builder.shared("y", &y, true);
    let addresses = Arc::new(Mutex::new([0; 2]));
    let seen = addresses.clone();
    let graph = builder.build_captured(ONCE, (&mut x, &mut y), move |stream| {
        let (x, y) = stream.memory();
        *seen.lock().expect("nothing panics") = [x.address(), y.address()];
        set(stream.cu_stream(), x.address(), 5)?;
        // SAFETY: what is queued on it writes `x` and `y`.
        let cudarc = unsafe { stream.cudarc() };
        add(cudarc, &kernel, y.address(), 1)?;
        add(cudarc, &kernel, x.address(), 2)
    })?;
    let [x, y] = *addresses.lock().expect("nothing panics");
    let raw = graph.raw().expect("it is a graph of CUDA's").graph;
    let options = LiftOptions::new().name("Step").memory("x", x, 256).memory("y", y, 256);
    // SAFETY: the graph lives, and nothing changes it.
    let blind = unsafe { Lifted::from_raw(raw, &options) }?;
    assert_eq!(
        blind.unknown_nodes().map(|(_, reason)| reason).collect::<Vec<_>>(),
        ["its PTX is not known"; 2]
    );
    assert!(blind.plan().unneeded_edges().is_empty());
    // SAFETY: as above.
    let lifted = unsafe { Lifted::from_raw(raw, &options.ptx(PTX)?) }?;
    assert_eq!(lifted.unknown_nodes().next(), None);
    assert_eq!((lifted.findings(), lifted.pairs_apart()), (&[][..], 0));
    let text = lifted.to_rust();
    for line in [
        "    graph Step {",
        "        device x: [u32; 64];",
        "= x <- 5;",
        "= unsafe add_to<<<1, 64>>>(&mut y, 1_u32) after fill_",
        "= unsafe add_to<<<1, 64>>>(&mut x, 2_u32) after add_to_",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // One stream orders all; the second kernel needs the fill alone.
    let plan = lifted.plan();
    let names = |edges: &[(usize, usize)]| -> Vec<String> {
        edges
            .iter()
            .map(|&(from, to)| format!("{} {}", plan.nodes[from].kind.keyword(), plan.nodes[to].kind.keyword()))
            .collect()
    };
    let unneeded = plan.unneeded_edges();
    assert_eq!(names(&unneeded.edges), ["memset kernel", "kernel kernel"]);
    let before = &unneeded.after[unneeded.edges[1].1];
    assert_eq!(
        before.iter().map(|&node| plan.nodes[node].kind).collect::<Vec<_>>(),
        [NodeKind::Memset]
    );
    assert_eq!(plan.nodes.iter().filter(|node| node.launch.is_some()).count(), 2);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn fills_that_meet_are_found_with_their_bytes() -> Result<()> {
    let (device, _turn) = cuda();
    let data = device.alloc::<Words>()?;
    let address = Arc::new(AtomicU64::new(0));
    let seen = address.clone();
    let built = recorded(&device, ONCE, &data, move |stream| {
        seen.store(stream.memory().0.address(), Relaxed);
        set(stream.cu_stream(), stream.memory().0.address(), 5)
    })?;
    let address = address.load(Relaxed);
    for (parts, expected) in [
        (&[[0, 16], [16, 32], [32, 64]][..], vec![]),
        (
            &[[0, 16], [8, 32]],
            vec!["racing: `fill_0` and `fill_1` both touch `data[32..64]`, and nothing orders them"],
        ),
    ] {
        let graph = fills(&device, address, parts);
        let options = LiftOptions::new().memory("data", address, 256);
        // SAFETY: the graph lives, and nothing changes it.
        let lifted = unsafe { Lifted::from_raw(graph, &options) };
        // Memory that is not named is found, too.
        // SAFETY: as above.
        let unnamed = unsafe { Lifted::from_raw(graph, &LiftOptions::new()) };
        // SAFETY: the graph was made above, and nothing uses it any more.
        assert_eq!(unsafe { sys::cuGraphDestroy(graph) }, sys::CUresult::CUDA_SUCCESS);
        let lifted = lifted?;
        let texts: Vec<String> = lifted.findings().iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
        assert_eq!(lifted.pairs_apart(), if expected.is_empty() { 3 } else { 0 });
        let unnamed = unnamed?;
        assert_eq!(unnamed.findings().len(), expected.len());
        assert_eq!(unnamed.plan().resources[0].name, "memory_0");
    }
    drop(built);
    Ok(())
}

/// What the names of memory leave out is looked up, so that fills are compared wherever they are.
#[test]
#[ignore = "needs a CUDA device"]
fn fills_meet_whatever_the_names_of_memory_say() -> Result<(), BoxError> {
    let (device, _turn) = cuda();
    let stream = context(&device).new_stream()?;
    let data = stream.alloc_zeros::<u32>(64)?;
    let address = address(&data);
    let named = |names: &[(&str, u64, usize)]| {
        names.iter().fold(LiftOptions::new(), |options, &(name, start, bytes)| {
            options.memory(name, address + start, bytes)
        })
    };
    let graph = fills(&device, address, &[[0, 32], [16, 48], [48, 64]]);
    for (options, racing) in [
        (named(&[("all", 0, 256)]), "all[64..128]"),
        (named(&[("all", 0, 256), ("again", 0, 256)]), "all[64..128]"),
        (named(&[("short", 0, 16)]), "memory_0[64..128]"),
        (named(&[("one", 0, 96), ("two", 32, 224)]), "one[64..96]"),
        (named(&[("nothing", 64, 0)]), "memory_0[64..128]"),
        (named(&[("other", 4096, usize::MAX)]), "memory_0[64..128]"),
    ] {
        // SAFETY: the graph lives, and nothing changes it.
        let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
        let expected = format!("racing: `fill_0` and `fill_1` both touch `{racing}`, and nothing orders them");
        assert_eq!(lifted.findings()[0].to_string(), expected);
        assert!(
            lifted
                .findings()
                .iter()
                .all(|found| found.nodes == ["fill_0", "fill_1"])
        );
        assert_eq!((lifted.pairs_apart(), lifted.known_nodes()), (2, 3));
    }
    // SAFETY: the graph was made above, and nothing uses it any more.
    assert_eq!(unsafe { sys::cuGraphDestroy(graph) }, sys::CUresult::CUDA_SUCCESS);
    Ok(())
}

/// An empty graph, and one of many nodes with edges at random, compared with each pair of its fills.
#[test]
#[ignore = "needs a CUDA device"]
fn odd_graphs_are_read() -> Result<(), BoxError> {
    const NODES: usize = 1000;
    let (device, _turn) = cuda();
    let stream = context(&device).new_stream()?;
    let data = stream.alloc_zeros::<u32>(64)?;
    let empty = fills(&device, address(&data), &[]);
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(empty, &LiftOptions::new()) }?;
    assert_eq!(
        (lifted.plan().nodes.len(), lifted.findings().len(), lifted.known_nodes()),
        (0, 0, 0)
    );
    assert!(lifted.to_rust().contains("graph Lifted {"), "{}", lifted.to_rust());
    // SAFETY: as above.
    let built = unsafe { lifted.build_needed() }?;

    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let parts: Vec<[usize; 2]> = std::iter::repeat_with(|| below(64))
        .take(NODES)
        .map(|word| [word, word + 1])
        .collect();
    let graph = fills(&device, address(&data), &parts);
    let handles = nodes(graph);
    let mut before = vec![vec![false; NODES]; NODES];
    for node in 1..NODES {
        for _ in 0..below(3) {
            let from = below(node);
            if !before[node][from] {
                chain(graph, &[handles[from], handles[node]]);
            }
            let earlier = before[from].clone();
            before[node].iter_mut().zip(earlier).for_each(|(to, from)| *to |= from);
            before[node][from] = true;
        }
    }
    // SAFETY: as above.
    let lifted = unsafe { Lifted::from_raw(graph, &LiftOptions::new()) }?;
    let pairs = || (0..NODES).flat_map(|node| (0..node).map(move |other| (node, other)));
    let (racing, apart): (Vec<_>, Vec<_>) = pairs()
        .filter(|&(node, other)| !before[node][other])
        .partition(|&(node, other)| parts[node] == parts[other]);
    assert_eq!(
        (lifted.findings().len(), lifted.pairs_apart()),
        (racing.len(), apart.len())
    );
    // SAFETY: as above.
    let needed = unsafe { lifted.build_needed() }?;
    for graph in [empty, built, graph, needed] {
        // SAFETY: the graphs were made above, and nothing uses them any more.
        assert_eq!(unsafe { sys::cuGraphDestroy(graph) }, sys::CUresult::CUDA_SUCCESS);
    }
    Ok(())
}

#[test]
fn text_that_is_no_ptx_is_refused() {
    let error = LiftOptions::new().ptx("int main() {}").expect_err("it is C");
    assert!(matches!(error, Error::Module { .. }));
    assert!(
        error
            .to_string()
            .contains("cannot load `the PTX that was given for a lift`: "),
        "{error}"
    );
}

/// The address of memory of cudarc's.
pub(crate) fn address(slice: &CudaSlice<u32>) -> u64 {
    let (address, _wait) = slice.device_ptr(slice.stream());
    address
}

/// Memory that is of no pool, and is freed by the call that belongs to the one that allocated it: launches refuse batch
/// operations on memory of a pool, and memcheck takes memory at the address of some that cudarc has freed, by
/// `cuMemFreeAsync`, for that.
pub(crate) struct Unpooled(ManuallyDrop<CudaSlice<u32>>);

impl Deref for Unpooled {
    type Target = CudaSlice<u32>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Unpooled {
    fn drop(&mut self) {
        // SAFETY: nothing uses the slice after this.
        let address = unsafe { ManuallyDrop::take(&mut self.0) }.leak();
        // SAFETY: `zeroes` has allocated the memory, and nothing else frees it. The call waits for what uses it.
        let _ = unsafe { sys::cuMemFree_v2(address) };
    }
}

/// Memory that holds zeroes.
pub(crate) fn zeroes(stream: &Arc<CudaStream>, words: usize) -> Result<Unpooled, BoxError> {
    let mut address = 0;
    stream.context().bind_to_thread()?;
    // SAFETY: the context is current; the call writes the address.
    unsafe { sys::cuMemAlloc_v2(&mut address, 4 * words) }.result()?;
    // SAFETY: the memory has room for the numbers, which any bits are, and nothing else frees it.
    let mut memory = unsafe { stream.upgrade_device_ptr(address, words) };
    stream.memset_zeros(&mut memory)?;
    Ok(Unpooled(ManuallyDrop::new(memory)))
}

/// The edge from each node to the next.
pub(crate) fn chain(graph: sys::CUgraph, nodes: &[sys::CUgraphNode]) {
    for pair in nodes.windows(2) {
        // SAFETY: the nodes are of this graph; a null list stands for plain edges.
        let code = unsafe { sys::cuGraphAddDependencies_v2(graph, &pair[0], &pair[1], ptr::null(), 1) };
        assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    }
}

/// The nodes of a graph.
pub(crate) fn nodes(graph: sys::CUgraph) -> Vec<sys::CUgraphNode> {
    let mut count = 0;
    // SAFETY: without a list, the number alone is written.
    let code = unsafe { sys::cuGraphGetNodes(graph, ptr::null_mut(), &mut count) };
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    let mut nodes = vec![ptr::null_mut(); count];
    // SAFETY: the list has room for all nodes.
    let code = unsafe { sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) };
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    nodes
}

/// 1,000 fills in 40 chains, each of bytes of its own; one edge is missing, or none.
#[test]
#[ignore = "needs a CUDA device"]
fn a_race_among_a_thousand_nodes_is_found() -> Result<(), BoxError> {
    const CHAINS: usize = 40;
    const LENGTH: usize = 25;
    let (device, _turn) = cuda();
    let stream = context(&device).new_stream()?;
    let data = zeroes(&stream, CHAINS)?;
    let address = address(&data);
    for planted in [true, false] {
        let parts: Vec<[usize; 2]> = (0..CHAINS * LENGTH)
            .map(|index| [index / LENGTH, index / LENGTH + 1])
            .collect();
        let graph = fills(&device, address, &parts);
        for (number, nodes) in nodes(graph).chunks(LENGTH).enumerate() {
            let cut = if planted && number == 17 { 9 } else { 0 };
            chain(graph, &nodes[..cut]);
            chain(graph, &nodes[cut..]);
        }
        let options = LiftOptions::new().memory("data", address, 4 * CHAINS);
        let start = std::time::Instant::now();
        // SAFETY: the graph lives, and nothing changes it.
        let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
        println!("lift: 1,000 nodes read and compared in {:?}", start.elapsed());
        // SAFETY: the graph was made above, and nothing uses it any more.
        assert_eq!(unsafe { sys::cuGraphDestroy(graph) }, sys::CUresult::CUDA_SUCCESS);
        assert_eq!(lifted.known_nodes(), CHAINS * LENGTH);
        assert_eq!(lifted.findings().len(), if planted { 9 * (LENGTH - 9) } else { 0 });
        if planted {
            let text = "racing: `fill_433` and `fill_434` both touch `data[68..72]`, and nothing orders them";
            assert!(
                lifted.findings().iter().any(|finding| finding.to_string() == text),
                "{:?}",
                lifted.findings()[0]
            );
        }
    }
    Ok(())
}

/// The microseconds of a launch: the median of several rounds.
fn time_of_a_launch(graph: sys::CUgraph, stream: sys::CUstream) -> f64 {
    const LAUNCHES: u32 = 100;
    let mut exec = ptr::null_mut();
    // SAFETY: the graph lives.
    let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
    assert_eq!(made, sys::CUresult::CUDA_SUCCESS);
    let rounds = if is_software() || keeps_context() { 1 } else { 11 };
    let mut rounds: Vec<f64> = (0..rounds)
        .map(|_| {
            let begin = std::time::Instant::now();
            // SAFETY: the executable graph lives until the stream has been waited for.
            let launched = (0..LAUNCHES).map(|_| unsafe { sys::cuGraphLaunch(exec, stream) });
            assert!(
                launched
                    .collect::<Vec<_>>()
                    .iter()
                    .all(|code| *code == sys::CUresult::CUDA_SUCCESS)
            );
            // SAFETY: the stream lives.
            assert_eq!(unsafe { sys::cuStreamSynchronize(stream) }, sys::CUresult::CUDA_SUCCESS);
            begin.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES)
        })
        .collect();
    // SAFETY: it was made above, and no launch is in flight.
    assert_eq!(unsafe { sys::cuGraphExecDestroy(exec) }, sys::CUresult::CUDA_SUCCESS);
    rounds.sort_unstable_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Eight chains of 16 kernels, captured on one stream in turns.
#[test]
#[ignore = "needs a CUDA device"]
fn chains_that_one_stream_has_ordered_come_apart() -> Result<(), BoxError> {
    const CHAINS: usize = 8;
    const LENGTH: usize = 16;
    let (device, _turn) = cuda();
    let kernel = adder(&device);
    let stream = context(&device).new_stream()?;
    let buffers = (0..CHAINS)
        .map(|_| zeroes(&stream, 64))
        .collect::<Result<Vec<_>, _>>()?;
    // They cannot be asked for in a capture.
    let addresses: Vec<u64> = buffers.iter().map(|buffer| address(buffer)).collect();
    stream.synchronize()?;
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    for step in 0..LENGTH {
        for &address in &addresses {
            add(&stream, &kernel, address, step as u32)?;
        }
    }
    let mut graph = ptr::null_mut();
    // SAFETY: the stream is being captured.
    let code = unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) };
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    let before = time_of_a_launch(graph, stream.cu_stream());
    let mut options = LiftOptions::new().ptx(PTX)?;
    for (index, &address) in addresses.iter().enumerate() {
        options = options.memory(format!("x{index}"), address, 256);
    }
    // SAFETY: the graph lives, and nothing changes it.
    let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
    let unneeded = lifted.plan().unneeded_edges();
    // Every edge of the one line leads from one chain to another.
    assert_eq!(unneeded.edges.len(), CHAINS * LENGTH - 1);
    assert_eq!((unneeded.levels, unneeded.needed_levels), (CHAINS * LENGTH, LENGTH));
    // SAFETY: it is the graph that was read, and the PTX is that of the kernel.
    assert_eq!(unsafe { lifted.keep_needed_edges(graph) }?, CHAINS * LENGTH - 1);
    // SAFETY: as above.
    let mended = unsafe { Lifted::from_raw(graph, &options) }?;
    let edges: usize = mended.plan().nodes.iter().map(|node| node.after.len()).sum();
    assert_eq!(edges, CHAINS * (LENGTH - 1));
    assert!(mended.plan().unneeded_edges().is_empty() && mended.findings().is_empty());
    let contents = buffers
        .iter()
        .map(|buffer| stream.clone_dtoh(&**buffer))
        .collect::<Result<Vec<_>, _>>()?;
    let after = time_of_a_launch(graph, stream.cu_stream());
    println!(
        "lift: {CHAINS} x {LENGTH} kernels on one stream: {before:.2} us, with the edges that they need: {after:.2} us"
    );
    // SAFETY: the graph was captured above, and nothing uses it any more.
    assert_eq!(unsafe { sys::cuGraphDestroy(graph) }, sys::CUresult::CUDA_SUCCESS);
    for (before, after) in contents.iter().zip(&buffers) {
        assert_eq!(stream.clone_dtoh(&**after)?[0], 2 * before[0], "as many launches again");
    }
    Ok(())
}
