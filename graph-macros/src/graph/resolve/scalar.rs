//! The scalars that expressions name: params, which change between launches, and build arguments, which do not.

use super::Graph;
use crate::graph::ast::{Action, Argument, Node, Part, Place};
use crate::graph::constant::mentions;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, Type};

/// A build argument that is a plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
}

/// A scalar, by its index in [`Graph::values`] or [`Graph::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scalar {
    Value(usize),
    Param(usize),
}

impl<'a> Graph<'a> {
    /// The name and type of a scalar.
    pub(crate) fn scalar(&self, scalar: Scalar) -> Value<'a> {
        match scalar {
            Scalar::Value(index) => self.values[index],
            Scalar::Param(index) => Value {
                name: &self.params[index].name,
                ty: &self.params[index].ty,
            },
        }
    }

    /// Whether the name is a build argument that can be launched.
    pub(super) fn is_function_value(&self, name: &Ident) -> bool {
        let is = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "CudaFunction"));
        self.values.iter().any(|value| value.name == name && is(value.ty))
    }

    /// The indices of the params, each after those that its initial value mentions.
    pub(crate) fn params_in_order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut left: Vec<usize> = (0..self.params.len()).collect();
        while !left.is_empty() {
            let ready = |&param: &usize| {
                let others = left.iter().filter(|&&other| other != param);
                let others: Vec<String> = others.map(|&other| self.params[other].name.to_string()).collect();
                !mentions(self.params[param].initial.to_token_stream(), &others)
            };
            // Params that mention each other keep their order; rustc reports the first of them.
            let next = left.iter().position(ready).unwrap_or(0);
            order.push(left.remove(next));
        }
        order
    }

    fn all_scalars(&self) -> impl Iterator<Item = Scalar> + use<> {
        let values = (0..self.values.len()).map(Scalar::Value);
        values.chain((0..self.params.len()).map(Scalar::Param))
    }
}

/// The scalars that a node's expressions mention, values first.
pub(crate) fn scalars(graph: &Graph<'_>, node: &Node) -> Vec<Scalar> {
    if graph.values.is_empty() && graph.params.is_empty() {
        return Vec::new();
    }
    mentioned(graph, &expressions(node))
}

/// The scalars that adding a node needs. These include the scalars in a kernel's function, in closures and in events,
/// which an update does not evaluate.
pub(crate) fn added_scalars(graph: &Graph<'_>, node: &Node) -> Vec<Scalar> {
    if graph.values.is_empty() && graph.params.is_empty() {
        return Vec::new();
    }
    mentioned(graph, &added(node))
}

/// All of the user's expressions in a node.
pub(crate) fn added(node: &Node) -> TokenStream {
    let fixed = match &node.action {
        Action::Kernel(launch) if launch.path().is_none() => launch.function.to_token_stream(),
        Action::Call(call) => call.body.to_token_stream(),
        Action::Capture(capture) => library(&capture.arguments, &capture.body),
        Action::Raw(raw) => library(&raw.arguments, &raw.body),
        Action::Record(event) | Action::Wait(event) => event.to_token_stream(),
        Action::Kernel(_)
        | Action::Memcpy { .. }
        | Action::Memset { .. }
        | Action::Graph(_)
        | Action::Join
        | Action::If(_)
        | Action::While(_)
        | Action::Switch(_) => TokenStream::new(),
    };
    let priority = node.attributes.node.priority.as_ref();
    let priority = priority.map_or_else(TokenStream::new, |(_, priority)| priority.to_token_stream());
    [fixed, priority, expressions(node)].into_iter().flatten().collect()
}

fn library(arguments: &[Argument], body: &Expr) -> TokenStream {
    let arguments = arguments.iter().map(argument);
    arguments.chain([body.to_token_stream()]).flatten().collect()
}

fn argument(argument: &Argument) -> TokenStream {
    match argument {
        Argument::Value(value) => value.to_token_stream(),
        Argument::Borrow { place, .. } => bounds(place),
    }
}

/// The scalars that expressions mention.
pub(crate) fn mentioned(graph: &Graph<'_>, tokens: &TokenStream) -> Vec<Scalar> {
    let used = |scalar: &Scalar| mentions(tokens.clone(), &[graph.scalar(*scalar).name.to_string()]);
    graph.all_scalars().filter(used).collect()
}

/// The indices of the params that a node's expressions mention.
pub(crate) fn params(graph: &Graph<'_>, node: &Node) -> Vec<usize> {
    let param = |scalar| match scalar {
        Scalar::Param(index) => Some(index),
        Scalar::Value(_) => None,
    };
    scalars(graph, node).into_iter().filter_map(param).collect()
}

/// The expressions that a node evaluates when it is added or updated.
pub(crate) fn expressions(node: &Node) -> TokenStream {
    match &node.action {
        Action::Kernel(launch) => {
            let cluster = node.attributes.node.cluster.iter().map(|(_, cluster)| &cluster.whole);
            let dimensions = [&launch.grid.whole, &launch.block.whole]
                .into_iter()
                .chain(&launch.shared)
                .chain(cluster);
            let dimensions: TokenStream = dimensions.map(ToTokens::to_token_stream).collect();
            let arguments = launch.arguments.iter().map(argument);
            dimensions.into_iter().chain(arguments.flatten()).collect()
        }
        Action::Memcpy { from, to } => [bounds(from), bounds(to)].into_iter().flatten().collect(),
        Action::Memset { to, value } => [bounds(to), value.to_token_stream()].into_iter().flatten().collect(),
        Action::Graph(child) => {
            let bindings = child.bindings.iter().map(|binding| argument(&binding.argument));
            bindings.flatten().collect()
        }
        Action::If(_) | Action::While(_) | Action::Switch(_) => {
            node.action.condition().map_or_else(TokenStream::new, bounds)
        }
        Action::Call(_) | Action::Capture(_) | Action::Raw(_) | Action::Join | Action::Record(_) | Action::Wait(_) => {
            TokenStream::new()
        }
    }
}

/// The indices and bounds that select a place.
pub(crate) fn bounds(place: &Place) -> TokenStream {
    let tokens = |expr: &Option<Box<Expr>>| expr.to_token_stream();
    let parts = place.parts.iter().map(|part| match part {
        Part::Index(index) => index.to_token_stream(),
        Part::Range { start, end, .. } => [tokens(start), tokens(end)].into_iter().flatten().collect(),
    });
    parts.flatten().collect()
}
