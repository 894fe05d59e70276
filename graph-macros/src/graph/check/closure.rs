//! Names in closures that have no value there. rustc would only say that nothing has the name.

use crate::graph::ast::{Action, Argument, Node, Use};
use crate::graph::resolve::{Entity, Graph};
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic};
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprPath, Ident, PatIdent};

/// Reports params, and memory that the node does not borrow, in the closures and events of a node.
pub(super) fn names(graph: &Graph<'_>, node: &Node, report: &mut Report) {
    let mut found = Names::default();
    let mut given = Vec::new();
    match &node.action {
        Action::Call(call) => given.extend(call.parameters.iter().map(|parameter| parameter.place.name.short())),
        Action::Library(library) => {
            found.bound.insert(&library.handle);
            found.bound.extend(&library.after);
            found
                .bound
                .extend(library.stand_in.iter().flat_map(|other| &other.names));
            given.extend(library.arguments.iter().filter_map(named));
        }
        Action::Event(_) => {}
        Action::Kernel(_)
        | Action::Memcpy { .. }
        | Action::Memset { .. }
        | Action::Graph(_)
        | Action::Join
        | Action::Collective(_)
        | Action::Conditional(_) => return,
    }
    let mut expressions = node.expressions();
    expressions.sort_by_key(|(used, _)| *used != Use::Closure);
    for (used, expr) in expressions {
        if matches!(used, Use::Argument | Use::Object | Use::Closure) {
            found.visit_expr(expr);
        }
    }
    let mut reported = HashSet::new();
    for name in found.mentioned {
        if found.bound.contains(name) {
            continue;
        }
        let diagnostic = match (graph.entity(name), given.iter().filter(|&&other| other == name).count()) {
            (Some(Entity::Param(_)), _) => of_param(node, name),
            (Some(Entity::Resource(_)), 0) => of_resource(node, name),
            (Some(Entity::Node(_)), _) if matches!(node.action, Action::Event(_)) => {
                no_event(node, &format!("the node `{name}`"))
            }
            (Some(Entity::Resource(_)), 2..) => of_several(node, name),
            (Some(Entity::Resource(_)), 1) => continue,
            (
                Some(Entity::Node(_) | Entity::Value(_) | Entity::Group(_) | Entity::Variable | Entity::Broken) | None,
                _,
            ) => continue,
        };
        if reported.insert(name) {
            report.push(name.span(), &diagnostic);
        }
    }
}

/// The name of the memory that a closure borrows. (Memory that is passed by value is reported elsewhere.)
fn named(argument: &Argument) -> Option<&Ident> {
    match argument {
        Argument::Borrow { place, .. } => Some(place.name.short()),
        Argument::Value(value) => match &**value {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
    }
}

/// A message that a node uses something, and the fault in that.
fn uses(code: Code, node: &Node, what: &str, fault: &str) -> Diagnostic {
    let (keyword, node) = (node.kind.keyword(), &node.name);
    error(code, format!("{keyword} node `{node}` uses {what}{fault}"))
}

fn of_param(node: &Node, name: &Ident) -> Diagnostic {
    let what = format!("the `param` `{name}`");
    let help = match &node.action {
        Action::Event(_) => return no_event(node, &what),
        Action::Call(_) => "keep the value in host memory that the function borrows, or in an atomic",
        _ => "keep the value in memory that the node borrows, or use a build argument",
    };
    uses(Code::Syntax, node, &what, "")
        .note("what it does is fixed when the graph is built; params change between launches")
        .help(help)
}

fn of_resource(node: &Node, name: &Ident) -> Diagnostic {
    let help = match &node.action {
        Action::Event(_) => return no_event(node, &format!("the memory `{name}`")),
        Action::Call(_) => format!("borrow it between the bars: `|&{name}|`, or `|&mut {name}|` to write it"),
        _ => format!("borrow it in the parentheses: `(&{name})`, or `(&mut {name})` to write it"),
    };
    let what = format!("`{name}`");
    uses(Code::UnknownResource, node, &what, " without borrowing it").help(help)
}

fn of_several(node: &Node, name: &Ident) -> Diagnostic {
    let what = format!("`{name}`");
    let Action::Library(library) = &node.action else {
        // The name is bound twice in one pattern, which rustc says.
        return uses(Code::Syntax, node, &what, ", which it borrows twice");
    };
    let help = format!(
        "name each of them: `let (first, second, ..) = {}.memory();`",
        library.handle
    );
    uses(Code::Syntax, node, &what, ", of which it borrows several parts").help(help)
}

fn no_event(node: &Node, what: &str) -> Diagnostic {
    uses(Code::Syntax, node, what, ", which is no event")
        .help("name an event: one that the graph takes, `(done: graph_runtime::Event)`, or that a `static` holds")
}

/// The names that an expression mentions alone and not as a function, and the names that patterns in it bind.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) mentioned: Vec<&'a Ident>,
    pub(super) bound: HashSet<&'a Ident>,
}

impl<'a> Names<'a> {
    /// The names of one expression.
    pub(super) fn of(expr: &'a Expr) -> Self {
        let mut names = Self::default();
        names.visit_expr(expr);
        names
    }
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
