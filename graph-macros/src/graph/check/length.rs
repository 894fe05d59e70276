//! Lengths of shapes: the outermost may be known only when the graph is built, all others are part of a type.

use crate::graph::ast::Resource;
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::span::last_span;
use graph_plan::Code;
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

/// Reports lengths that are not known where they must be.
pub(super) fn lengths(graph: &Graph<'_>, resource: &Resource, report: &mut Report) {
    for (dimension, length) in resource.shape.lengths.iter().enumerate() {
        if mentions(length.to_token_stream(), &graph.param_names()) {
            param(resource, length, report);
        } else if dimension > 0 && graph.is_variable(length) {
            inner(resource, length, report);
        }
    }
}

fn param(resource: &Resource, length: &Expr, report: &mut Report) {
    let diagnostic = error(Code::Syntax, format!("a `param` gives a length of `{}`", resource.name))
        .note("memory is allocated when the graph is built; params change between launches")
        .help("use a build argument, a literal, a constant or a const generic");
    report.push_between(length.span(), last_span(length), &diagnostic);
}

fn inner(resource: &Resource, length: &Expr, report: &mut Report) {
    let message = format!(
        "an inner length of `{}` is known only when the graph is built",
        resource.name
    );
    let diagnostic = error(Code::Syntax, message)
        .note("rows are of one type, whose length is a constant; only the outermost length may be a build argument")
        .help("use a literal, a constant or a const generic, or make this the outermost dimension");
    report.push_between(length.span(), last_span(length), &diagnostic);
}
