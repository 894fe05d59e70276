//! Nodes that launches skip.
//!
//! Kernels and copies are disabled by CUDA's own call. A memset is not: with a disabled memset node, driver 580 takes a
//! launch for done too early, so that waiting returns early and the next work on the stream starts early
//! (`xtask/faults.cpp` shows it). So a skipped memset sets a few bytes that nothing reads. (Rows that lie apart are set
//! by a kernel: [`Fill::of`].)

use crate::backend::cuda::CudaExecutable;
use crate::backend::cuda::fill::Fill;
use crate::devices::cuda_memory::CudaMemory;
use crate::driver::{CUgraphNode, MemsetNodeParams};
use crate::error::{At, CudaError, Result, Site};
use crate::program::reach::Reach;
use crate::program::{Program, Work};
use graph_plan::Draft;

/// The size of the largest element of a memset, in bytes.
const ELEMENT: usize = 4;

impl CudaExecutable {
    /// Makes later launches run `node`, or skip it. A node whose part updates choose runs as `program` now says, and is
    /// skipped, too, if it has nothing to do.
    pub(crate) fn set_enabled(&mut self, draft: &Draft, program: &Program, node: usize, enabled: bool) -> Result<()> {
        let Some(work) = program.ops[node].work() else {
            return Ok(());
        };
        let reach = program.reach(node);
        if self.stale || reach.map_or(work.is_idle(), Reach::is_empty) {
            // Either making the graph anew applies this, or the node is an empty one, since no update can give it work.
            return Ok(());
        }
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.cuda.bind().at(site)?;
        let runs = enabled && !work.is_idle();
        let fill = self.fill_of_work(program, node, work);
        let placed = self.predicated.placed.get(&node);
        let keeps = placed.is_some_and(|placed| placed.iter().any(|placed| placed.guard.keeps.is_some()));
        let is_changed = match fill {
            Some(Fill::Memset { size, value }) if !runs => return self.set_nothing(node, size, value).at(site),
            Some(Fill::Nothing | Fill::TooLong) => return Ok(()),
            Some(Fill::Memset { .. }) => true,
            Some(Fill::Kernel { .. }) | None => keeps || (reach.is_some() && !work.is_idle()),
        };
        if is_changed {
            // The node was made for work of this kind (`Program::lowered`).
            self.apply_work(program, node, work).at(site)?;
        }
        if matches!(fill, Some(Fill::Memset { .. })) {
            return Ok(()); // a memset is never disabled
        }
        let set = |handle: CUgraphNode| {
            // SAFETY: fact 1; CUDA allows this for kernel and memcpy nodes, which this is.
            unsafe { self.cuda.api().set_node_enabled(self.exec, handle, runs) }.at(site)
        };
        match self.predicated.placed.get(&node) {
            Some(placed) => {
                // A kernel that stores its decision for others does that even if it does nothing else: `apply_work`
                // has told it.
                let mut skipped = placed.iter().filter(|placed| placed.guard.keeps.is_none());
                skipped.try_for_each(|placed| set(placed.handle))
            }
            None => set(self.handle(node)),
        }
    }

    /// The way in which a memset node sets its memory; `None` for other nodes.
    fn fill_of_work(&self, program: &Program, node: usize, work: &Work) -> Option<Fill> {
        match work {
            Work::Memset(set) => Some(self.adder.fill_of(program, node, set)),
            Work::Kernel(_) | Work::Memcpy(_) | Work::Join => None,
        }
    }

    /// Enables every node that CUDA skips, whatever the program says.
    pub(in crate::backend::cuda) fn enable_all(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        for (node, op) in program.ops.iter().enumerate() {
            let Some(work) = op.work() else { continue };
            let skipped = match program.reach(node) {
                Some(reach) => !reach.is_empty() && (!program.enabled[node] || work.is_idle()),
                None => !work.is_idle() && !program.enabled[node],
            };
            match self.fill_of_work(program, node, work) {
                Some(Fill::Memset { .. } | Fill::Nothing | Fill::TooLong) => {} // CUDA never skips these
                Some(Fill::Kernel { .. }) | None if !skipped => {}
                Some(Fill::Kernel { .. }) | None => {
                    // SAFETY: fact 1 of `CudaExecutable`; CUDA allows this for kernel and memcpy nodes, which this is.
                    unsafe { self.cuda.api().set_node_enabled(self.exec, self.handle(node), true) }
                        .at(|| Site::graph(&draft.name).at_node(&draft.nodes[node].name))?
                }
            }
        }
        Ok(())
    }

    /// Makes a memset node set one element that nothing reads. Several nodes may set it at the same time.
    fn set_nothing(&mut self, node: usize, size: u32, value: u32) -> Result<(), CudaError> {
        let nowhere = match &mut self.user_objects.nowhere {
            Some(memory) => memory,
            none => none.insert(CudaMemory::zeroed(&self.cuda, ELEMENT)?),
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
        unsafe {
            self.cuda
                .api()
                .set_memset_node(self.exec, self.handle(node), &params, self.cuda.raw())
        }
    }
}
