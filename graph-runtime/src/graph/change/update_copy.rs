//! Changes copies and memsets of a built graph: their values, and which parts of memory they copy or set.

use crate::error::{Error, Result, mistakes};
use crate::graph::change::update::{Update, unsupported};
use crate::graph::node::NodeId;
use crate::program::transfer::{Memcpy, Memset};
use crate::program::{Op, Work};
use crate::shape::place::{Copied, Memory, OnDevice, Place, Span};
use crate::shape::rectangle::Rectangle;
use crate::shape::same_shape::SameShape;
use crate::shape::{ArrayOf, Element};
use graph_plan::Diagnostic;

impl Update<'_> {
    /// Changes the parts of a copy that was added by
    /// [`GraphBuilder::memcpy_within`](crate::GraphBuilder::memcpy_within). A copy of an empty part does nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the lengths differ (`shape-mismatch`), or a part is outside its memory or the memory that
    /// it is chosen from (`out-of-bounds`); [`Error::Unsupported`] for other parts of any other copy;
    /// [`Error::ForeignPlace`] for places of another graph, [`Error::ForeignNode`] for a node of another graph;
    /// [`Error::UnknownNode`] for a node that the graph does not have. The graph is then unchanged.
    pub fn memcpy<A, B, M1, M2>(&mut self, node: NodeId, from: &Place<A, M1>, to: &mut Place<B, M2>) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Copied,
        M2: Copied,
    {
        self.copy(node, &Memcpy::new(from, to))
    }

    /// Changes the rectangles of a copy that was added by
    /// [`GraphBuilder::memcpy_2d_within`](crate::GraphBuilder::memcpy_2d_within). CUDA cannot change such a copy in
    /// place: this waits for launches in flight and instantiates the graph again.
    ///
    /// # Errors
    /// The errors of [`Update::memcpy`].
    pub fn memcpy_2d<A, B, M1, M2>(
        &mut self,
        node: NodeId,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        self.copy(node, &Memcpy::new(from, to))
    }

    /// Changes the value of a memset node and, if it was added by
    /// [`GraphBuilder::memset_within`](crate::GraphBuilder::memset_within), the part that it sets.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other memory, or a value of another size, or if CUDA sets the old value by itself but
    /// not the new one (see [`GraphBuilder::will_update`](crate::GraphBuilder::will_update)); [`Error::Invalid`] if a
    /// part is outside its memory or the memory that it is chosen from (`out-of-bounds`); [`Error::ForeignPlace`] for
    /// memory of another graph, [`Error::ForeignNode`] for a node of another graph; [`Error::UnknownNode`] for a node
    /// that the graph does not have. The graph is then unchanged.
    pub fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        node: NodeId,
        to: &Place<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        self.set(node, Memset::new(to, value))
    }

    /// Changes the value of a memset node of a rectangle and, if it was added by
    /// [`GraphBuilder::memset_2d_within`](crate::GraphBuilder::memset_2d_within), the rectangle.
    ///
    /// # Errors
    /// The errors of [`Update::memset`].
    pub fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        node: NodeId,
        to: &Rectangle<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        self.set(node, Memset::new(to, value))
    }

    /// Changes the parts of a copy.
    pub(crate) fn copy(&mut self, node: NodeId, copy: &Memcpy) -> Result<()> {
        let index = self.graph.check_node(node)?;
        if !matches!(self.graph.data.program.ops[index], Op::Work(Work::Memcpy(_))) {
            return Err(unsupported(self.site(index), "the node copies no memory"));
        }
        self.check_part(index, copy.from.all)?;
        self.check_part(index, copy.to.all)?;
        if let Some(mistake) = copy.mistake(&self.graph.data.draft, index) {
            return Err(self.invalid(mistake));
        }
        self.push_part(index, copy.lowered().into())
    }

    /// Changes the value and the part of a memset.
    pub(crate) fn set(&mut self, node: NodeId, set: Memset) -> Result<()> {
        let index = self.graph.check_node(node)?;
        let Op::Work(Work::Memset(before)) = &self.graph.data.program.ops[index] else {
            return Err(unsupported(self.site(index), "the node sets no memory"));
        };
        self.check_part(index, set.to.all)?;
        if !before.value.is_as_long_as(&set.value) {
            return Err(unsupported(
                self.site(index),
                "an update cannot change which memory a node uses",
            ));
        }
        self.push_part(index, set.lowered(before.will_update).into())
    }

    /// Refuses memory of another graph, and places that reach outside their memory.
    fn check_part(&self, node: usize, span: Span) -> Result<()> {
        if !self.graph.data.builders.has(span.graph) {
            return Err(Error::ForeignPlace { site: self.site(node) });
        }
        if span.outside {
            let draft = &self.graph.data.draft;
            let bytes = self.graph.data.layouts[span.resource].map_or(0, |layout| layout.bytes);
            let (name, memory) = (&draft.nodes[node].name, &draft.resources[span.resource].name);
            return Err(self.invalid(mistakes::outside(node, name, memory, bytes)));
        }
        Ok(())
    }

    /// Records the new work of a node whose places have been checked: its memory is as before, or in its reach.
    fn push_part(&mut self, node: usize, work: Work) -> Result<()> {
        let graph = self.graph;
        match graph.data.program.reach(node) {
            None if graph.data.program.ops[node]
                .work()
                .is_some_and(|old| old.touches_like(&work)) => {}
            None => {
                return Err(unsupported(
                    self.site(node),
                    "an update cannot change which memory a node uses",
                ));
            }
            Some(reach) if reach.is_split_by(&work) => {
                return Err(unsupported(
                    self.site(node),
                    "only a node that was added by `memcpy_2d_within` or `memset_2d_within` takes rows that lie apart",
                ));
            }
            Some(reach) => {
                if let Some(resource) = reach.left_by(&work) {
                    let (name, memory) = (
                        &graph.data.draft.nodes[node].name,
                        &graph.data.draft.resources[resource].name,
                    );
                    return Err(self.invalid(mistakes::beyond(node, name, memory)));
                }
            }
        }
        self.push(node, work, Vec::new(), None)
    }

    fn invalid(&self, mistake: Diagnostic) -> Error {
        Error::mistake(&self.graph.data.draft.name, mistake)
    }
}
