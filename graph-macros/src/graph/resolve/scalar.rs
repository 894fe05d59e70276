//! The scalars that expressions name: params, which change between launches, and build arguments, which do not.

use super::Graph;
use crate::graph::ast::{Action, Node, Place, Use};
use crate::graph::constant::mentions;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, Type};

/// A value that is fixed when the graph is built: a build argument, or a `let`. Or a param.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    /// The expression of a `let`.
    pub(crate) computed: Option<&'a Expr>,
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
                computed: None,
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
        let initial = |param: usize| (&self.params[param].name, &self.params[param].initial);
        in_order((0..self.params.len()).collect(), initial)
    }

    /// The names, types and expressions of all `let`s, each after those that it mentions.
    pub(crate) fn computed_in_order(&self) -> Vec<(&'a Ident, &'a Type, &'a Expr)> {
        let computed = self
            .values
            .iter()
            .filter_map(|value| Some((value.name, value.ty, value.computed?)));
        let computed: Vec<_> = computed.collect();
        let order = in_order((0..computed.len()).collect(), |value| {
            let (name, _, expr) = computed[value];
            (name, expr)
        });
        order.into_iter().map(|value| computed[value]).collect()
    }

    /// The name and type of each scalar, values first.
    pub(crate) fn scalar_values(&self) -> impl Iterator<Item = Value<'a>> {
        self.all_scalars().map(|scalar| self.scalar(scalar))
    }

    fn all_scalars(&self) -> impl Iterator<Item = Scalar> + use<> {
        let values = (0..self.values.len()).map(Scalar::Value);
        values.chain((0..self.params.len()).map(Scalar::Param))
    }
}

/// The indices in `left`, each after those whose names its expression mentions.
fn in_order<'e>(mut left: Vec<usize>, of: impl Fn(usize) -> (&'e Ident, &'e Expr)) -> Vec<usize> {
    let mut order = Vec::new();
    while !left.is_empty() {
        let ready = |&index: &usize| {
            let others = left.iter().filter(|&&other| other != index);
            let others: Vec<String> = others.map(|&other| of(other).0.to_string()).collect();
            !mentions(of(index).1.to_token_stream(), &others)
        };
        // Expressions that mention each other keep their order; rustc reports the first of them.
        let next = left.iter().position(ready).unwrap_or(0);
        order.push(left.remove(next));
    }
    order
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
    let expressions = node.expressions().into_iter();
    let expressions = expressions.flat_map(|(_, expr)| expr.to_token_stream());
    expressions.chain(passed(node)).collect()
}

/// The names that a child graph borrows. One of them may be a communicator, which is a scalar.
fn passed(node: &Node) -> TokenStream {
    let Action::Graph(child) = &node.action else {
        return TokenStream::new();
    };
    let places = child.bindings.iter().filter_map(|binding| binding.argument.place());
    places.flat_map(|place| place.name.to_token_stream()).collect()
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
    let is_evaluated = |used: Use| matches!(used, Use::Operand | Use::Argument);
    let mut expressions = node.expressions();
    expressions.retain(|(used, _)| is_evaluated(*used) && !matches!(node.action, Action::Library(_)));
    let expressions = expressions.into_iter().flat_map(|(_, expr)| expr.to_token_stream());
    expressions.chain(passed(node)).collect()
}

/// The indices and bounds that select a place.
pub(crate) fn bounds(place: &Place) -> TokenStream {
    place.bounds().flat_map(ToTokens::to_token_stream).collect()
}
