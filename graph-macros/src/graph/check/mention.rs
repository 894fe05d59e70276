//! Expressions that mention memory or nodes as if these had values when the graph is built. rustc would only say that
//! nothing has the name.

use super::closure::Names;
use crate::graph::ast::{Action, Use};
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
    all.extend(graph.values.iter().filter_map(|value| value.computed));
    for resource in &graph.resources {
        all.extend(&resource.shape.lengths);
        all.extend(resource.random.iter().flat_map(|random| [&random.seed, &random.draws]));
    }
    all.extend(graph.loops.iter().map(|for_loop| &for_loop.statement.range));
    for node in &graph.nodes {
        let expressions = node.expressions().into_iter().filter(|(used, expr)| match used {
            Use::Operand | Use::Attribute => true,
            // Memory that is passed by value is another mistake. What closures take is checked with the closures.
            Use::Argument => !matches!(node.action, Action::Library(_)) && !is_resource(graph, expr),
            Use::Object | Use::Closure => false,
        });
        all.extend(expressions.map(|(_, expr)| expr));
    }
    all.into_iter().for_each(|value| names(graph, value, report));
}

fn is_resource(graph: &Graph<'_>, value: &Expr) -> bool {
    let Expr::Path(path) = value else { return false };
    let name = path.path.get_ident();
    name.is_some_and(|name| graph.resource_of(name).is_some())
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
            Some(Entity::Group(_)) => error(
                Code::Syntax,
                format!("`{name}` is a group of memory, which has no value"),
            )
            .help(format!("lend a field of it to a kernel: `&{name}[i].x`")),
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
