//! Nodes that launches skip.
//!
//! Kernels and copies are disabled as CUDA offers. A memset is not: where a memset node is disabled, driver 580 takes a launch for done before it
//! is, so that waiting returns early and what comes next on the stream starts early (`xtask/faults.cpp` shows it). One that is to be
//! skipped sets a few bytes that nothing reads instead; rows that lie apart are set by a kernel ([`Fill::of_rows`]).

use super::Executable;
use super::fill::Fill;
use super::memory::Memory;
use crate::driver::{self, MemsetNodeParams};
use crate::error::{At, CudaError, Result, Site};
use crate::program::{Op, Program};
use graph_plan::Draft;

/// Room for one element of a memset.
const ELEMENT: usize = 4;

impl Executable {
    /// Makes later launches run, or skip, `node`.
    pub(crate) fn set_enabled(&mut self, draft: &Draft, program: &Program, node: usize, enabled: bool) -> Result<()> {
        let empty = match &program.ops[node] {
            Op::Kernel(_) => false,
            Op::Memcpy { to, .. } | Op::Memset { to, .. } => to.is_empty(),
            Op::CopyRows(_) | Op::SetRows(_) => false,
            _ => true,
        };
        if empty || self.stale {
            return Ok(()); // it was lowered to an empty node, which does nothing either way; or it is done when the graph is made anew
        }
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.cuda.bind().at(site)?;
        match memset(program, node) {
            // SAFETY: facts 1, 2 and 5 of `Executable`; `nodes[node]` is the program's node.
            Some(_) if enabled => unsafe {
                let handle = self.nodes[node];
                self.adder.apply(self.exec, handle, program, &self.kernels, node)
            },
            Some((size, value)) => self.set_nothing(node, size, value),
            // SAFETY: fact 1; CUDA allows this for kernel and memcpy nodes, which this is.
            None => unsafe { driver::set_node_enabled(self.exec, self.nodes[node], enabled) },
        }
        .at(site)
    }

    /// Lets a memset node set one element that nothing reads; several may set it at once.
    fn set_nothing(&mut self, node: usize, size: u32, value: u32) -> Result<(), CudaError> {
        let nowhere = match &mut self.kept.nowhere {
            Some(memory) => memory,
            none => none.insert(Memory::zeroed(&self.cuda, ELEMENT)?),
        };
        let params = MemsetNodeParams {
            dst: nowhere.address(),
            pitch: ELEMENT,
            value,
            elementSize: size,
            width: 1,
            height: 1,
        };
        // SAFETY: fact 1; `nowhere` has room for an element, and lives as long as the graph (fact 8).
        unsafe { driver::set_memset_node(self.exec, self.nodes[node], &params, self.cuda.raw()) }
    }
}

/// Is the node a CUDA memset that launches skip? What it was told to set is as before then.
pub(super) fn is_skipped_memset(program: &Program, node: usize) -> bool {
    !program.enabled[node] && memset(program, node).is_some()
}

/// The size and the value of the elements that a node sets as a CUDA memset.
fn memset(program: &Program, node: usize) -> Option<(u32, u32)> {
    let Op::Memset { to, value, changes } = &program.ops[node] else {
        return None;
    };
    match Fill::new(value.bytes(), to.start, to.bytes, *changes) {
        Fill::Memset { size, value } => Some((size, value)),
        _ => None,
    }
}
