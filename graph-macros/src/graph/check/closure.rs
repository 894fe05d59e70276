//! What closures name: rustc would only say that it is not there.

use crate::graph::ast::{Action, Node};
use crate::graph::resolve::{Entity, Graph};
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic};
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprPath, Ident, PatIdent};

/// Params, and memory that the node does not have, in the closures and events of a node.
pub(super) fn names(graph: &Graph<'_>, node: &Node, report: &mut Report) {
    let (body, given): (&Expr, Vec<&Ident>) = match &node.action {
        Action::Call(call) => (
            &call.body,
            call.parameters.iter().map(|parameter| &parameter.place.name).collect(),
        ),
        Action::Record(event) | Action::Wait(event) => (event, Vec::new()),
        _ => return,
    };
    let mut found = Names::default();
    found.visit_expr(body);
    let mut reported = HashSet::new();
    for name in found.mentioned {
        if given.contains(&name) || found.bound.contains(name) {
            continue;
        }
        let diagnostic = match graph.entity(name) {
            Some(Entity::Param(_)) => of_param(node, name),
            Some(Entity::Resource(_)) => of_resource(node, name),
            _ => continue,
        };
        if reported.insert(name) {
            report.push(name.span(), &diagnostic);
        }
    }
}

fn of_param(node: &Node, name: &Ident) -> Diagnostic {
    if let Action::Record(_) | Action::Wait(_) = &node.action {
        return no_event(node, &format!("the `param` `{name}`"));
    }
    let (keyword, node) = (&node.keyword, &node.name);
    error(
        Code::Syntax,
        format!("{keyword} node `{node}` uses the `param` `{name}`"),
    )
    .note("what it does is fixed when the graph is built; params change between launches")
    .help("keep the value in host memory that a host function borrows, or in an atomic")
}

fn of_resource(node: &Node, name: &Ident) -> Diagnostic {
    if let Action::Record(_) | Action::Wait(_) = &node.action {
        return no_event(node, &format!("the memory `{name}`"));
    }
    let (keyword, node) = (&node.keyword, &node.name);
    let message = format!("{keyword} node `{node}` uses `{name}` without borrowing it");
    error(Code::UnknownResource, message).help(format!(
        "borrow it between the bars: `|&{name}|`, or `|&mut {name}|` to write it"
    ))
}

fn no_event(node: &Node, what: &str) -> Diagnostic {
    let (keyword, node) = (&node.keyword, &node.name);
    error(
        Code::Syntax,
        format!("{keyword} node `{node}` uses {what}, which is no event"),
    )
    .help("name an event: one that the graph takes, `(done: graph_runtime::Event)`, or that a `static` holds")
}

/// The names that an expression mentions alone, other than as a function, and those that patterns in it bind.
#[derive(Default)]
struct Names<'a> {
    mentioned: Vec<&'a Ident>,
    bound: HashSet<&'a Ident>,
}

impl<'a> Visit<'a> for Names<'a> {
    fn visit_expr_path(&mut self, path: &'a ExprPath) {
        self.mentioned.extend(path.path.get_ident());
    }

    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        if !matches!(*call.func, Expr::Path(_)) {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        self.bound.insert(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }
}
