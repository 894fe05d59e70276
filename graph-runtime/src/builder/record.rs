//! The record that declarations make: nodes, accesses, functions, and mistakes.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::error::{Error, Site};
use crate::graph::node::NodeId;
use crate::kernel::source::{Ptx, Unresolved, resolve};
use crate::kernel::{Callee, KernelCall, KernelFacts, LOADED, Launch, launch_mistake};
use crate::program::Op;
use crate::shape::place::Span;
use graph_plan::{Edge, LaunchConfig, Mode, NodeKind, Region, Space, Subject};
use std::borrow::Cow;
use std::ptr;

/// A launch that passed its checks. Neighbours are often alike, and checking is most of what adding a kernel node
/// costs.
pub(super) struct Checked {
    pub(super) facts: &'static KernelFacts,
    pub(super) launch: Launch,
    pub(super) config: LaunchConfig,
}

impl GraphBuilder {
    /// Collects mistakes in names and edges, and leaves out edges of nodes that do not exist.
    pub(super) fn check_names_and_edges(&mut self) {
        let mut duplicates = graph_plan::duplicate_names(&self.draft);
        self.mistakes.append(&mut duplicates);
        self.check_bodies_of_edges();
        let nodes = self.draft.nodes.len();
        if self.draft.edges.iter().any(|edge| edge.from.max(edge.to) >= nodes) {
            let exists = |edge: &Edge| edge.from.max(edge.to) < nodes;
            let unknown = self.draft.edges.iter().filter(|edge| !exists(edge)).copied();
            for edge in unknown.collect::<Vec<Edge>>() {
                let mistake = mistakes::unknown_node(&self.draft, edge.from, edge.to);
                self.mistakes.push(mistake);
                if let Some(node) = self.draft.nodes.get_mut(edge.to) {
                    node.broken = true; // its order is not what was meant
                }
            }
            self.draft.retain_edges(|edge| exists(&edge));
        }
        for node in std::mem::take(&mut self.updated) {
            match self.program.ops.get_mut(node.index()) {
                Some(Op::Memset { will_update, .. }) => *will_update = true,
                Some(
                    Op::Kernel(_)
                    | Op::Memcpy { .. }
                    | Op::Join
                    | Op::Conditional(_)
                    | Op::Child(_)
                    | Op::Call(_)
                    | Op::Record(_)
                    | Op::Wait(_)
                    | Op::Capture(_)
                    | Op::Raw(_),
                )
                | None => {}
            }
        }
    }

    /// Collects edges between nodes of different bodies as mistakes, and leaves them out.
    fn check_bodies_of_edges(&mut self) {
        if self.draft.bodies.len() == 1 {
            return;
        }
        let bodies: Vec<usize> = self.draft.nodes.iter().map(|node| node.body).collect();
        let body = |node: usize| bodies.get(node);
        let crosses = |edge: &Edge| match (body(edge.from), body(edge.to)) {
            (Some(from), Some(to)) => from != to,
            _ => false,
        };
        if !self.draft.edges.iter().any(crosses) {
            return;
        }
        let crossing = self.draft.edges.iter().filter(|edge| crosses(edge)).copied();
        for Edge { from, to } in crossing.collect::<Vec<Edge>>() {
            let subject = Subject::Node(to);
            self.mistakes
                .push(graph_plan::other_body(&self.draft, from, to, subject));
            let later = graph_plan::siblings(&self.draft, from, to).map_or(to, |(_, later)| later);
            for node in [to, later] {
                self.draft.nodes[node].broken = true; // its order is not what was meant
            }
        }
        self.draft.retain_edges(|edge| !crosses(&edge));
    }

    /// The checked dimensions of the newest node's launch; `None`, and a mistake more, where they are wrong.
    pub(super) fn check_launch<const N: usize>(
        &mut self,
        node: usize,
        facts: &'static KernelFacts,
        launch: Launch,
        call: &KernelCall<N>,
    ) -> Option<LaunchConfig> {
        if let Some(last) = &self.checked
            && ptr::eq(last.facts, facts)
            && last.launch == launch
            && let Some(arguments) = self.program.arguments.last_chunk::<N>()
            && arguments
                .iter()
                .zip(&call.arguments)
                .all(|(last, new)| last.is_like(new))
        {
            return Some(last.config);
        }
        let checked = launch_mistake(&self.draft, node, facts, launch, call);
        let config = checked.map_err(|mistake| self.mistakes.push(mistake)).ok();
        self.checked = config.map(|config| Checked { facts, launch, config });
        config
    }

    /// Declares a node of the current body and returns its index; [`GraphBuilder::push`] must follow.
    pub(super) fn node(&mut self, name: impl Into<Cow<'static, str>>, kind: NodeKind) -> usize {
        let name = self.named(name.into());
        match &mut self.repeats {
            None => self.draft.node_in(self.body, name, kind),
            Some(repeats) => {
                let name = repeats.declare(name, self.draft.nodes.len());
                self.draft.node_in(self.body, name, kind)
            }
        }
    }

    pub(super) fn push(&mut self, op: Op) -> NodeId {
        NodeId::new(self.program.push(op))
    }

