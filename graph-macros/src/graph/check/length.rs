//! Lengths of shapes: they may be known only when the graph is built, but do not change after that.

use crate::graph::ast::Resource;
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::span::last_span;
use graph_plan::Code;
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

/// Reports lengths that params give.
pub(super) fn lengths(graph: &Graph<'_>, resource: &Resource, report: &mut Report) {
    for length in &resource.shape.lengths {
        if mentions(length.to_token_stream(), &graph.param_names()) {
            param(resource, length, report);
        }
    }
}

fn param(resource: &Resource, length: &Expr, report: &mut Report) {
    let diagnostic = error(Code::Syntax, format!("a `param` gives a length of `{}`", resource.name))
        .note("memory is allocated when the graph is built; params change between launches")
        .help("use a build argument, a literal, a constant or a const generic");
    report.push_between(length.span(), last_span(length), &diagnostic);
}
