//! Makes the executable graph anew after a change that CUDA does not make in place: to a copy of rows that lie apart,
//! to a copy that now uses memory of another kind (of a pool, or of `cuMemAlloc`), or to all of a captured graph.

use crate::backend::cuda::CudaExecutable;
use crate::backend::cuda::OWN;
use crate::backend::cuda::attribute;
use crate::driver::{CUgraph, CUgraphNode, RelaxedCapture};
use crate::error::{At, Error, Result, Site};
use crate::program::capture::CaptureCall;
use crate::program::host::refuse_in_host_function;
use crate::program::{Op, Program, Work};
use graph_plan::Draft;
use std::ptr;

impl CudaExecutable {
    /// Makes later launches run `nodes` with their memory where that is now. If CUDA refuses to change one in place,
    /// waits for launches in flight and instantiates the graph again.
    pub(crate) fn apply_memory(&mut self, draft: &Draft, program: &Program, nodes: &[usize]) -> Result<()> {
        if let Some(call) = program.whole_capture() {
            // Its addresses are in the recorded work, so instantiating it again would not do.
            return match nodes.is_empty() && !self.stale {
                true => Ok(()),
                false => self.record_again(draft, program, 0, call),
            };
        }
        let graph = || Site::graph(&draft.name);
        if let Some(&first) = nodes.first() {
            self.prepared.clear(); // they know nothing but other values
            self.cuda.bind().at(|| graph().at_node(&draft.nodes[first].name))?;
            self.sweep_textures();
        }
        for &node in nodes {
            if self.stale {
                break;
            }
            match &program.ops[node] {
                Op::Work(Work::Memcpy(copy)) if !self.adder.changes_in_place(copy) => self.stale = true,
                Op::Work(Work::Memcpy(_)) => match self.apply(draft, program, node) {
                    Err(error) if is_refusal(&error) => self.stale = true,
                    applied => applied?,
                },
                Op::Work(_) | Op::Structure(_) | Op::External(_) => self.apply(draft, program, node)?,
            }
        }
        if self.stale {
            self.renew(draft, program)?;
        }
        Ok(())
    }

    /// Instantiates the graph again, from the current program and memory. After an error, this must succeed before the
    /// next launch.
    pub(in crate::backend::cuda) fn renew(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        let _relaxed = RelaxedCapture::enter();
        self.discard(draft)?;
        for node in 0..program.ops.len() {
            let site = || graph().at_node(&draft.nodes[node].name);
            // SAFETY: facts 1, 2 and 5 of `CudaExecutable`: `nodes[node]` is the program's node, of the same kind.
            unsafe { self.adder.move_node(self.nodes[node], program, node) }.at(site)?;
        }
        self.instantiate_again(draft, program)?;
        self.sweep_textures();
        self.stale = false;
        let renewed = (0..program.ops.len()).try_for_each(|node| match &program.ops[node] {
            // `move_node` has changed these in the graph itself.
            Op::Work(Work::Memcpy(_)) => Ok(()),
            Op::Work(_) | Op::Structure(_) | Op::External(_) => self.apply(draft, program, node),
        });
        let ready = renewed.and_then(|()| self.make_ready(draft, program));
        self.stale = ready.is_err();
        ready
    }

