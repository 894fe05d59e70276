//! Graphs that others have captured: what they do, for C.

use crate::{Outcome, code, text};
use graph_runtime::handles::CUgraph;
use graph_runtime::{LiftOptions, Lifted, UnneededEdges, Verdict};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::slice;

thread_local! {
    /// The text of the last lift.
    static TEXT: RefCell<CString> = RefCell::default();
    /// The last lift, if it has succeeded.
    static LAST: RefCell<Option<Lifted>> = const { RefCell::new(None) };
}

/// `CudaGraphMemory` of the header.
#[derive(Debug)]
#[repr(C)]
pub struct CudaGraphMemory {
    name: *const c_char,
    address: *mut c_void,
    bytes: usize,
}

/// `CudaGraphLift` of the header.
#[derive(Debug, Default)]
#[repr(C)]
pub struct CudaGraphLift {
    nodes: usize,
    known_nodes: usize,
    edges: usize,
    unneeded_edges: usize,
    levels: usize,
    needed_levels: usize,
    pairs_apart: usize,
    racing: usize,
    cannot_tell: usize,
}

/// Reads a graph.
///
/// # Safety
///
/// As the header says of `cuda_graph_lift`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_lift(
    graph: *mut c_void,
    memory: *const CudaGraphMemory,
    memories: usize,
    ptx: *const *const c_char,
    modules: usize,
    keep_needed_edges: c_int,
    result: *mut CudaGraphLift,
) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let result = unsafe { result.as_mut() }.ok_or("the result is NULL")?;
        // SAFETY: by the caller's promise.
        let (memory, ptx) = (unsafe { list(memory, memories) }, unsafe { list(ptx, modules) });
        // SAFETY: by the caller's promise.
        let options = unsafe { options(memory, ptx) }?;
        LAST.take();
        let graph: CUgraph = graph.cast();
        if graph.is_null() {
            return Err("the graph is NULL".to_owned());
        }
        // SAFETY: by the caller's promise.
        let lifted = unsafe { Lifted::from_raw(graph, &options) }.map_err(|error| error.to_string())?;
        let unneeded = lifted.plan().unneeded_edges();
        *result = summary(&lifted, &unneeded);
        let text = CString::new(described(&lifted, &unneeded).replace('\0', " ")).unwrap_or_default();
        TEXT.with(|last| last.replace(text));
        if keep_needed_edges != 0 {
            // SAFETY: by the caller's promise.
            unsafe { lifted.keep_needed_edges(graph) }.map_err(|error| error.to_string())?;
        }
        LAST.set(Some(lifted));
        Ok(())
    })
}

/// Makes another graph of the last lift of this thread.
///
/// # Safety
///
/// As the header says of `cuda_graph_lift_build`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuda_graph_lift_build(needed_edges: c_int, built: *mut *mut c_void) -> c_int {
    code(|| {
        // SAFETY: by the caller's promise.
        let built = unsafe { built.as_mut() }.ok_or("the result is NULL")?;
        LAST.with_borrow(|last| {
            let lifted = last.as_ref().ok_or("this thread has read no graph")?;
            let graph = if needed_edges != 0 {
                // SAFETY: by the caller's promise.
                unsafe { lifted.build_needed() }
            } else {
                // SAFETY: as above.
                unsafe { lifted.build() }
            };
            *built = graph.map_err(|error| error.to_string())?.cast();
            Ok(())
        })
    })
}

/// The findings of the last lift of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_graph_lift_text() -> *const c_char {
    TEXT.with(|text| text.borrow().as_ptr())
}

/// A list of C.
///
/// # Safety
///
/// There are so many elements, which live as long as the result is used; the pointer may be null if there are none.
unsafe fn list<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: by the caller's promise.
    unsafe { slice::from_raw_parts(first, count) }
}

/// The options of a lift.
///
/// # Safety
///
/// The texts end with zero bytes.
unsafe fn options(memory: &[CudaGraphMemory], ptx: &[*const c_char]) -> Outcome<LiftOptions> {
    let mut options = LiftOptions::new().loaded();
    for block in memory {
        // SAFETY: by the caller's promise.
        let name = unsafe { text(block.name, "the name of memory") }?;
        options = options.memory(name, block.address.expose_provenance() as u64, block.bytes);
    }
    for &module in ptx {
        // SAFETY: by the caller's promise.
        let module = unsafe { text(module, "the PTX") }?;
        options = options.ptx(module).map_err(|error| error.to_string())?;
    }
    Ok(options)
}

fn summary(lifted: &Lifted, unneeded: &UnneededEdges) -> CudaGraphLift {
    let plan = lifted.plan();
    let racing = lifted
        .findings()
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Racing(_)));
    let racing = racing.count();
    CudaGraphLift {
        nodes: plan.nodes.len(),
        known_nodes: lifted.known_nodes(),
        edges: plan.nodes.iter().map(|node| node.after.len()).sum(),
        unneeded_edges: unneeded.edges.len(),
        levels: unneeded.levels,
        needed_levels: unneeded.needed_levels,
        pairs_apart: lifted.pairs_apart(),
        racing,
        cannot_tell: lifted.findings().len() - racing + lifted.pairs_in_doubt(),
    }
}

/// The findings, the edges that are not needed, what is not known of the order of nodes, and the reasons why nodes are
/// not known, a line each.
fn described(lifted: &Lifted, unneeded: &UnneededEdges) -> String {
    let mut lines: Vec<String> = lifted.findings().iter().map(ToString::to_string).collect();
    lines.push(unneeded.to_string());
    if lifted.pairs_in_doubt() > 0 {
        let nodes: Vec<&str> = lifted.nodes_in_doubt().collect();
        let (pairs, kernels) = (lifted.pairs_in_doubt(), nodes.len());
        lines.push(format!(
            "cannot be told: {pairs} pairs of nodes are in order only if {kernels} kernels that programmatic edges lead \
             to wait before they touch memory, which is not known; the first is `{}`",
            nodes[0]
        ));
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    lifted
        .unknown_nodes()
        .for_each(|(_, reason)| *reasons.entry(reason).or_default() += 1);
    let reasons = reasons
        .iter()
        .map(|(reason, count)| format!("not known of {count} nodes: {reason}"));
    lines.extend(reasons);
    lines.join("\n")
}