    /// Records that the newest node touches a place, or why it cannot.
    pub(super) fn touch(&mut self, node: usize, span: Span, mode: Mode) -> bool {
        self.touch_region(node, span, mode, |bytes| {
            if span.start == 0 && span.bytes == bytes && bytes > 0 {
                Region::Whole
            } else {
                Region::span(span.start as u64, (span.start + span.bytes) as u64)
            }
        })
    }

    /// Records that the newest node touches a region of a resource: `region` makes it of the resource's size in bytes.
    pub(super) fn touch_region(
        &mut self,
        node: usize,
        span: Span,
        mode: Mode,
        region: impl FnOnce(usize) -> Region,
    ) -> bool {
        let name = &self.draft.nodes[node].name;
        if span.graph != self.id {
            self.mistakes.push(mistakes::foreign(node, name));
            return false;
        }
        let bytes = self.layouts[span.resource].map_or(0, |layout| layout.bytes);
        if span.outside {
            let memory = &self.draft.resources[span.resource].name;
            self.mistakes.push(mistakes::outside(node, name, memory, bytes));
            return false;
        }
        if mode.writes() && self.is_read_only(span.resource) {
            let memory = &self.draft.resources[span.resource].name;
            self.mistakes.push(mistakes::read_only(node, name, memory));
        }
        self.draft.access(node, span.resource, region(bytes), mode);
        true
    }

    /// The index of what the newest node launches, and what is known of it. Where it cannot be known, the graph is not
    /// built: the index is any then.
    pub(super) fn function(&mut self, node: usize, callee: &Callee) -> (u32, &'static KernelFacts) {
        match callee {
            Callee::Declared(facts) => self.declared(node, facts),
            Callee::Loaded(function) => {
                self.draft.nodes[node].opaque = true;
                if self.device.is_emulator() {
                    self.fail(node, "the CPU emulator runs PTX, which a loaded `CudaFunction` no longer has; declare the kernel with `#[cuda_kernels]`");
                }
                self.draft.nodes[node].opaque = true;
                (self.program.loaded(function.clone()), &LOADED)
            }
            Callee::Unchanged => {
                self.fail(node, "only an update can leave a node's kernel as it is");
                (0, &LOADED)
            }
        }
    }

    /// Notes that something is said of a node that does not exist.
    #[cold]
    pub(super) fn unknown_node(&mut self, index: usize) {
        let (site, nodes) = (Site::graph(&self.draft.name), self.draft.nodes.len());
        self.failure.get_or_insert(Error::UnknownNode { site, index, nodes });
    }

    #[cold]
    pub(super) fn fail(&mut self, node: usize, message: &'static str) {
        let site = Site::graph(&self.draft.name).at_node(&self.draft.nodes[node].name);
        self.failure.get_or_insert(Error::Unsupported { site, message });
    }

    /// A declared kernel, and the newest node's accesses to the variables of its module.
    fn declared(&mut self, node: usize, facts: &'static KernelFacts) -> (u32, &'static KernelFacts) {
        if let Some(function) = self.program.recent(facts) {
            self.touch_variables(node, function);
            return (function, facts);
        }
        let facts = match resolve(facts, || self.device.backend.architecture()) {
            Ok(facts) => facts,
            Err(unresolved) => {
                self.unresolved(node, facts, unresolved);
                return (0, facts);
            }
        };
        let Some(ptx) = facts.source.ptx() else {
            return (0, facts); // resolved facts have it
        };
        (self.module_function(node, facts, ptx), facts)
    }

    /// Notes why a kernel is not known: each mistake once, however many nodes launch it.
    #[cold]
    fn unresolved(&mut self, node: usize, facts: &'static KernelFacts, unresolved: Unresolved) {
        if self.unresolved.iter().any(|known| ptr::eq(*known, facts)) {
            return;
        }
        self.unresolved.push(facts);
        let path = facts.source.path();
        match unresolved.error(&self.draft.name, node, &self.draft.nodes[node].name, path) {
            Error::Invalid { diagnostics, .. } => self.mistakes.extend(diagnostics),
            error => drop(self.failure.get_or_insert(error)),
        }
    }

    /// The index of a kernel with PTX, and the newest node's accesses to the variables of its module.
    fn module_function(&mut self, node: usize, facts: &'static KernelFacts, ptx: &'static Ptx) -> u32 {
        let Self {
            draft,
            layouts,
            program,
            ..
        } = self;
        // A module's functions that were added earlier know its variables by name.
        let function = program.function(facts, ptx, |known, module| {
            let variables = facts.variables.iter().map(|&(name, mode)| {
                let same = |&&(resource, _): &&(usize, Mode)| draft.resources[resource].name == name;
                let of_module = known.iter().filter(|function| function.module() == Some(module));
                let resource = of_module.flat_map(|function| &function.variables).find(same);
                let resource = resource.map_or_else(
                    || {
                        layouts.push(None);
                        let resource = draft.resource(name, Space::Device);
                        draft.resources[resource].implicit = true;
                        resource
                    },
                    |&(resource, _)| resource,
                );
                (resource, mode)
            });
            variables.collect()
        });
        self.touch_variables(node, function);
        function
    }

    /// Records that the newest node touches the variables of its kernel's module.
    fn touch_variables(&mut self, node: usize, function: u32) {
        for &(resource, mode) in &self.program.functions[function as usize].variables {
            self.draft.access(node, resource, Region::Whole, mode);
        }
    }
}
