//! The position in the graph at which nodes are being added: the body, and the child graphs and loops around it.

use super::loops::Loops;
use crate::program::declared_nodes::{AllDeclaredNodes, DeclaredNodes};
use graph_plan::Iteration;
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum depth of child graphs. A graph with a deeper one is taken to contain itself.
const MAX_DEPTH: usize = 64;

/// The position at which nodes are being added.
#[derive(Default)]
pub(super) struct Position {
    /// The index of the current body in the draft.
    pub(super) body: usize,
    /// The body of the current child; 0 for the graph itself.
    graph_body: usize,
    /// The loops of the current graph, if it has any.
    pub(super) loops: Option<Box<Loops>>,
    /// The prefix of names: the names of the child graphs around the position, each with a dot.
    prefix: String,
    /// The graphs around the current child, from the outermost inwards.
    outer: Vec<Outer>,
    /// The nodes of the declarations of children that have ended, by the child's node.
    children: HashMap<usize, DeclaredNodes>,
}

/// A graph around the current child, with its position.
struct Outer {
    /// The node of the child in it.
    child: usize,
    body: usize,
    graph_body: usize,
    prefix: String,
    loops: Option<Box<Loops>>,
}

impl Position {
    /// The loops of the current graph, which are made if there were none.
    pub(super) fn loops_mut(&mut self) -> &mut Loops {
        self.loops.get_or_insert_default()
    }

    /// Whether names of nodes change here: in children, and after loops of the graph have begun.
    #[inline]
    pub(super) fn changes_names(&self) -> bool {
        !self.prefix.is_empty() || self.loops.is_some()
    }

    /// A name with the prefix of the current child.
    #[inline]
    pub(super) fn name_of(&self, name: Cow<'static, str>) -> Cow<'static, str> {
        if self.prefix.is_empty() {
            return name;
        }
        format!("{}{name}", self.prefix).into()
    }

    /// Declares the draft's node `node` here, and returns its name.
    #[inline]
    pub(super) fn declare(&mut self, name: Cow<'static, str>, node: usize) -> Cow<'static, str> {
        let name = self.name_of(name);
        match &mut self.loops {
            None => name,
            Some(loops) => loops.declare(name, node),
        }
    }

    /// Whether another child may begin here.
    pub(super) fn can_open_child(&self) -> bool {
        self.outer.len() < MAX_DEPTH
    }

    /// Begins the child graph of the node `child`: nodes are added to `body` from now on, and names begin with
    /// `prefix`.
    pub(super) fn open_child(&mut self, child: usize, body: usize, prefix: String, loops: Option<Box<Loops>>) {
        self.outer.push(Outer {
            child,
            body: std::mem::replace(&mut self.body, body),
            graph_body: std::mem::replace(&mut self.graph_body, body),
            prefix: std::mem::replace(&mut self.prefix, prefix),
            loops: std::mem::replace(&mut self.loops, loops),
        });
    }

    /// Ends the child that was begun last.
    pub(super) fn close_child(&mut self) {
        let Some(outer) = self.outer.pop() else { return };
        (self.body, self.graph_body, self.prefix) = (outer.body, outer.graph_body, outer.prefix);
        if let Some(inner) = std::mem::replace(&mut self.loops, outer.loops) {
            let declared = inner.end_in(&mut self.loops);
            self.children.extend(declared.map(|declared| (outer.child, declared)));
        }
    }

    /// The name of the current child; `None` for the graph itself.
    pub(super) fn child(&self) -> Option<&str> {
        self.prefix.strip_suffix('.')
    }

    /// Whether no loop and no body is open in the current graph.
    pub(super) fn has_ended(&self) -> bool {
        let in_loop = self.loops.as_ref().is_some_and(|loops| loops.is_open());
        !in_loop && self.body == self.graph_body
    }

    /// For each of the first `nodes` nodes, the loops around it and the numbers of its iterations. Empty if no node is
    /// in a loop.
    pub(super) fn iterations(&self, nodes: usize) -> Vec<Vec<Iteration>> {
        let loops = self.loops.as_ref();
        loops.map_or_else(Vec::new, |loops| loops.iterations(nodes))
    }

    /// The nodes of all declarations.
    pub(super) fn into_declared(self) -> AllDeclaredNodes {
        AllDeclaredNodes {
            own: self.loops.and_then(|loops| loops.into_declared()),
            children: self.children,
        }
    }
}
