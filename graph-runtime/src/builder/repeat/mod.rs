//! Loops: `for`. Each iteration adds its nodes anew, and runs after the one before.

mod order;

use super::GraphBuilder;
use crate::error::{Error, Site};
use crate::program::Op;
use crate::program::declared::DeclaredNodes;
use crate::shape::iterations::{Iterations, NONE, count};
use graph_plan::{Code, Diagnostic, NodeKind, Subject};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The most nodes that a graph with `for`s has: a count that is a mistake is told, instead of taking all memory.
const MAX_NODES: usize = 1 << 20;

/// A node as `cuda_graph!` declares it in a `for`: its name, and how many `for`s are around it up to that one; 0 for a
/// node in a body of another node of the `for`.
type Declaration = (&'static str, usize);

/// The loops of a builder.
#[derive(Default)]
pub(super) struct Repeats {
    /// The loops that nodes are being added in, from the outermost.
    open: Vec<Open>,
    /// The loops that have ended, each before those around it.
    ended: Vec<Repeated>,
    declared: Option<Declared>,
    /// Why the nodes are not all that were declared. `build` returns it before anything else.
    pub(super) failure: Option<Error>,
}

/// The declarations of `cuda_graph!` so far.
struct Declared {
    /// The index of the next declaration.
    next: usize,
    instances: DeclaredNodes,
}

/// A `for` in which nodes are being added.
struct Open {
    /// The number of the iteration.
    value: usize,
    /// The index of its first declaration.
    first: usize,
    /// How many there are.
    declarations: usize,
    /// The name of the first, if `cuda_graph!` has declared it.
    name: Option<&'static str>,
    repeated: Repeated,
}

/// The nodes of a `for`.
struct Repeated {
    /// The body that the loop is in.
    body: usize,
    /// The first node of each iteration.
    starts: Vec<usize>,
    /// The node behind the last iteration.
    end: usize,
}

impl Repeats {
    /// Notes a node of the draft; the name it has as one of an iteration.
    pub(super) fn declare(&mut self, name: Cow<'static, str>, node: usize) -> Cow<'static, str> {
        if let Some(declared) = &mut self.declared {
            let values = self.open.iter().map(|open| open.value);
            declared.instances.add(declared.next, values, node, false);
            declared.next += 1;
        }
        if self.open.is_empty() {
            return name;
        }
        numbered(name.into_owned(), &self.open).into()
    }

    /// Notes declarations from now on; each of `nodes` so far is one.
    pub(super) fn declare_all(&mut self, nodes: usize) {
        self.declared.get_or_insert_with(|| Declared {
            next: nodes,
            instances: DeclaredNodes::identity(nodes),
        });
    }

    /// Leaves to the builder of the graph around a child what it needs to know of the child's `for`s. What became of
    /// the child's declarations.
    pub(super) fn end_in(self, outer: &mut Option<Box<Self>>) -> Option<DeclaredNodes> {
        if !self.ended.is_empty() || self.failure.is_some() {
            let outer = outer.get_or_insert_default();
            outer.ended.extend(self.ended);
            outer.failure = outer.failure.take().or(self.failure);
        }
        self.declared.map(|declared| declared.instances)
    }

    /// The nodes of the declarations.
    pub(super) fn into_instances(self) -> Option<DeclaredNodes> {
        self.declared.map(|declared| declared.instances)
    }
}

/// `name[2][3]`
fn numbered(mut name: String, open: &[Open]) -> String {
    for open in open {
        write!(name, "[{}]", open.value).expect("writing to a string does not fail");
    }
    name
}

impl GraphBuilder {
    /// Repeats the nodes that `iteration` adds, for each number of the range. What no other node of an iteration comes
    /// before runs after all that nothing in the iteration before comes after, so each iteration ends before the next
    /// begins.
    ///
    /// Nodes of an iteration have its number behind their names: `scale[3]`.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Layers");
    /// let weights = builder.device::<[[f32; 4]; 3]>("weights");
    /// let mut layer = builder.device::<[f32; 4]>("layer");
    /// let mut history = builder.host::<[[f32; 4]; 3]>("history");
    /// builder.repeat(0..3, |builder, i| {
    ///     let load = builder.memcpy("load", &weights.row(i), &mut layer);
    ///     let save = builder.memcpy("save", &layer, &mut history.row(i));
    ///     builder.after(save, &[load]);
    /// });
    ///
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&weights)?.copy_from(&[[1.0; 4], [2.0; 4], [3.0; 4]])?;
    /// graph.launch()?;
    /// assert_eq!(graph.host(&history)?, &[[1.0; 4], [2.0; 4], [3.0; 4]]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// More than about a million nodes are refused, when the graph is built.
    pub fn repeat(&mut self, range: impl Iterations, mut iteration: impl FnMut(&mut Self, usize)) {
        for value in self.open(&[], range) {
            if self.draft.nodes.len() > MAX_NODES {
                self.refuse("");
                break;
            }
            self.open_iteration(value);
            iteration(self, value);
        }
        self.close_loop();
    }

    /// Begins a `for` that `cuda_graph!` has declared with these nodes; the numbers of its iterations.
    pub(crate) fn declare_loop(
        &mut self,
        declarations: &[Declaration],
        range: impl Iterations,
    ) -> RangeInclusive<usize> {
        let nodes = self.draft.nodes.len();
        let repeats = self.repeats.get_or_insert_default();
        repeats.declare_all(nodes);
        self.open(declarations, range)
    }

    /// Begins the iteration of this number.
    pub(crate) fn open_iteration(&mut self, value: usize) {
        self.check_iteration();
        let nodes = self.draft.nodes.len();
        let Some(repeats) = &mut self.repeats else { return };
        let Some(open) = repeats.open.last_mut() else { return };
        open.value = value;
        open.repeated.starts.push(nodes);
        if let Some(declared) = &mut repeats.declared {
            declared.next = open.first;
        }
    }

    /// Ends the `for` that was begun last.
    pub(crate) fn close_loop(&mut self) {
        self.check_iteration();
        let nodes = self.draft.nodes.len();
        let Some(repeats) = &mut self.repeats else { return };
        let Some(mut open) = repeats.open.pop() else { return };
        open.repeated.end = nodes;
        repeats.ended.push(open.repeated);
        if let Some(declared) = &mut repeats.declared {
            declared.next = open.first + open.declarations;
        }
    }

    /// The number of the current iteration, of the `for` that so many others are around.
    pub(crate) fn iteration(&self, depth: usize) -> usize {
        let open = self.repeats.as_ref().and_then(|repeats| repeats.open.get(depth));
        open.map_or(0, |open| open.value)
    }

    /// Adds edges between declarations, `[from, to]`, or `[from, to, common]` where `common` loops are around both. A
    /// graph without loops and children has one node for each declaration.
    pub(crate) fn add_edges<const K: usize>(&mut self, edges: &[[usize; K]]) {
        for (from, to) in self.edges_of_nodes(edges) {
            self.draft.edge(from, to);
        }
    }

    /// Adds programmatic edges between declarations, as [`GraphBuilder::add_edges`]. Those of joins that stand in for
    /// kernels become plain ones.
    pub(crate) fn add_programmatic_edges<const K: usize>(&mut self, edges: &[[usize; K]]) {
        for (from, to) in self.edges_of_nodes(edges) {
            let is_join = |node: usize| matches!(self.program.ops.get(node), Some(Op::Join));
            if is_join(from) || is_join(to) {
                self.draft.edge(from, to);
            } else {
                self.draft.programmatic_edge(from, to);
            }
        }
    }

    /// The edges between nodes that edges between declarations become.
    fn edges_of_nodes<const K: usize>(&self, edges: &[[usize; K]]) -> Vec<(usize, usize)> {
        let declared = self.repeats.as_ref().and_then(|repeats| repeats.declared.as_ref());
        let edges = edges.iter().filter_map(|edge| {
            let (&[from, to], common) = edge.split_first_chunk()?;
            Some((from, to, common.first().copied().unwrap_or(0)))
        });
        match declared {
            None => edges.map(|(from, to, _)| (from, to)).collect(),
            Some(Declared { instances, .. }) => edges
                .flat_map(|(from, to, common)| instances.edges(from, to, common))
                .collect(),
        }
    }

    fn open(&mut self, declarations: &[Declaration], range: impl Iterations) -> RangeInclusive<usize> {
        let mut values = range.values();
        let room = MAX_NODES.saturating_sub(self.draft.nodes.len());
        if count(&values).saturating_mul(declarations.len().max(1)) > room {
            self.refuse(declarations.first().map_or("", |(name, _)| name));
            values = NONE;
        }
        let body = self.body;
        let repeats = self.repeats.get_or_insert_default();
        repeats.open.push(Open {
            value: 0,
            first: repeats.declared.as_ref().map_or(0, |declared| declared.next),
            declarations: declarations.len(),
            name: declarations.first().map(|&(name, _)| name),
            repeated: Repeated {
                body,
                starts: Vec::new(),
                end: 0,
            },
        });
        if values.is_empty() {
            self.stand_in(declarations);
        }
        values
    }

    /// Adds the nodes of a `for` without iterations as joins, so that what they order stays ordered.
    fn stand_in(&mut self, declarations: &[Declaration]) {
        self.open_iteration(0);
        for (offset, &(name, depth)) in declarations.iter().enumerate().filter(|(_, (_, depth))| *depth > 0) {
            let node = self.draft.nodes.len();
            let Some(repeats) = &mut self.repeats else { return };
            let Some((last, around)) = repeats.open.split_last() else {
                return;
            };
            let name = numbered(name.to_owned(), around) + &"[]".repeat(depth);
            if let Some(declared) = &mut repeats.declared {
                let inner = std::iter::repeat_n(0, depth - 1);
                let values = repeats.open.iter().map(|open| open.value).chain(inner);
                declared.instances.add(last.first + offset, values, node, true);
            }
            self.draft.node_in(self.body, name, NodeKind::Join);
            self.push(Op::Join);
        }
        if let Some(repeats) = &mut self.repeats
            && let (Some(declared), Some(open)) = (&mut repeats.declared, repeats.open.last())
        {
            declared.next = open.first + open.declarations;
        }
    }

    /// Checks that the iteration which ends has added every node that its `for` declares, and has ended every body.
    /// `continue` or `break` in an expression would skip some, and later nodes would have the indices of others.
    fn check_iteration(&mut self) {
        let Some(repeats) = &self.repeats else { return };
        let (Some(open), Some(declared)) = (repeats.open.last(), &repeats.declared) else {
            return;
        };
        let Some(name) = open.name.filter(|_| !open.repeated.starts.is_empty()) else {
            return;
        };
        let added = declared.next.saturating_sub(open.first);
        if added != open.declarations || self.body != open.repeated.body {
            let iteration = format!("iteration {} of the `for` around `{name}`", open.value);
            let error = self.skipped(&iteration, open.declarations, added);
            self.end_early(error);
        }
    }

    /// Checks that all nodes of the graph, or of the current child, were added, and that every `for` and every body has
    /// ended.
    pub(crate) fn check_declarations(&mut self, declarations: usize) {
        let declared = self.repeats.as_ref().and_then(|repeats| repeats.declared.as_ref());
        let added = declared.map_or(self.draft.nodes.len(), |declared| declared.next);
        let in_loop = self.repeats.as_ref().is_some_and(|repeats| !repeats.open.is_empty());
        if added != declarations || in_loop || self.body != self.body_of_child() {
            let graph = match self.prefix.strip_suffix('.') {
                Some(child) => format!("child `{child}`"),
                None => format!("graph `{}`", self.draft.name),
            };
            let error = self.skipped(&graph, declarations, added);
            self.end_early(error);
        }
    }

    /// The error for nodes that were declared and not added, or added to the wrong body.
    #[cold]
    fn skipped(&self, subject: &str, declarations: usize, added: usize) -> Error {
        let nodes = if declarations == 1 { "node" } else { "nodes" };
        let text = format!("{subject} declares {declarations} {nodes}, but adds {added}");
        let diagnostic = Diagnostic::new(Code::Syntax, Subject::Node(0), text)
            .note("an expression was left before its node was complete: by `return`, `break` or `continue` in a macro")
            .help("end `build` with an error by `?`, or choose between values by `if`");
        Error::Invalid {
            graph: self.draft.name.as_ref().into(),
            diagnostics: vec![diagnostic],
        }
    }

    /// Notes why not all nodes are added: `build` fails with the first such error.
    pub(crate) fn end_early(&mut self, error: Error) {
        self.repeats.get_or_insert_default().failure.get_or_insert(error);
    }

    #[cold]
    fn refuse(&mut self, node: &str) {
        let graph = Site::graph(&self.draft.name);
        let site = if node.is_empty() { graph } else { graph.at_node(node) };
        self.end_early(Error::TooManyNodes { site, most: MAX_NODES });
    }
}
