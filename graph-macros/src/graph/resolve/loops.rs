//! `for`s: their variables and their nodes.

use super::owner::{Declared, Owner, Owners, VARIABLE, enter};
use super::{Entity, Graph};
use crate::graph::ast::For;
use crate::graph::constant::{bound, mentions};
use crate::report::{Report, error};
use crate::span::last_span;
use graph_plan::{Bound, Code};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::Expr;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// A `for`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop<'a> {
    pub(crate) statement: &'a For,
    /// The body that it is in.
    pub(crate) body: usize,
}

impl<'a> Loop<'a> {
    pub(crate) fn variable(&self) -> &'a Ident {
        &self.statement.variable
    }
}

/// The surroundings of a statement.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) body: usize,
    /// The innermost `for` in that body.
    pub(super) innermost: Option<usize>,
    /// Whether a mistake makes it unknown which nodes the statements around it run after.
    pub(super) astray: bool,
}

impl Around {
    pub(super) const GRAPH: Self = Self {
        body: 0,
        innermost: None,
        astray: false,
    };
}

/// Enters a `for` and its variable, and returns the surroundings of its statements. `for`s that are not nested may
/// share a variable.
pub(super) fn declare<'a>(
    graph: &mut Graph<'a>,
    statement: &'a For,
    around: Around,
    owners: &mut Owners<'a>,
    report: &mut Report,
) -> Around {
    let name = &statement.variable;
    let owner = graph.draft.bodies[around.body].node;
    let parent = around.innermost.or_else(|| graph.draft.loop_around(owner?));
    let index = graph.draft.repeat(name.to_string(), parent);
    graph.loops.push(Loop {
        statement,
        body: around.body,
    });
    let key = name.unraw().to_string();
    let beside = match owners.get(&key) {
        Some(&Owner::Variable(_, other)) => !graph.draft.loops_around(parent).any(|around| around == other),
        _ => false,
    };
    let clash = !beside && enter(owners, Declared { name, kind: VARIABLE }, Vec::new(), report);
    if !clash {
        owners.insert(key, Owner::Variable(name, index));
    }
    graph.name(name, if clash { Entity::Broken } else { Entity::Variable });
    Around {
        innermost: Some(index),
        astray: around.astray || statement.attributes.astray,
        ..around
    }
}

/// Reports params in ranges: the nodes of a graph are fixed when it is built.
pub(super) fn fixed_ranges(graph: &Graph<'_>, report: &mut Report) {
    for repeated in &graph.loops {
        let range = &repeated.statement.range;
        if mentions(range.to_token_stream(), &graph.param_names()) {
            let message = format!("a `param` is in the range of `{}`", repeated.variable());
            let diagnostic = error(Code::Syntax, message)
                .note("the nodes of a graph are fixed when it is built; params change between launches")
                .help("use a build argument, a literal, a constant or a const generic");
            report.push_between(range.span(), last_span(range), &diagnostic);
        }
    }
}

impl<'a> Graph<'a> {
    /// The `for`s around a node, in its body and in those around that, from the outermost.
    pub(crate) fn loops_around(&self, node: usize) -> Vec<usize> {
        self.loops_up_to(self.draft.loop_around(node))
    }

    /// A `for` and those around it, from the outermost.
    pub(crate) fn loops_up_to(&self, innermost: Option<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = self.draft.loops_around(innermost).collect();
        found.reverse();
        found
    }

    /// The variables of a `for` and of those around it, from the outermost.
    pub(crate) fn variables_up_to(&self, innermost: Option<usize>) -> Vec<&'a Ident> {
        let loops = self.loops_up_to(innermost).into_iter();
        loops.map(|repeated| self.loops[repeated].variable()).collect()
    }

    /// An end of a range or an index of a node's place. An expression that mentions the variable of a `for` has
    /// another value in another `for`.
    pub(super) fn bound(&self, node: usize, expr: &Expr) -> Bound {
        let mentioned = |&repeated: &usize| {
            let variable = self.loops[repeated].variable().to_string();
            mentions(expr.to_token_stream(), &[variable])
        };
        match bound(expr) {
            Bound::Symbol(_) if mentions(expr.to_token_stream(), &self.param_names()) => Bound::Unknown,
            Bound::Symbol(text) => match self.draft.loops_around(self.draft.loop_around(node)).find(mentioned) {
                Some(repeated) => Bound::iteration(text, repeated),
                None => Bound::Symbol(text),
            },
            other => other,
        }
    }
}
