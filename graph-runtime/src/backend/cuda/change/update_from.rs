//! Whole-graph update: the executable graph of one graph is given to another graph of the same shape, whose memory,
//! kernels and values it has from then on.

use crate::backend::cuda::{CudaExecutable, Origin, attribute};
use crate::driver::RelaxedCapture;
use crate::error::{At, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::program::{Op, Program};
use graph_plan::Draft;
use std::mem;
use std::ptr;

/// The way in which a graph was [updated from a definition](crate::Graph::update_from).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Updated {
    /// The executable graph was changed in place, by `cuGraphExecUpdate` on CUDA.
    InPlace,
    /// CUDA does not change this graph in place, so it was instantiated again.
    Instantiated,
}

impl CudaExecutable {
    /// Makes this executable, which is only prepared, with what `old` has: the executable graph, if CUDA can change it,
    /// and the options. `like` says whether both have the same nodes in the same order, so that CUDA pairs the nodes
    /// as their indices do. Waits for the launches of `old` first.
    ///
    /// After an error, `self` must be dropped, and `old` be [restored](CudaExecutable::restore).
    pub(crate) fn update_from(
        &mut self,
        blueprint: &Blueprint<'_>,
        old: &mut Self,
        (old_draft, old_program): (&Draft, &Program),
        like: bool,
    ) -> Result<Updated> {
        let graph = || Site::graph(&blueprint.draft.name);
        let _relaxed = RelaxedCapture::enter();
        old.wait().at(graph)?;
        self.cuda.bind().at(graph)?;
        self.options = old.options;
        self.changed = blueprint.changed;
        let flags = |program| attribute::flags(program, old.options);
        let in_place = like
            && !(old.exec.is_null() || old.stale)
            && flags(blueprint.program) == flags(old_program)
            && have_same_attributes(blueprint.program, old_program)
            && !has_conditionals(blueprint.program);
        if in_place {
            // After an error from here on, the old graph is instantiated again before it is launched.
            old.stale = true;
            if self.take_in_place(blueprint, old, (old_draft, old_program))? {
                return Ok(Updated::InPlace);
            }
        }
        self.instantiate(blueprint, old.options)?;
        Ok(Updated::Instantiated)
    }

    /// Changes the executable graph of `old` in place, and takes it. Returns false if CUDA refuses.
    fn take_in_place(
        &mut self,
        blueprint: &Blueprint<'_>,
        old: &mut Self,
        (old_draft, old_program): (&Draft, &Program),
    ) -> Result<bool> {
        let draft = blueprint.draft;
        // CUDA does not say whether skipped nodes stay skipped. `make_ready` skips those of the new graph.
        old.enable_all(old_draft, old_program)?;
        // The memory and kernels of nodes of `graph` are kept by `self` (fact 2 of `CudaExecutable`), which takes
        // `exec` now. If the call fails, nobody launches `exec` again: `stale` is set.
        if !old.update(draft, self.graph, &self.nodes)? {
            return Ok(false);
        }
        let handover = Handover::begin(self, old);
        handover.new.make_ready(draft, blueprint.program)?;
        handover.keep();
        Ok(true)
    }

    /// Makes the executable graph anew if a failed [`CudaExecutable::update_from`] may have changed it.
    pub(crate) fn restore(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        if !self.stale {
            return Ok(());
        }
        self.instantiate_again(draft, program)
    }
}

/// An executable graph that `new` has taken from `old`, with the graph that it was instantiated from. Unless `new`
/// keeps it, `old` gets it back, also if code of the user panics, and instantiates its own graph again before it
/// launches.
struct Handover<'a> {
    new: &'a mut CudaExecutable,
    old: &'a mut CudaExecutable,
    /// Whether the executable graph was instantiated from the graph of `old`.
    is_from_old: bool,
}

impl<'a> Handover<'a> {
    fn begin(new: &'a mut CudaExecutable, old: &'a mut CudaExecutable) -> Self {
        let is_from_old = old.origin.is_none();
        mem::swap(&mut new.exec, &mut old.exec);
        new.origin = old.origin.take().or_else(|| {
            Some(Origin {
                graph: mem::replace(&mut old.graph, ptr::null_mut()),
                nodes: mem::take(&mut old.nodes),
            })
        });
        Self { new, old, is_from_old }
    }

    fn keep(self) {
        mem::forget(self);
    }
}

impl Drop for Handover<'_> {
    fn drop(&mut self) {
        mem::swap(&mut self.new.exec, &mut self.old.exec);
        self.old.origin = self.new.origin.take();
        if self.is_from_old
            && let Some(origin) = self.old.origin.take()
        {
            self.old.graph = origin.graph;
            self.old.nodes = origin.nodes;
        }
    }
}

/// Whether the kernels of two graphs of one shape are launched with the same attributes. CUDA changes few of them.
fn have_same_attributes(one: &Program, other: &Program) -> bool {
    let kernels = one.ops.iter().map(Op::kernel).zip(other.ops.iter().map(Op::kernel));
    kernels
        .filter_map(|(one, other)| one.zip(other))
        .all(|(one, other)| one.attributes == other.attributes)
}

/// Whether the graph has conditional nodes. Their handles belong to one graph, and CUDA changes no parameters of such
/// nodes.
fn has_conditionals(program: &Program) -> bool {
    program.others().any(|(_, op)| op.conditional().is_some())
}
