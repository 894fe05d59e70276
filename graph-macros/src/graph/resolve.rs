//! From names to indices: an [`Item`] becomes a [`Graph`], whose nodes, edges and accesses are a [`Draft`].

mod names;
mod loops;
mod owner;
mod access;
mod communicators;
mod order;
mod rng;
mod symbol;
mod scalar;
mod updates;

pub(crate) use loops::Loop;
pub(crate) use scalar::{Scalar, Value, added, added_scalars, bounds, expressions, mentioned, params, scalars};
pub(crate) use updates::Updates;

use super::ast::{Attributes, Dependency, Form, GroupArgument, Item, Node, Param, Place, Resource};
use super::constant::{Variables, mentions};
use super::sum::Sum;
use crate::report::Report;
use graph_plan::{Code, Draft};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use std::cell::OnceCell;
use std::collections::HashMap;
use syn::Expr;

/// A graph whose names are resolved. Statements whose names clash with earlier ones are only in the draft.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) item: &'a Item,
    pub(crate) resources: Vec<&'a Resource>,
    pub(crate) params: Vec<&'a Param>,
    /// Build arguments that are plain values.
    pub(crate) values: Vec<Value<'a>>,
    /// Build arguments that are groups. Their fields are resources.
    pub(crate) groups: Vec<&'a GroupArgument>,
    pub(crate) nodes: Vec<&'a Node>,
    /// The loops, as in the draft.
    pub(crate) loops: Vec<Loop<'a>>,
    /// Nodes whose name an earlier statement has: no handle is emitted for them.
    pub(crate) nameless: Vec<usize>,
    pub(crate) draft: Draft,
    /// For each access of the draft, the place and its first token.
    pub(crate) accesses: Vec<(&'a Place, Span)>,
    /// The accesses that may be atomic updates.
    pub(crate) updates: Updates,
    /// For each edge that is written, which come first in the draft, the name in `after`.
    pub(crate) edges: Vec<&'a Ident>,
    /// For each edge between iterations, its text in `after`.
    pub(crate) shifts: Vec<&'a Dependency>,
    /// Whether nodes have `unsafe` of the author's, once somebody has asked: every method's documentation does.
    pub(crate) unsafe_nodes: OnceCell<bool>,
    /// The meaning of each name of the one namespace.
    names: HashMap<String, Entity>,
    /// The nodes that have the name of memory without an accessor, by that name.
    namesakes: HashMap<String, usize>,
}

/// The meaning of a name: an index into the lists of [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    Resource(usize),
    Param(usize),
    Value(usize),
    Group(usize),
    Node(usize),
    /// The variable of one or several loops.
    Variable,
    /// A statement that could not be parsed, or whose name was taken.
    Broken,
}

