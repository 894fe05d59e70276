//! `cuda_graph!`: parse -> resolve -> check -> expand.

#[expect(dead_code, reason = "statements are parsed before they are built: see `later`")]
mod ast;
mod check;
mod constant;
mod expand;
mod later;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

use crate::report::Report;
use ast::{Input, Item};
use proc_macro2::TokenStream;
use quote::quote;

/// The whole macro.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut report = Report::default();
    match parse::input(input, &mut report) {
        Some(Input::Items(items)) => declared(items, &mut report),
        Some(Input::Expression(graph)) => later::expression(&graph, &mut report),
        None => report.tokens(),
    }
}

/// Graphs as items. With mistakes each still emits its type and every signature, so that one mistake gives one error.
fn declared(mut items: Vec<Item>, report: &mut Report) -> TokenStream {
    items.iter_mut().for_each(|item| later::leave_out(item, report));
    let graphs: Vec<_> = items
        .iter()
        .map(|item| {
            let graph = resolve::resolve(item, report);
            let outcome = check::check(&graph, report);
            (graph, outcome)
        })
        .collect();
    let messages = report.tokens();
    let expansions = graphs.iter().map(|(graph, outcome)| {
        if report.has_errors() {
            expand::stub(graph)
        } else {
            expand::graph(graph, outcome)
        }
    });
    quote!(#(#expansions)* #messages)
}
