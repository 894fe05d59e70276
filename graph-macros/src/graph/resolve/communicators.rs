//! Communicators, the nodes that are over them, and values that may differ between ranks.

use super::{Entity, Graph, order};
use crate::graph::ast::{Action, Argument, BuildArgument, Function, Node, Place};
use crate::graph::constant::Variables;
use crate::report::{Report, error};
use graph_plan::{Code, NodeKind};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::Expr;

impl Graph<'_> {
    /// Whether the name is a build argument that is a communicator.
    pub(crate) fn is_communicator(&self, name: &Ident) -> bool {
        let mut arguments = self.item.arguments.iter();
        arguments.any(|argument| matches!(argument, BuildArgument::Communicator { name: known, .. } if known == name))
    }

    /// The index of a communicator in the draft. A local of an expression becomes one when it is first named.
    fn communicator(&mut self, name: &Ident) -> usize {
        let mut known = self.draft.communicators.iter();
        let known = known.position(|known| name == &**known);
        known.unwrap_or_else(|| self.draft.communicator(name.to_string()))
    }
}

/// Records that a node is over the communicator of this name, or reports why there is none.
pub(super) fn over(graph: &mut Graph<'_>, node: usize, name: &Ident, report: &mut Report) {
    let (code, message) = match graph.entity(name) {
        Some(Entity::Value(_)) if graph.is_communicator(name) => {
            let communicator = graph.communicator(name);
            return graph.draft.collective(node, communicator);
        }
        None if graph.is_expression() => {
            let communicator = graph.communicator(name);
            return graph.draft.collective(node, communicator);
        }
        Some(Entity::Broken) => return,
        Some(_) => (Code::Syntax, format!("`{name}` is no communicator")),
        None => (Code::UnknownResource, format!("no communicator is named `{name}`")),
    };
    let diagnostic = error(code, message).help(format!(
        "declare it as an argument of the graph: `graph {}({name}: &Communicator)`",
        graph.item.name
    ));
    let names: Vec<String> = graph.draft.communicators.iter().map(ToString::to_string).collect();
    let diagnostic = match code {
        Code::UnknownResource if !names.is_empty() => order::suggest(diagnostic, name, &names),
        _ => diagnostic,
    };
    report.push(name.span(), &diagnostic);
}

/// Whether a child graph gets a communicator as `&world`. Its nodes may be collectives over it.
pub(super) fn is_passed(graph: &mut Graph<'_>, node: usize, place: &Place) -> bool {
    let is_child = graph.draft.nodes[node].kind == NodeKind::Graph;
    let is = is_child && place.parts.is_empty() && graph.is_communicator(&place.name);
    if is {
        let communicator = graph.communicator(&place.name);
        graph.draft.collective(node, communicator);
    }
    is
}

/// Records that a child graph gets a communicator, if that is what the value is.
pub(super) fn passed_by_value(graph: &mut Graph<'_>, node: usize, value: &Expr) {
    let Expr::Path(path) = value else { return };
    if graph.draft.nodes[node].kind == NodeKind::Graph
        && let Some(name) = path.path.get_ident()
        && graph.is_communicator(name)
    {
        let communicator = graph.communicator(name);
        graph.draft.collective(node, communicator);
    }
}

/// Whether a kernel or a memset takes values that may differ between ranks: params, build arguments and locals. The
/// numbers of loops are the same, since their ranges are compared when the graph is built.
pub(super) fn takes_values(graph: &Graph<'_>, node: &Node) -> bool {
    let variables = Variables {
        names: {
            let values = graph.values.iter().map(|value| value.name.to_string());
            graph.param_names().into_iter().chain(values).collect()
        },
        locals: graph.is_expression(),
    };
    let differs = |expr: &Expr| variables.mentioned(expr.to_token_stream());
    match &node.action {
        Action::Kernel(launch) => {
            let extents = launch
                .grid
                .parts
                .iter()
                .chain(&launch.block.parts)
                .chain(&launch.shared);
            let values = launch.arguments.iter().filter_map(|argument| match argument {
                Argument::Value(value) => Some(&**value),
                Argument::Borrow { .. } => None,
            });
            let mut bounds = node.action.places().into_iter().flat_map(Place::bounds);
            matches!(launch.function, Function::Value(_)) || extents.chain(values).any(differs) || bounds.any(differs)
        }
        Action::Memset { to, value } => differs(value) || to.bounds().any(differs),
        Action::Memcpy { from, to } => from.bounds().chain(to.bounds()).any(differs),
        _ => false,
    }
}
