//! Loops: their variables, the numbers that these count over, and expressions of them.

use super::owner::{Declared, Owner, Owners, VARIABLE, enter};
use super::{Entity, Graph};
use crate::graph::ast::For;
use crate::graph::constant::{bare, bound, mentions, value};
use crate::report::Report;
use graph_plan::{Affine, Bound};
use proc_macro2::Ident;
use quote::ToTokens;
use std::sync::Arc;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, RangeLimits, UnOp};

/// A `for` or an `each`.
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

    /// The keyword, for messages.
    pub(crate) fn keyword(&self) -> &'static str {
        if self.statement.parallel { "each" } else { "for" }
    }
}

/// The surroundings of a statement.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) body: usize,
    /// The innermost loop in that body.
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

/// Enters a loop and its variable, and returns the surroundings of its statements. Loops that are not nested may share
/// a variable.
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
    let index = match statement.parallel {
        true => graph.draft.each(name.to_string(), parent),
        false => graph.draft.for_loop(name.to_string(), parent),
    };
    count(graph, index, parent, &statement.range);
    graph.loops.push(Loop {
        statement,
        body: around.body,
    });
    let key = name.unraw().to_string();
    let beside = match owners.get(&key) {
        Some(&Owner::Variable(_, other)) => !graph.draft.loops_around(parent).any(|around| around == other),
        _ => false,
    };
    let clash = !beside && enter(owners, Declared::new(name, VARIABLE), Vec::new(), report);
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

/// Enters the numbers that a loop counts over, as far as the text tells.
fn count(graph: &mut Graph<'_>, index: usize, parent: Option<usize>, range: &Expr) {
    let ends = match bare(range) {
        Expr::Range(range) => [&range.start, &range.end].map(|end| {
            let form = graph.form(parent, end.as_deref()?);
            form.filter(Affine::is_linear)
        }),
        _ => [None, None],
    };
    let [first, end] = ends;
    let last = match bare(range) {
        Expr::Range(range) if matches!(range.limits, RangeLimits::HalfOpen(_)) => {
            end.and_then(|end| end.plus(&Affine::literal(-1)?))
        }
        _ => end,
    };
    let outer: Vec<String> = graph
        .variables_up_to(parent)
        .into_iter()
        .map(Ident::to_string)
        .collect();
    let ragged = (first.is_none() || last.is_none()) && mentions(range.to_token_stream(), &outer);
    let variable = Arc::make_mut(&mut graph.draft.loops[index].variable);
    (variable.first, variable.last, variable.ragged) = (first, last, ragged);
}

impl<'a> Graph<'a> {
    /// The loops around a node, in its body and in those around that, from the outermost.
    pub(crate) fn loops_around(&self, node: usize) -> Vec<usize> {
        self.loops_up_to(self.draft.loop_around(node))
    }

    /// A loop and those around it, from the outermost.
    pub(crate) fn loops_up_to(&self, innermost: Option<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = self.draft.loops_around(innermost).collect();
        found.reverse();
        found
    }

    /// The variables of a loop and of those around it, from the outermost.
    pub(crate) fn variables_up_to(&self, innermost: Option<usize>) -> Vec<&'a Ident> {
        let loops = self.loops_up_to(innermost).into_iter();
        loops.map(|for_loop| self.loops[for_loop].variable()).collect()
    }

    /// An expression of literals and the variables of this loop and those around it, with `+`, `-`, `*` and `%` by
    /// literals; `None` for any other expression.
    pub(super) fn form(&self, innermost: Option<usize>, expr: &Expr) -> Option<Affine> {
        let form = |expr: &Expr| self.form(innermost, expr);
        let factor = |expr: &Expr| i64::try_from(value(expr)?).ok();
        match bare(expr) {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                let mut around = self.draft.loops_around(innermost);
                let own = around.find(|&around| *self.loops[around].variable() == *name)?;
                Some(Affine::variable(&self.draft.loops[own].variable))
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => form(&unary.expr)?.times(-1),
            Expr::Binary(binary) => match binary.op {
                BinOp::Add(_) => form(&binary.left)?.plus(&form(&binary.right)?),
                BinOp::Sub(_) => form(&binary.left)?.plus(&form(&binary.right)?.times(-1)?),
                BinOp::Mul(_) => match (factor(&binary.left), factor(&binary.right)) {
                    (_, Some(factor)) => form(&binary.left)?.times(factor),
                    (Some(factor), None) => form(&binary.right)?.times(factor),
                    (None, None) => None,
                },
                BinOp::Rem(_) if value(expr).is_none() => form(&binary.left)?.modulo(factor(&binary.right)?),
                _ => Affine::literal(value(expr)?),
            },
            _ => Affine::literal(value(expr)?),
        }
    }

    /// An end of a range or an index of a node's place. An expression that mentions the variable of a loop has another
    /// value in another loop.
    pub(super) fn bound(&self, node: usize, expr: &Expr) -> Bound {
        if let Some(form) = self
            .form(self.draft.loop_around(node), expr)
            .filter(|form| form.value().is_none())
        {
            return Bound::Affine(Box::new(form));
        }
        let mentioned = |&for_loop: &usize| {
            let variable = self.loops[for_loop].variable().to_string();
            mentions(expr.to_token_stream(), &[variable])
        };
        match bound(expr) {
            Bound::Symbol(_) if mentions(expr.to_token_stream(), &self.param_names()) => Bound::Unknown,
            Bound::Symbol(text) => match self.draft.loops_around(self.draft.loop_around(node)).find(mentioned) {
                Some(for_loop) => Bound::iteration(text, for_loop),
                None => Bound::Symbol(text),
            },
            other => other,
        }
    }
}
