//! `cuda_graph!`: parse -> resolve -> check -> expand.

mod expand;
mod editor;
mod items;
mod groups;
mod values;
mod check;
mod resolve;
mod expression;
mod head;
mod parse;
#[expect(dead_code, reason = "the syntax tree keeps what only messages and tests look at")]
mod ast;
mod boundary;
mod keyword;
mod sum;
mod constant;
#[cfg(test)]
mod tests;

use crate::report::Report;
use ast::{Expression, Input, Items};
use proc_macro2::TokenStream;
use syn::ext::IdentExt;

/// The whole macro.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut report = Report::of(&input);
    let (runtime, input) = head::runtime(input, &mut report);
    let (expansion, owner) = match parse::input(input.clone(), &mut report) {
        Some(Input::Items(items)) => {
            let owner = items.graphs.first().map(|item| item.name.unraw().to_string());
            (declared(items, editor::statements(input), &mut report), owner)
        }
        Some(Input::Expression(graph)) => {
            let expansion = expression(*graph, editor::expression(input), &mut report);
            (expansion, Some("expression".to_owned()))
        }
        None => (report.tokens(), None),
    };
    runtime.apply(expansion, owner)
}

/// Graphs as items. A graph with mistakes still emits its type and every signature, so that one mistake gives one
/// error.
fn declared(mut items: Items, statements: TokenStream, report: &mut Report) -> TokenStream {
    let groups = groups::taken(&mut items, report);
    items.graphs.iter_mut().for_each(|item| values::typed(item, report));
    let items = items::distinct(items.graphs, report);
    items::endless(&items, report);
    let (graphs, outcomes): (Vec<_>, Vec<_>) = items
        .iter()
        .map(|item| {
            let graph = resolve::resolve(item, report);
            let outcome = check::check(&graph, report);
            (graph, outcome)
        })
        .unzip();
    groups::shapes(&groups, &graphs, report);
    let wrong = report.has_errors();
    let expand = |(graph, outcome)| match wrong {
        true => expand::stub(graph, report),
        false => expand::graph(graph, outcome),
    };
    let expanded = graphs.iter().zip(&outcomes).map(expand).collect();
    let groups = groups.iter().map(|group| expand::group(group, &graphs)).collect();
    expand::items(statements, expanded, groups, report)
}

/// A graph as an expression. With mistakes it is still an expression of the right type.
fn expression(graph: Expression, statements: TokenStream, report: &mut Report) -> TokenStream {
    let item = expression::item(graph);
    let graph = resolve::resolve(&item, report);
    let outcome = check::check(&graph, report);
    let compiled = match report.has_errors() {
        true => expand::stub_expression(&graph, report),
        false => expand::expression(&graph, &outcome, report),
    };
    editor::block(statements, expand::seen_expression(&graph, report), compiled)
}
