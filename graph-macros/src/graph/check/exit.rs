//! `return`, `break` and `continue` in an expression, which would leave the function that adds the nodes, or an
//! iteration of it: the node would be left out, and later nodes would have the indices of others.

use crate::graph::ast::Use;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use graph_plan::Code;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Label, Lifetime, Macro};

/// All expressions of a graph but closures, which are functions of their own.
pub(super) fn exits(graph: &Graph<'_>, report: &mut Report) {
    for param in &graph.params {
        of_expression(&param.initial, &format!("the value of `{}`", param.name), "", report);
    }
    for resource in &graph.resources {
        let random = resource.random.iter().flat_map(|random| [&random.seed, &random.draws]);
        for expr in resource.shape.lengths.iter().chain(random) {
            of_expression(expr, &format!("`{}`", resource.name), "", report);
        }
    }
    for for_loop in &graph.loops {
        let subject = format!("the range of `{}`", for_loop.variable());
        of_expression(&for_loop.statement.range, &subject, "", report);
    }
    for node in &graph.nodes {
        let subject = format!("{} node `{}`", node.kind.keyword(), node.name);
        let leave_out = format!(
            "; to leave `{}` out of some iterations, write two loops, and out of some launches, put it in an `if`",
            node.name
        );
        let expressions = node.expressions().into_iter();
        for (_, expr) in expressions.filter(|(used, _)| *used != Use::Closure) {
            of_expression(expr, &subject, &leave_out, report);
        }
    }
}

/// Reports the exits of an expression. `leave_out` ends the help.
fn of_expression(expr: &Expr, subject: &str, leave_out: &str, report: &mut Report) {
    let mut exits = Exits::default();
    exits.visit_expr(expr);
    for (span, word) in exits.found {
        let diagnostic = error(
            Code::Syntax,
            format!("{subject} uses `{word}`, which would leave nodes out"),
        )
        .note("a graph adds all of its nodes: an expression ends with a value, or by `?` with an error of `build`")
        .help(format!("choose between values by `if`, or fail by `?`{leave_out}"));
        report.push(span, &diagnostic);
    }
}

/// The words in an expression that leave it.
#[derive(Default)]
struct Exits<'a> {
    found: Vec<(Span, String)>,
    /// The number of loops of the expression's own around.
    loops: usize,
    /// The labels of the expression's own around.
    labels: Vec<&'a Lifetime>,
}

impl<'a> Exits<'a> {
    fn find(&mut self, span: Span, word: &str) {
        self.found.push((span, word.to_owned()));
    }

    /// `break` or `continue`, perhaps to a label.
    fn jump(&mut self, label: Option<&Lifetime>, span: Span, word: &str) {
        let stays = match label {
            Some(label) => self.labels.iter().any(|known| known.ident == label.ident),
            None => self.loops > 0,
        };
        if !stays {
            self.find(span, word);
        }
    }

    /// A block that jumps inside it may name, or leave if it is a loop's.
    fn block(&mut self, label: Option<&'a Label>, is_loop: bool, block: &'a Block) {
        let known = self.labels.len();
        self.labels.extend(label.map(|label| &label.name));
        self.loops += usize::from(is_loop);
        self.visit_block(block);
        self.loops -= usize::from(is_loop);
        self.labels.truncate(known);
    }

    /// Tokens whose meaning is not known: any of the words may leave the expression.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "return" => self.find(ident.span(), "return"),
                TokenTree::Ident(ident) if self.loops == 0 && (ident == "break" || ident == "continue") => {
                    self.find(ident.span(), &ident.to_string());
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Exits<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Return(exit) => {
                self.find(exit.return_token.span(), "return");
                visit::visit_expr_return(self, exit);
            }
            Expr::Break(exit) => {
                self.jump(exit.label.as_ref(), exit.break_token.span(), "break");
                visit::visit_expr_break(self, exit);
            }
            Expr::Continue(exit) => self.jump(exit.label.as_ref(), exit.continue_token.span(), "continue"),
            Expr::Loop(inner) => self.block(inner.label.as_ref(), true, &inner.body),
            Expr::While(inner) => {
                self.visit_expr(&inner.cond);
                self.block(inner.label.as_ref(), true, &inner.body);
            }
            Expr::ForLoop(inner) => {
                self.visit_expr(&inner.expr);
                self.block(inner.label.as_ref(), true, &inner.body);
            }
            Expr::Block(inner) => self.block(inner.label.as_ref(), false, &inner.block),
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::Verbatim(tokens) => self.tokens(tokens.clone()),
            expr => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, item: &'a Item) {
        // Macros are the only items that are no scope of their own.
        if let Item::Macro(item) = item {
            self.tokens(item.mac.tokens.clone());
        }
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.tokens(called.tokens.clone());
    }
}
