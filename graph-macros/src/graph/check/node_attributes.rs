//! Attributes of nodes, which are fixed when the graph is built.

use crate::graph::ast::Node;
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::span::last_span;
use graph_plan::Code;
use proc_macro2::Span;
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

/// Reports attributes that mention params.
pub(super) fn attributes(graph: &Graph<'_>, node: &Node, report: &mut Report) {
    let attributes = &node.attributes.node;
    let priority = attributes
        .priority
        .iter()
        .map(|(_, priority)| ("the priority", priority));
    let cluster = attributes.cluster.iter().flat_map(|(_, cluster)| &cluster.parts);
    for (what, expr) in priority.chain(cluster.map(|part| ("the clusters", part))) {
        if mentions(expr.to_token_stream(), &graph.param_names()) {
            param(node, what, expr, report);
        }
    }
}

fn param(node: &Node, what: &str, expr: &Expr, report: &mut Report) {
    let diagnostic = error(Code::Syntax, format!("a `param` gives {what} of `{}`", node.name))
        .note("attributes of nodes are fixed when the graph is built; params change between launches")
        .help("use a build argument, a literal, a constant or a const generic");
    let (start, end): (Span, Span) = (expr.span(), last_span(expr));
    report.push_between(start, end, &diagnostic);
}
