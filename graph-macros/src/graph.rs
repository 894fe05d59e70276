//! `cuda_graph!`: parse -> resolve -> check -> expand.

#[expect(dead_code, reason = "statements are parsed before they are built: see `later`")]
mod ast;
mod check;
mod constant;
mod editor;
mod expand;
mod later;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

use crate::report::Report;
use ast::{Input, Item};
use proc_macro2::TokenStream;

/// The whole macro.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut report = Report::default();
    match parse::input(input.clone(), &mut report) {
        Some(Input::Items(items)) => declared(items, editor::statements(input), &mut report),
        Some(Input::Expression(graph)) => {
            editor::block(editor::expression(input), later::expression(&graph, &mut report))
        }
        None => report.tokens(),
    }
}

/// Graphs as items. With mistakes each still emits its type and every signature, so that one mistake gives one error.
fn declared(mut items: Vec<Item>, statements: TokenStream, report: &mut Report) -> TokenStream {
    items.iter_mut().for_each(|item| later::leave_out(item, report));
    let graphs: Vec<_> = items
        .iter()
        .map(|item| {
            let graph = resolve::resolve(item, report);
            let outcome = check::check(&graph, report);
            (graph, outcome)
        })
        .collect();
    let wrong = report.has_errors();
    let expand = |(graph, outcome): &(_, _)| match wrong {
        true => expand::stub(graph),
        false => expand::graph(graph, outcome),
    };
    expand::items(statements, graphs.iter().map(expand).collect(), report)
}