impl Graph<'_> {
    /// The meaning of `name`.
    pub(crate) fn entity(&self, name: &Ident) -> Option<Entity> {
        self.names.get(&name.to_string()).copied()
    }

    /// The meaning of `name` where a node is meant: in `after`.
    pub(crate) fn entity_after(&self, name: &Ident) -> Option<Entity> {
        let namesake = self.namesakes.get(&name.to_string());
        namesake.map_or_else(|| self.entity(name), |&node| Some(Entity::Node(node)))
    }

    /// Whether a node has the name of the resource.
    pub(crate) fn has_namesake(&self, resource: &Resource) -> bool {
        self.namesakes.contains_key(&Ident::to_string(&resource.name))
    }

    /// The resource of this name.
    pub(crate) fn resource_of(&self, name: &Ident) -> Option<&Resource> {
        match self.entity(name) {
            Some(Entity::Resource(index)) => Some(self.resources[index]),
            _ => None,
        }
    }

    /// The index of the resource that a place is in.
    pub(crate) fn resource(&self, place: &Place) -> Option<usize> {
        match self.entity(&place.name) {
            Some(Entity::Resource(index)) => Some(index),
            _ => None,
        }
    }

    /// Whether expressions mention a name whose meaning is unknown.
    pub(crate) fn mentions_broken(&self, tokens: TokenStream) -> bool {
        let broken = self.names.iter().filter(|(_, entity)| **entity == Entity::Broken);
        mentions(tokens, &broken.map(|(name, _)| name.clone()).collect::<Vec<_>>())
    }

    /// The names of all params.
    pub(crate) fn param_names(&self) -> Vec<String> {
        self.params.iter().map(|param| param.name.to_string()).collect()
    }

    /// The names that are not constants.
    pub(crate) fn variables(&self) -> Variables {
        let values = self.values.iter().map(|value| value.name.to_string());
        let loops = self.loops.iter().map(|for_loop| for_loop.variable().to_string());
        Variables {
            names: self.param_names().into_iter().chain(values).chain(loops).collect(),
            locals: self.is_expression(),
        }
    }

    /// Whether a length of the resource is known only when the graph is built.
    pub(crate) fn is_dynamic(&self, resource: &Resource) -> bool {
        self.variable_lengths(resource) > 0
    }

    /// The number of outer dimensions of the resource up to the last whose length is known only when the graph is
    /// built.
    pub(crate) fn variable_lengths(&self, resource: &Resource) -> usize {
        let variable = |length: &Expr| self.is_variable(length);
        let last = resource.shape.lengths.iter().rposition(variable);
        last.map_or(0, |last| last + 1)
    }

    /// As [`Graph::variable_lengths`], without the dimension that counts the groups.
    pub(crate) fn variable_lengths_of_row(&self, field: &Resource) -> usize {
        self.variable_lengths(field).saturating_sub(1)
    }

    /// Whether the value of a length is known only when the graph is built.
    pub(crate) fn is_variable(&self, length: &Expr) -> bool {
        !matches!(length, Expr::Lit(_)) && self.variables().mentioned(length.to_token_stream())
    }

    /// An index or a bound, as a sum of a literal and a name whose value only build knows.
    pub(crate) fn sum(&self, expr: &Expr) -> Option<Sum> {
        Sum::of(expr, &|name| self.variables().mentioned(name.to_token_stream()))
    }

    /// A length of memory as such a sum. The variable of a loop may have the name of a local, but no length is one.
    pub(crate) fn sum_of_length(&self, length: &Expr) -> Option<Sum> {
        let looped = |name: &Ident| self.loops.iter().any(|for_loop| for_loop.variable() == name);
        Sum::of(length, &|name| {
            !looped(name) && self.variables().mentioned(name.to_token_stream())
        })
    }

    /// Whether a built graph numbers its nodes otherwise than they are declared.
    pub(crate) fn is_translated(&self) -> bool {
        !self.loops.is_empty() || self.nodes.iter().any(|node| node.action.child().is_some())
    }

    /// Whether a warning about a node is silenced: at the node, at a loop around it, or for the whole graph.
    pub(crate) fn allows(&self, node: usize, code: Code) -> bool {
        let around = self.loops_around(node);
        let mut loops = around
            .iter()
            .map(|&for_loop| &self.loops[for_loop].statement.attributes);
        let allows = |attributes: &Attributes| attributes.allow(code);
        allows(&self.nodes[node].attributes) || loops.any(allows) || allows(&self.item.attributes)
    }

    /// Whether local variables are in scope around the graph.
    pub(crate) fn is_expression(&self) -> bool {
        matches!(self.item.form, Form::Expression(..))
    }
}

/// Resolves every name. Reports clashes, and names that mean nothing or the wrong thing.
pub(crate) fn resolve<'a>(item: &'a Item, report: &mut Report) -> Graph<'a> {
    let mut graph = Graph {
        item,
        resources: Vec::new(),
        params: Vec::new(),
        values: Vec::new(),
        groups: Vec::new(),
        nodes: Vec::new(),
        loops: Vec::new(),
        nameless: Vec::new(),
        draft: Draft::new(item.name.to_string()),
        accesses: Vec::new(),
        updates: Updates::default(),
        edges: Vec::new(),
        shifts: Vec::new(),
        unsafe_nodes: OnceCell::new(),
        names: item
            .unparsed
            .iter()
            .map(|name| (name.to_string(), Entity::Broken))
            .collect(),
        namesakes: HashMap::new(),
    };
    graph.draft.is_text = true;
    graph.draft.auto = item.auto;
    names::declare(&mut graph, report);
    graph.resources.iter().for_each(|resource| rng::draws(resource, report));
    symbol::declared(&graph, report);
    for index in 0..graph.nodes.len() {
        let node = graph.nodes[index];
        order::after(&mut graph, index, node, report);
        access::accesses(&mut graph, index, node, report);
    }
    graph_plan::infer(&mut graph.draft, &[]);
    graph
}

impl Attributes {
    /// Whether an `#[allow(rule)]` silences the rule.
    pub(crate) fn allow(&self, code: Code) -> bool {
        self.allowed.iter().any(|allowed| allowed == code.as_str())
    }
}
