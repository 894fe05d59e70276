//! What is parsed but not built yet: reported and left out, so that the rest of the macro need not know it. Whoever builds a
//! statement removes its line here.

use super::ast::{Action, Item, Node, Statement};
use crate::report::Report;
use proc_macro2::Span;
use syn::Ident;

/// Reports and removes what cannot be built; its names are broken ones.
pub(crate) fn leave_out(item: &mut Item, report: &mut Report) {
    let left = leave_out_of(&mut item.statements, report);
    item.unparsed.extend(left);
}

/// Removes what cannot be built from statements and from the bodies in them, and returns its names.
fn leave_out_of(statements: &mut Vec<Statement>, report: &mut Report) -> Vec<Ident> {
    let mut left = Vec::new();
    statements.retain_mut(|statement| match unsupported(statement) {
        None => {
            match statement {
                Statement::Node(node) => {
                    for body in node.action.bodies_mut() {
                        let inner = leave_out_of(&mut body.statements, report);
                        body.unparsed.extend(inner.iter().cloned());
                        left.extend(inner);
                    }
                }
                Statement::For(repeated) => left.extend(leave_out_of(&mut repeated.statements, report)),
                _ => {}
            }
            true
        }
        Some((span, what)) => {
            report.syntax(span, format!("{what} not supported yet"));
            names(statement, &mut left);
            false
        }
    });
    left
}

/// Where and what in a statement cannot be built.
fn unsupported(statement: &Statement) -> Option<(Span, String)> {
    match statement {
        Statement::Node(node) => unsupported_node(node),
        Statement::Resource(_) | Statement::Param(_) | Statement::For(_) => None,
    }
}

fn keyword(span: Span, word: &str) -> (Span, String) {
    (span, format!("`{word}` statements are"))
}

fn unsupported_node(node: &Node) -> Option<(Span, String)> {
    match &node.action {
        Action::Graph(_) => Some(keyword(node.keyword.span(), &node.keyword.to_string())),
        _ => None,
    }
}

/// The name of a statement, and those that others can mention inside it.
fn names(statement: &Statement, found: &mut Vec<Ident>) {
    found.push(statement.name().clone());
    match statement {
        Statement::For(repeated) => repeated.statements.iter().for_each(|statement| names(statement, found)),
        Statement::Node(node) => {
            let bodies = node.action.bodies();
            let inner = bodies.iter().flat_map(|(_, body)| &body.statements);
            inner.for_each(|statement| names(statement, found));
        }
        Statement::Resource(_) | Statement::Param(_) => {}
    }
}
