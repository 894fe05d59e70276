//! Records declarations: nodes, accesses, edges, and mistakes.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::error::{Error, Site};
use crate::graph::node::NodeId;
use crate::program::Op;
use crate::shape::place::{DeclaredAccess, Span};
use graph_plan::{Edge, Mode, NodeKind, Region, Subject};
use std::borrow::Cow;

impl GraphBuilder {
    /// Collects mistakes in names and edges, and leaves out edges of nodes that do not exist.
    pub(super) fn check_names_and_edges(&mut self) {
        self.findings.mistakes(graph_plan::duplicate_names(&self.draft));
        self.check_bodies_of_edges();
        let nodes = self.draft.nodes.len();
        if self.draft.edges.iter().any(|edge| edge.from.max(edge.to) >= nodes) {
            let exists = |edge: &Edge| edge.from.max(edge.to) < nodes;
            let unknown = self.draft.edges.iter().filter(|edge| !exists(edge)).copied();
            for edge in unknown.collect::<Vec<Edge>>() {
                let mistake = mistakes::unknown_node(&self.draft, edge.from, edge.to);
                self.findings.mistake(mistake);
                if let Some(node) = self.draft.nodes.get_mut(edge.to) {
                    node.broken = true; // its order is not the one that its author meant
                }
            }
            self.draft.retain_edges(|edge| exists(&edge));
        }
    }

    /// Collects edges between nodes of different bodies as mistakes, and leaves them out.
    fn check_bodies_of_edges(&mut self) {
        if self.draft.bodies.len() == 1 {
            return;
        }
        let bodies: Vec<usize> = self.draft.nodes.iter().map(|node| node.body).collect();
        let body = |node: usize| bodies.get(node);
        // Edges of unknown nodes are reported elsewhere.
        let crosses = |edge: &Edge| body(edge.from).zip(body(edge.to)).is_some_and(|(from, to)| from != to);
        if !self.draft.edges.iter().any(crosses) {
            return;
        }
        let crossing = self.draft.edges.iter().filter(|edge| crosses(edge)).copied();
        for Edge { from, to } in crossing.collect::<Vec<Edge>>() {
            let subject = Subject::Node(to);
            self.findings
                .mistake(graph_plan::other_body(&self.draft, from, to, subject));
            let later = graph_plan::siblings(&self.draft, from, to).map_or(to, |(_, later)| later);
            for node in [to, later] {
                self.draft.nodes[node].broken = true; // its order is not the one that its author meant
            }
        }
        self.draft.retain_edges(|edge| !crosses(&edge));
    }

    /// Declares a node of the current body and returns its index; [`GraphBuilder::push`] must follow.
    pub(super) fn node(&mut self, name: impl Into<Cow<'static, str>>, kind: NodeKind) -> usize {
        let mut name = name.into();
        if self.position.changes_names() {
            name = self.position.declare(name, self.draft.nodes.len());
        }
        let node = self.draft.node_in(self.position.body, name, kind);
        if self.is_auto() {
            self.draft.nodes[node].auto = true;
        }
        if let Some(loops) = &self.position.loops {
            self.draft.set_numbers(node, loops.depth());
        }
        node
    }

    /// Adds the work of the newest node.
    pub(super) fn push(&mut self, op: impl Into<Op>) -> NodeId {
        NodeId::of(self.id, self.program.push(op.into()))
    }

    /// The indices of two nodes, one of which is to run after the other. If one is of another graph, reports that.
    #[inline]
    pub(super) fn ends_of_edge(&mut self, from: NodeId, to: NodeId) -> Option<(usize, usize)> {
        if !from.is_foreign_to(self.id) && !to.is_foreign_to(self.id) {
            return Some((from.index(), to.index()));
        }
        self.foreign_edge(from, to);
        None
    }

    #[cold]
    fn foreign_edge(&mut self, from: NodeId, to: NodeId) {
        let foreign = [from, to].into_iter().filter(|node| node.is_foreign_to(self.id));
        let words: Vec<String> = foreign.filter_map(NodeId::words).collect();
        let own = |node: NodeId| (!node.is_foreign_to(self.id)).then_some(node.index());
        let (from, to) = (own(from), own(to));
        let mistake = mistakes::foreign_node(&self.draft, from, to, &words);
        self.findings.mistake(mistake);
        if let Some(node) = to.and_then(|to| self.draft.nodes.get_mut(to)) {
            node.broken = true; // its order is not the one that its author meant
        }
    }

    /// Records that the newest node touches a place. If it cannot, reports the mistake and returns false.
    #[inline]
    pub(super) fn touch(&mut self, node: usize, span: Span, mode: Mode) -> bool {
        self.touch_region(node, span, mode, |bytes| {
            if span.start == 0 && span.bytes == bytes && bytes > 0 {
                Region::Whole
            } else {
                Region::span(span.start as u64, (span.start + span.bytes) as u64)
            }
        })
    }

    /// Records that the newest node touches a region of a resource. `region` computes it from the resource's size in
    /// bytes.
    #[inline]
    pub(super) fn touch_region(
        &mut self,
        node: usize,
        span: Span,
        mode: Mode,
        region: impl FnOnce(usize) -> Region,
    ) -> bool {
        if !self.is_inside(node, span) {
            return false;
        }
        let bytes = self.memory.bytes(span.resource);
        if mode.writes() && self.memory.is_read_only(span.resource) {
            self.refuse_write(node, span.resource);
        }
        self.draft.access(node, span.resource, region(bytes), mode);
        true
    }

    #[cold]
    fn refuse_write(&mut self, node: usize, resource: usize) {
        let (name, memory) = (&self.draft.nodes[node].name, &self.draft.resources[resource].name);
        self.findings.mistake(mistakes::read_only(node, name, memory));
    }

    /// Returns whether a place is in memory of this graph. If it is not, reports the mistake.
    #[inline]
    pub(super) fn is_inside(&mut self, node: usize, span: Span) -> bool {
        let is_inside = span.graph == self.id && !span.outside;
        if !is_inside {
            self.refuse_place(node, span);
        }
        is_inside
    }

    #[cold]
    fn refuse_place(&mut self, node: usize, span: Span) {
        let name = &self.draft.nodes[node].name;
        self.findings.mistake(if span.graph == self.id {
            let memory = &self.draft.resources[span.resource].name;
            mistakes::outside(node, name, memory, self.memory.bytes(span.resource))
        } else {
            mistakes::foreign(node, name)
        });
    }

    /// Reports an attribute of a node that does not exist.
    #[cold]
    pub(super) fn unknown_node(&mut self, index: usize) {
        let (site, nodes) = (Site::graph(&self.draft.name), self.draft.nodes.len());
        self.findings.fail(Error::UnknownNode { site, index, nodes });
    }

    /// Reports a node that cannot be built.
    #[cold]
    pub(super) fn fail(&mut self, node: usize, message: &'static str) {
        let site = Site::graph(&self.draft.name).at_node(&self.draft.nodes[node].name);
        self.findings.fail(Error::Unsupported { site, message });
    }

    /// Declares a node of the user's own code, which may do more than its accesses tell.
    pub(super) fn foreign_node(&mut self, name: Cow<'static, str>, kind: NodeKind, declared: Vec<DeclaredAccess>) {
        let node = self.node(name, kind);
        self.draft.nodes[node].opaque = true;
        for DeclaredAccess { span, mode, .. } in declared {
            self.touch(node, span, mode);
        }
    }
}
