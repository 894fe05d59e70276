//! Instantiates a graph again after a change that CUDA does not make in place: to a copy of rows that lie apart,
//! to a copy that now uses memory of another kind (of a pool, or of `cuMemAlloc`), or to all of a captured graph.

use crate::backend::cuda::CudaExecutable;
use crate::backend::cuda::OWN;
use crate::backend::cuda::attribute;
use crate::driver::RelaxedCapture;
use crate::error::{At, Result, Site};
use crate::program::capture::CaptureCall;
use crate::program::host_call::refuse_in_host_function;
use crate::program::{Op, Program, Work};
use graph_plan::Draft;
use std::ptr;

impl CudaExecutable {
    /// Instantiates the graph again, from the current program and memory. After an error, this must succeed before the
    /// next launch.
    pub(in crate::backend::cuda) fn instantiate_again(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        let _relaxed = RelaxedCapture::enter();
        self.discard(draft)?;
        for node in 0..program.ops.len() {
            let site = || graph().at_node(&draft.nodes[node].name);
            // SAFETY: facts 1, 2 and 5 of `CudaExecutable`: `nodes[node]` is the program's node, of the same kind.
            unsafe { self.adder.move_node(self.nodes[node], program, node) }.at(site)?;
        }
        self.instantiate_anew(draft, program)?;
        self.sweep_textures();
        self.stale = false;
        // `move_node` has changed copies in the graph itself, but not those that are kernels.
        let applied = (0..program.ops.len()).try_for_each(|node| {
            let is_copy = matches!(program.ops[node], Op::Work(Work::Memcpy(_)));
            match is_copy && !self.adder.forms.has(node) {
                true => Ok(()),
                false => self.apply_node(draft, program, node),
            }
        });
        let ready = applied.and_then(|()| self.make_ready(draft, program));
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
            self.instantiate_anew(draft, program)?;
            self.make_ready(draft, program)?;
        }
        self.stale = false;
        self.clear_retired(node).at(graph)
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
    fn instantiate_anew(&mut self, draft: &Draft, program: &Program) -> Result<()> {
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
