//! Graphs that others made, as plans.

use crate::common::*;
use crate::region::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::sys;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const PTX: &str = include_str!("../kernels/conditionals.ptx");

/// A graph by the driver's own calls: fills of words of one buffer, all unordered.
fn fills(device: &Device, address: u64, parts: &[[usize; 2]]) -> sys::CUgraph {
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
        "        device x: [u8; 256];",
        "= x <- 0 /* the value */;",
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
