//! Expressions that mention memory or nodes as if these had values when the graph is built. rustc would only say that
//! nothing has the name.

use super::closure::Names;
use crate::graph::ast::{Action, Argument, Node, Part, Place};
use crate::graph::constant::is_upper;
use crate::graph::resolve::{Entity, Graph};
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic};
use syn::{Expr, Ident};

/// Checks all expressions of a graph but those of closures and events. If locals are in scope, a name may be a local.
pub(super) fn values(graph: &Graph<'_>, report: &mut Report) {
    if graph.is_expression() {
        return;
    }
    let mut all: Vec<&Expr> = graph.params.iter().map(|param| &param.initial).collect();
    for resource in &graph.resources {
        all.extend(&resource.shape.lengths);
        all.extend(resource.random.iter().flat_map(|random| [&random.seed, &random.draws]));
    }
    all.extend(graph.loops.iter().map(|for_loop| &for_loop.statement.range));
    graph.nodes.iter().for_each(|node| of_node(graph, node, &mut all));
    all.into_iter().for_each(|value| names(graph, value, report));
}

/// The expressions of a node but closures, events and function values, and what those nodes take by value.
pub(super) fn of_node<'a>(graph: &Graph<'a>, node: &'a Node, found: &mut Vec<&'a Expr>) {
    let attributes = &node.attributes.node;
    found.extend(attributes.priority.iter().map(|(_, priority)| priority));
    found.extend(attributes.cluster.iter().flat_map(|(_, cluster)| &cluster.parts));
    node.action.places().into_iter().for_each(|place| bounds(place, found));
    if let Some(launch) = node.action.launch() {
        found.extend(launch.grid.parts.iter().chain(&launch.block.parts));
        found.extend(&launch.shared);
    }
    if let Action::Memset { value, .. } = &node.action {
        found.push(value);
    }
    // The arguments of the closures of other nodes are checked with the closures.
    if matches!(node.action, Action::Kernel(_) | Action::Graph(_)) {
        by_value(graph, node, found);
    }
}

/// Collects the arguments that are passed by value. Memory that is passed by value is another mistake.
pub(super) fn by_value<'a>(graph: &Graph<'a>, node: &'a Node, found: &mut Vec<&'a Expr>) {
    let values = node
        .action
        .arguments()
        .into_iter()
        .filter_map(|argument| match argument {
            Argument::Borrow { .. } => None,
            Argument::Value(value) => Some(&**value),
        });
    found.extend(values.filter(|value| !is_resource(graph, value)));
}

fn is_resource(graph: &Graph<'_>, value: &Expr) -> bool {
    let Expr::Path(path) = value else { return false };
    path.path
        .get_ident()
        .is_some_and(|name| graph.resource_of(name).is_some())
}

fn bounds<'a>(place: &'a Place, found: &mut Vec<&'a Expr>) {
    for part in &place.parts {
        match part {
            Part::Index(index) => found.push(index),
            Part::Range { start, end, .. } => found.extend([start, end].into_iter().flatten().map(|end| &**end)),
        }
    }
}

/// Reports names of memory and nodes in a value. A name in upper case is left out: it may be a constant.
fn names(graph: &Graph<'_>, value: &Expr, report: &mut Report) {
    let found = Names::of(value);
    let mut reported: Vec<&Ident> = Vec::new();
    for name in found.mentioned {
        if found.bound.contains(name) || reported.contains(&name) || is_upper(name) {
            continue;
        }
        let diagnostic = match graph.entity(name) {
            Some(Entity::Resource(_)) => of_memory(name),
            Some(Entity::Node(_)) => error(Code::Syntax, format!("`{name}` is a node, which has no value"))
                .help("a node leaves what it computes in memory that later nodes borrow"),
            Some(Entity::Param(_) | Entity::Value(_) | Entity::Variable | Entity::Broken) | None => continue,
        };
        reported.push(name);
        report.push(name.span(), &diagnostic);
    }
}

fn of_memory(name: &Ident) -> Diagnostic {
    error(Code::Syntax, format!("memory `{name}` is used as a value"))
        .note("values are known before the graph runs, what memory holds only while it runs")
        .help(format!(
            "lend it to a kernel as `&{name}`, or use a constant, a build argument or a `param`"
        ))
}
