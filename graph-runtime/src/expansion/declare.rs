//! The functions of the builder that only expansions of `cuda_graph!` call, besides its public methods.

use crate::builder::{EdgeKind, GraphBuilder, LoopKind};
use crate::error::Result;
use crate::graph::Graph;
use crate::graph::definition::Definition;
use crate::graph::handle::NodeHandle;
use crate::graph::node::NodeId;
use crate::program::ConditionalKind;
use crate::shape::iterations::Iterations;
use crate::shape::place::{OnDevice, OwnMemory, Place};
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use crate::shape::{Condition, Element};
use std::borrow::{BorrowMut, Cow};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The builder's methods that only expansions and tests call. None can make a graph unsound: `build` checks the graph
/// that they declare.
pub trait Declare: BorrowMut<GraphBuilder> {
    /// Adds an `if` without bodies. The first body that is begun runs if the condition is not 0, the second if it is 0.
    fn begin_if<S: Condition>(&mut self, name: impl Into<Cow<'static, str>>, condition: &Place<S, OnDevice>) -> NodeId {
        self.borrow_mut()
            .conditional(name.into(), ConditionalKind::If, condition.span)
    }

    /// Adds a `while` without its body.
    fn begin_while<S: Condition>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<S, OnDevice>,
    ) -> NodeId {
        self.borrow_mut()
            .conditional(name.into(), ConditionalKind::While, condition.span)
    }

    /// Adds a `switch` without cases. Each body that is begun is the next case.
    fn begin_switch<S: Condition>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<S, OnDevice>,
    ) -> NodeId {
        self.borrow_mut()
            .conditional(name.into(), ConditionalKind::Switch, condition.span)
    }

    /// Tells build arguments, by which reports tell graphs of one type apart.
    fn arguments(&mut self, arguments: &[(&str, &dyn Display)]) {
        let arguments = arguments.iter().map(|(name, value)| format!("{name} = {value}"));
        self.borrow_mut().arguments = format!("({})", arguments.collect::<Vec<_>>().join(", "));
    }

    /// Begins the next body of the newest conditional.
    fn begin_body(&mut self) {
        self.borrow_mut().open_body();
    }

    /// Ends the body that was begun last.
    fn end_body(&mut self) {
        self.borrow_mut().close_body();
    }

    /// Begins a `for` that declares these nodes; each comes with the number of loops around it, up to this one, or 0 in
    /// a body of another of its nodes. Returns the numbers of its iterations.
    fn begin_loop(&mut self, declarations: &[(&'static str, usize)], range: impl Iterations) -> RangeInclusive<usize> {
        self.borrow_mut().declare_loop(LoopKind::For, declarations, range)
    }

    /// Begins an `each`, as [`Declare::begin_loop`] a `for`: its iterations are not ordered.
    fn begin_each(&mut self, declarations: &[(&'static str, usize)], range: impl Iterations) -> RangeInclusive<usize> {
        self.borrow_mut().declare_loop(LoopKind::Each, declarations, range)
    }

    /// Begins the iteration of this number.
    fn begin_iteration(&mut self, value: usize) {
        self.borrow_mut().open_iteration(value);
    }

    /// Ends the loop that was begun last.
    fn end_loop(&mut self) {
        self.borrow_mut().close_loop();
    }

    /// Begins a child, whose declarations are counted from 0. If children are nested too deeply, begins nothing and
    /// returns false.
    fn begin_child(&mut self, name: &'static str) -> bool {
        self.borrow_mut().declare_child(name)
    }

    /// Ends the child that was begun last, with the result of declaring it.
    fn end_child(&mut self, declared: Result<()>) {
        self.borrow_mut().close_declared_child(declared);
    }

    /// Says how many nodes the graph, or the current child, has declared; nodes of loops count once. `build` fails if
    /// another number was added, since indices of declarations would then be those of other nodes.
    fn end_nodes(&mut self, declarations: usize) {
        self.borrow_mut().check_declarations(declarations);
    }

    /// Adds edges between declarations: `[from, to]`, or `[from, to, common]` if `common` loops are around both. In
    /// further loops around `from`, an edge begins at the last iteration of a `for` and at all iterations of an `each`.
    /// In further loops around `to`, it ends at the first iteration of a `for` and at all iterations of an `each`.
    fn edges<const K: usize>(&mut self, edges: &[[usize; K]]) {
        self.borrow_mut().add_edges(edges, EdgeKind::Plain);
    }

    /// Adds programmatic edges between declarations, as [`Declare::edges`].
    fn programmatic_edges<const K: usize>(&mut self, edges: &[[usize; K]]) {
        self.borrow_mut().add_edges(edges, EdgeKind::Programmatic);
    }

    /// Adds edges that accesses imply, as [`Declare::edges`].
    fn inferred_edges<const K: usize>(&mut self, edges: &[[usize; K]]) {
        self.borrow_mut().add_edges(edges, EdgeKind::Inferred);
    }

    /// Adds edges between iterations: `(from, to, steps)`, with a number for each loop around both, from the outermost.
    /// In each iteration of these loops, `to` runs after `from` in the iteration whose numbers are larger by `steps`:
    /// `after k(i - 1)` is `[-1]`. If there is no such iteration, there is no edge.
    fn shifted_edges<const K: usize>(&mut self, edges: &[(usize, usize, [isize; K])]) {
        self.borrow_mut().add_shifted_edges(edges, EdgeKind::Plain);
    }

    /// Adds programmatic edges between iterations, as [`Declare::shifted_edges`].
    fn programmatic_shifted_edges<const K: usize>(&mut self, edges: &[(usize, usize, [isize; K])]) {
        self.borrow_mut().add_shifted_edges(edges, EdgeKind::Programmatic);
    }

    /// Gives the offsets of the scratch resources in the arena, in order of declaration, and the size of the arena, in
    /// bytes. `build` checks them, and packs again if they are wrong.
    fn arena(&mut self, offsets: &[usize], bytes: usize) {
        self.borrow_mut().set_arena(offsets, bytes);
    }

    /// The node that was added last.
    fn newest(&self) -> NodeId {
        self.borrow().newest_node()
    }

    /// Gives every scratch resource memory of its own, to compare results.
    fn keep_scratch_apart(&mut self) {
        self.borrow_mut().place_scratch_apart();
    }

    /// Builds as if the driver had at most this version of CUDA.
    fn as_if_driver(&mut self, version: u32) {
        self.borrow_mut().limit_driver(version);
    }
}

impl Declare for GraphBuilder {}

/// The builder to which a graph declares its nodes: its own, which then defines it, or that of its parent graph.
pub trait Owner {
    /// The result of a declaration: the definition of the graph `G`, or nothing for a child.
    type Declared<G>;

    /// The builder.
    fn builder(&mut self) -> &mut GraphBuilder;

    /// Ends the declaration. `graph` makes the typed graph from the built one.
    fn finish<G>(self, graph: impl FnOnce(Graph) -> G + Clone + Send + 'static) -> Result<Self::Declared<G>>;
}

impl Owner for GraphBuilder {
    type Declared<G> = Definition<G>;

    fn builder(&mut self) -> &mut GraphBuilder {
        self
    }

    fn finish<G>(self, graph: impl FnOnce(Graph) -> G + Clone + Send + 'static) -> Result<Definition<G>> {
        Ok(self.define()?.of(graph))
    }
}

impl Owner for &mut GraphBuilder {
    type Declared<G> = ();

    fn builder(&mut self) -> &mut GraphBuilder {
        self
    }

    fn finish<G>(self, _: impl FnOnce(Graph) -> G + Clone + Send + 'static) -> Result<()> {
        Ok(())
    }
}

/// Adds a child graph with the bindings `bound`. `declare` is the child's own function that declares its nodes.
pub fn child<B>(
    builder: &mut GraphBuilder,
    name: &'static str,
    bound: B,
    declare: impl FnOnce(&mut GraphBuilder, B) -> Result<()>,
) {
    if builder.begin_child(name) {
        let declared = declare(builder, bound);
        builder.end_child(declared);
    }
}

/// Memory of a graph, of the kind `M`: the place that a parent has bound, or else memory of its own.
pub fn own<S: Element, M: OwnMemory>(
    builder: &mut GraphBuilder,
    name: &'static str,
    bound: Option<Place<S, M::Place>>,
) -> Place<S, M::Place> {
    bound.unwrap_or_else(|| builder.declare(name, M::MEMORY, Size::fixed()))
}

/// Memory of `len` elements, as [`own`]. `build` fails if a parent has bound memory of another length.
pub fn own_slice<T: Element, M: OwnMemory>(
    builder: &mut GraphBuilder,
    name: &'static str,
    bound: Option<Place<[T], M::Place>>,
    len: usize,
) -> Place<[T], M::Place> {
    let size = Size::slice(len);
    match bound {
        Some(place) => {
            builder.require_bytes(&place, size.layout.bytes);
            place
        }
        None => builder.declare(name, M::MEMORY, size),
    }
}

/// Memory of these lengths, as [`own`]. `build` fails if a parent has bound memory of other lengths.
pub fn own_table<T: Element, const D: usize, M: OwnMemory>(
    builder: &mut GraphBuilder,
    name: &'static str,
    bound: Option<Place<Table<T, D>, M::Place>>,
    lengths: [usize; D],
) -> Place<Table<T, D>, M::Place>
where
    Table<T, D>: Tabular,
{
    match bound {
        Some(place) => {
            builder.require_lengths(&place, lengths);
            place
        }
        None => builder.declare(name, M::MEMORY, Size::table(lengths)),
    }
}

/// A graph, or a child of one, whose nodes have handles.
pub trait Handles {
    /// The handle of the node of the declaration with this index and name, in these iterations of the loops around it.
    fn handle(&mut self, declared: usize, name: &'static str, iterations: &[usize]) -> NodeHandle<'_>;
}

impl Handles for Graph {
    fn handle(&mut self, declared: usize, name: &'static str, iterations: &[usize]) -> NodeHandle<'_> {
        NodeHandle::declared(self, None, (declared, name), iterations)
    }
}

/// The handles of the nodes of the child that the node is.
impl Handles for NodeHandle<'_> {
    fn handle(&mut self, declared: usize, name: &'static str, iterations: &[usize]) -> NodeHandle<'_> {
        self.inner(declared, name, iterations)
    }
}

/// The handle of the node of the declaration with this index, in a graph that has one node for each declaration.
pub fn node_handle(graph: &mut Graph, index: usize) -> NodeHandle<'_> {
    graph.node(NodeId::new(index))
}