    /// Records the work of a captured graph again, with its memory where that is now. CUDA changes the executable graph
    /// in place if the new work has the shape of the old; otherwise this waits for launches in flight, and instantiates
    /// the graph again. After an error, this must succeed before the next launch.
    pub(crate) fn record_again(
        &mut self,
        draft: &Draft,
        program: &Program,
        node: usize,
        call: &CaptureCall,
    ) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        let _relaxed = RelaxedCapture::enter();
        self.recapture(draft, node, call)?;
        let new = self.captured(node);
        // After an error from here on, the graph is recorded and instantiated again before it is launched.
        let is_current = !std::mem::replace(&mut self.stale, true) && !self.exec.is_null();
        let updated = is_current && self.update(draft, new, &[])?;
        let old = self.graph;
        self.adopt(node);
        // SAFETY: fact 1 of `CudaExecutable`: it was the graph of `self` until now; executable graphs do without it.
        let _ = unsafe { self.cuda.api().destroy(old) };
        if !updated {
            self.discard(draft)?;
            self.instantiate_again(draft, program)?;
            self.make_ready(draft, program)?;
        }
        self.stale = false;
        self.clear_retired(node).at(graph)
    }

    /// Makes later launches run the nodes of `new`, whose nodes of the program are `nodes`. Returns false if CUDA does
    /// not change the executable graph into that. Launches in flight do not change (D1).
    pub(in crate::backend::cuda) fn update(&self, draft: &Draft, new: CUgraph, nodes: &[CUgraphNode]) -> Result<bool> {
        let graph = || Site::graph(&draft.name);
        announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().update).at(graph)?;
        // SAFETY: fact 1 of `CudaExecutable`; `new` was captured in this context, and lives.
        match unsafe { self.cuda.api().update(self.exec, new) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.is_refusal() => {
                let found = nodes.iter().position(|&node| !node.is_null() && node == failed.node);
                let (reason, node) = (failed.reason, found.map_or("", |node| &draft.nodes[node].name));
                announce!(self.cuda, debug, graph = %draft.name, reason, node, "not updated in place").at(graph)?;
                Ok(false)
            }
            Err(failed) => Err(failed.error).at(graph),
        }
    }

    /// Destroys the executable graph, if there is one, when no launch is in flight. The context is current afterwards.
    fn discard(&mut self, draft: &Draft) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        self.prepared.clear(); // they name nodes of the origin
        // Launches of the new graph would not wait for those of the old one. And CUDA allows only one executable graph
        // at a time of a graph with conditionals.
        self.wait().at(graph)?;
        self.cuda.bind().at(graph)?;
        if !self.exec.is_null() {
            announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().destroy_executable)
                .at(graph)?;
            // SAFETY: fact 1 of `CudaExecutable`; no launch is in flight, and the handle is not used again.
            let destroyed = unsafe { self.cuda.api().destroy_executable(self.exec) };
            self.exec = ptr::null_mut();
            destroyed.at(graph)?;
        }
        match self.origin.take() {
            // SAFETY: fact 1 of `CudaExecutable`; `exec`, whose nodes it names, is gone.
            Some(origin) => unsafe { self.cuda.api().destroy(origin.graph) }.at(graph),
            None => Ok(()),
        }
    }

    /// Makes the executable graph after [`CudaExecutable::discard`].
    fn instantiate_again(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().instantiate).at(graph)?;
        // SAFETY: fact 1 of `CudaExecutable`.
        let exec = unsafe {
            self.cuda
                .api()
                .instantiate(self.graph, attribute::flags(program, self.options))
        };
        self.exec = exec.map_err(|failed| failed.error).at(graph)?;
        Ok(())
    }

    /// Disables the nodes that are disabled and, if the options ask for it, uploads the graph, so that the first launch
    /// costs as much as others.
    pub(in crate::backend::cuda) fn make_ready(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        let disabled = program.enabled.iter().enumerate().filter(|(_, enabled)| !**enabled);
        for node in disabled.map(|(node, _)| node).chain(program.idle()) {
            self.set_enabled(draft, program, node, false)?;
        }
        if !self.options.upload {
            return Ok(());
        }
        self.upload(draft)?;
        announce!(self.cuda, trace, graph = %draft.name, "cuStreamSynchronize").at(graph)?;
        self.wait().at(graph)
    }

    /// Uploads the graph on its own stream, and returns without waiting for it.
    pub(crate) fn upload(&mut self, draft: &Draft) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        refuse_in_host_function().at(graph)?;
        self.cuda.bind().at(graph)?;
        announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().upload).at(graph)?;
        self.in_flight.set(self.in_flight.get() | OWN);
        // SAFETY: fact 1 of `CudaExecutable`.
        unsafe { self.cuda.api().upload(self.exec, self.stream) }.at(graph)
    }
}

/// Whether the error is the one by which CUDA refuses to change a node in place.
fn is_refusal(error: &Error) -> bool {
    const INVALID_VALUE: u32 = 1;
    matches!(error, Error::Cuda { source, .. } if source.code() == INVALID_VALUE)
}
