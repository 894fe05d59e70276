//! Loops: `for` and `each`. Each iteration adds nodes of its own. Those of a `for` run after those of the previous
//! iteration; the iterations of an `each` are not ordered.

mod order;
mod parallel;

use super::GraphBuilder;
use crate::error::{Error, Site};
use crate::program::Work;
use crate::program::declared_nodes::DeclaredNodes;
use crate::shape::iterations::{Iterations, NONE, count};
use graph_plan::{Iteration, NodeKind};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

/// The maximum number of nodes of a graph with loops. With it, a range that is much too long is reported before the
/// nodes fill all memory.
const MAX_NODES: usize = 1 << 20;

/// The kind of a loop.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LoopKind {
    /// Each iteration runs after the previous one.
    For,
    /// Nothing orders iterations but edges between them.
    Each,
}

impl LoopKind {
    /// The keyword of the statement.
    const fn keyword(self) -> &'static str {
        match self {
            LoopKind::For => "for",
            LoopKind::Each => "each",
        }
    }
}

/// The kind of an edge that `cuda_graph!` declares.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EdgeKind {
    Plain,
    /// The later kernel waits in its own code.
    Programmatic,
    /// Accesses imply the edge.
    Inferred,
}

/// A node as `cuda_graph!` declares it in a loop: its name, and the number of loops around it, counted from that loop,
/// or 0 if it is in a body of another node of the loop.
type Declaration = (&'static str, usize);

/// The loops of a graph, or of a child.
#[derive(Default)]
pub(super) struct Loops {
    /// The loops that nodes are being added in, from the outermost.
    open: Vec<OpenLoop>,
    /// The loops that have ended, inner ones before those around them.
    ended: Vec<EndedLoop>,
    declarations: Option<Declarations>,
    /// Edges from nodes of other iterations, which may not have been added yet.
    between: Vec<parallel::EdgeFromName>,
}

/// The declarations of `cuda_graph!` so far.
struct Declarations {
    /// The index of the next declaration.
    next: usize,
    nodes: DeclaredNodes,
}

/// A loop in which nodes are being added.
struct OpenLoop {
    kind: LoopKind,
    /// The number of the current iteration.
    value: usize,
    /// The index of its first declaration.
    first: usize,
    /// The number of its declarations.
    declarations: usize,
    /// The name of its first declaration, if `cuda_graph!` has declared the loop.
    name: Option<&'static str>,
    /// The body that the loop is in.
    body: usize,
    /// The first node of each iteration so far.
    starts: Vec<usize>,
}

/// The nodes of a loop.
struct EndedLoop {
    kind: LoopKind,
    /// The body that the loop is in.
    body: usize,
    /// The first node of each iteration.
    starts: Vec<usize>,
    /// The index after the last node of the last iteration.
    end: usize,
}

impl Loops {
    /// Declares the draft's node `node`, and returns its name: in loops, followed by the numbers of the iterations.
    pub(super) fn declare(&mut self, name: Cow<'static, str>, node: usize) -> Cow<'static, str> {
        if let Some(declarations) = &mut self.declarations {
            let loops = self.open.iter().map(OpenLoop::iteration);
            declarations.nodes.add(declarations.next, loops, 0, node);
            declarations.next += 1;
        }
        if self.open.is_empty() {
            return name;
        }
        numbered(name.into_owned(), &self.open).into()
    }

    /// Records declarations from now on. Each of the first `nodes` nodes is one declaration.
    pub(super) fn record_declarations(&mut self, nodes: usize) {
        self.declarations.get_or_insert_with(|| Declarations {
            next: nodes,
            nodes: DeclaredNodes::identity(nodes),
        });
    }

    /// Moves the loops of a child to those of its parent, and returns the nodes of the child's declarations.
    pub(super) fn end_in(self, outer: &mut Option<Box<Self>>) -> Option<DeclaredNodes> {
        if !self.ended.is_empty() || !self.between.is_empty() {
            let outer = outer.get_or_insert_default();
            outer.ended.extend(self.ended);
            outer.between.extend(self.between);
        }
        self.declarations.map(|declarations| declarations.nodes)
    }

    /// The nodes of the declarations.
    pub(super) fn into_declared(self) -> Option<DeclaredNodes> {
        self.declarations.map(|declarations| declarations.nodes)
    }

    /// Whether nodes are being added in a loop.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The number of declarations so far, those in a loop counted once; `None` if each node is one declaration.
    fn declared(&self) -> Option<usize> {
        self.declarations.as_ref().map(|declarations| declarations.next)
    }

    /// The number of loops that are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The numbers of the current iterations of the `loops` outermost loops, in the form in which names end with them:
    /// `[1][0]`. `None` if fewer loops are open.
    fn numbers(&self, loops: usize) -> Option<String> {
        Some(numbered(String::new(), self.open.get(..loops)?))
    }

    /// Begins a loop in `body`.
    fn open(&mut self, kind: LoopKind, body: usize, declarations: &[Declaration]) {
        self.open.push(OpenLoop {
            kind,
            value: 0,
            first: self.declarations.as_ref().map_or(0, |declarations| declarations.next),
            declarations: declarations.len(),
            name: declarations.first().map(|&(name, _)| name),
            body,
            starts: Vec::new(),
        });
    }

    /// Counts all declarations of the innermost loop as declared.
    fn complete(&mut self) {
        if let (Some(open), Some(declarations)) = (self.open.last(), &mut self.declarations) {
            declarations.next = open.first + open.declarations;
        }
    }

    /// Checks the iteration that ends now; `body` is the current body. If it has not added each node that its loop
    /// declares, or has left a body open, returns its name for a message, and the numbers of nodes declared and added.
    fn incomplete(&self, body: usize) -> Option<(String, usize, usize)> {
        let (open, declarations) = (self.open.last()?, self.declarations.as_ref()?);
        let name = open.name.filter(|_| !open.starts.is_empty())?;
        let added = declarations.next.saturating_sub(open.first);
        if added == open.declarations && body == open.body {
            return None;
        }
        let iteration = format!(
            "iteration {} of the `{}` around `{name}`",
            open.value,
            open.kind.keyword()
        );
        Some((iteration, open.declarations, added))
    }

    /// Begins the iteration of this number, whose first node is `start`.
    fn open_iteration(&mut self, value: usize, start: usize) {
        let Some(open) = self.open.last_mut() else { return };
        open.value = value;
        open.starts.push(start);
        if let Some(declarations) = &mut self.declarations {
            declarations.next = open.first;
        }
    }

    /// Ends the loop that was begun last. `end` is the index after its last node.
    fn close(&mut self, end: usize) {
        self.complete();
        let Some(open) = self.open.pop() else { return };
        self.ended.push(EndedLoop {
            kind: open.kind,
            body: open.body,
            starts: open.starts,
            end,
        });
    }

    /// For each of the first `nodes` nodes, the loops that have ended and that are around it, from the outermost, and
    /// the numbers of its iterations.
    pub(super) fn iterations(&self, nodes: usize) -> Vec<Vec<Iteration>> {
        let mut found = vec![Vec::new(); nodes];
        for (number, ended) in self.ended.iter().enumerate().rev() {
            for (iteration, members) in ended.iterations().enumerate() {
                found[members]
                    .iter_mut()
                    .for_each(|loops| loops.push((number, iteration)));
            }
        }
        found
    }

    /// Declares the draft's node `node`, a join that replaces a declaration of the innermost loop, which has no
    /// iterations. Returns the join's name.
    fn stand_in(&mut self, offset: usize, (name, depth): Declaration, node: usize) -> Option<String> {
        let (innermost, around) = self.open.split_last()?;
        if let Some(declarations) = &mut self.declarations {
            let loops = self.open.iter().map(OpenLoop::iteration);
            declarations.nodes.add(innermost.first + offset, loops, depth, node);
        }
        Some(numbered(name.to_owned(), around) + &"[]".repeat(depth))
    }
}

impl EndedLoop {
    /// The nodes of each iteration, including those of loops and bodies in it.
    fn iterations(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

impl OpenLoop {
    /// The number of the current iteration, and whether the loop is an `each`.
    fn iteration(&self) -> (usize, bool) {
        (self.value, self.kind == LoopKind::Each)
    }
}

/// The name of a node in these loops: `name[2][3]`.
fn numbered(mut name: String, open: &[OpenLoop]) -> String {
    for open in open {
        write!(name, "[{}]", open.value).expect("writing to a string does not fail");
    }
    name
}

impl GraphBuilder {
    /// Adds the nodes of a loop: [`GraphBuilder::repeat`] and [`GraphBuilder::each`].
    pub(super) fn add_loop(
        &mut self,
        kind: LoopKind,
        range: impl Iterations,
        mut iteration: impl FnMut(&mut Self, usize),
    ) {
        for value in self.open_loop(kind, &[], range) {
            if self.draft.nodes.len() > MAX_NODES {
                self.refuse_loop("");
                break;
            }
            self.open_iteration(value);
            iteration(self, value);
        }
        self.close_loop();
    }

    /// Begins a loop that `cuda_graph!` has declared with these nodes, and returns the numbers of its iterations.
    pub(crate) fn declare_loop(
        &mut self,
        kind: LoopKind,
        declarations: &[Declaration],
        range: impl Iterations,
    ) -> RangeInclusive<usize> {
        let nodes = self.draft.nodes.len();
        self.position.loops_mut().record_declarations(nodes);
        self.open_loop(kind, declarations, range)
    }

    /// Begins the iteration of this number.
    pub(crate) fn open_iteration(&mut self, value: usize) {
        self.check_iteration();
        if let Some(loops) = &mut self.position.loops {
            loops.open_iteration(value, self.draft.nodes.len());
        }
    }

    /// Ends the loop that was begun last.
    pub(crate) fn close_loop(&mut self) {
        self.check_iteration();
        if let Some(loops) = &mut self.position.loops {
            loops.close(self.draft.nodes.len());
        }
    }

    /// Checks that the iteration that ends now has added every node that its loop declares, and has ended every body. A
    /// `continue` or `break` in an expression would skip some, and the indices of later nodes would be wrong.
    fn check_iteration(&mut self) {
        let loops = self.position.loops.as_ref();
        if let Some((iteration, declarations, added)) = loops.and_then(|loops| loops.incomplete(self.position.body)) {
            self.findings.skipped(&self.draft.name, &iteration, declarations, added);
        }
    }

    /// Checks that the graph, or the current child, has added all the nodes that it declares, and has ended every loop
    /// and every body.
    pub(crate) fn check_declarations(&mut self, declarations: usize) {
        let declared = self.position.loops.as_ref().and_then(|loops| loops.declared());
        let added = declared.unwrap_or(self.draft.nodes.len());
        if added != declarations || !self.position.has_ended() {
            let graph = match self.position.child() {
                Some(child) => format!("child `{child}`"),
                None => format!("graph `{}`", self.draft.name),
            };
            self.findings.skipped(&self.draft.name, &graph, declarations, added);
        }
    }

    /// Notes the error that ended the declaration before all nodes were added.
    pub(crate) fn end_early(&mut self, error: Error) {
        self.findings.incomplete(error);
    }

    /// The number of the current iteration of an open loop. `depth` is the number of loops around that loop.
    pub(crate) fn iteration(&self, depth: usize) -> usize {
        let open = self.position.loops.as_ref().and_then(|loops| loops.open.get(depth));
        open.map_or(0, |open| open.value)
    }

    fn open_loop(
        &mut self,
        kind: LoopKind,
        declarations: &[Declaration],
        range: impl Iterations,
    ) -> RangeInclusive<usize> {
        let mut values = range.values();
        let room = MAX_NODES.saturating_sub(self.draft.nodes.len());
        if count(&values).saturating_mul(declarations.len().max(1)) > room {
            self.refuse_loop(declarations.first().map_or("", |(name, _)| name));
            values = NONE;
        }
        let body = self.position.body;
        self.position.loops_mut().open(kind, body, declarations);
        if values.is_empty() {
            self.add_stand_ins(declarations);
        }
        values
    }

    /// Adds the nodes of a loop without iterations as joins, so that the order through them remains.
    fn add_stand_ins(&mut self, declarations: &[Declaration]) {
        self.open_iteration(0);
        for (offset, &declaration) in declarations.iter().enumerate().filter(|(_, (_, depth))| *depth > 0) {
            let node = self.draft.nodes.len();
            let Some(name) = self.position.loops_mut().stand_in(offset, declaration, node) else {
                return;
            };
            self.draft.node_in(self.position.body, name, NodeKind::Join);
            self.push(Work::Join);
        }
        self.position.loops_mut().complete();
    }

    #[cold]
    fn refuse_loop(&mut self, node: &str) {
        let graph = Site::graph(&self.draft.name);
        let site = if node.is_empty() { graph } else { graph.at_node(node) };
        self.end_early(Error::TooManyNodes { site, most: MAX_NODES });
    }
}
