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
        Some(Input::Item(item)) => declared(*item, &mut report),
        Some(Input::Expression(graph)) => later::expression(&graph, &mut report),
        None => report.tokens(),
    }
}

/// A graph as an item. With mistakes it still emits the type and every signature, so that one mistake gives one error.
fn declared(mut item: Item, report: &mut Report) -> TokenStream {
    later::leave_out(&mut item, report);
    let graph = resolve::resolve(&item, report);
    let outcome = check::check(&graph, report);
    let messages = report.tokens();
    let expansion = if report.has_errors() {
        expand::stub(&graph)
    } else {
        expand::graph(&graph, &outcome)
    };
    quote!(#expansion #messages)
}
