//! `cuda_graph!`: parse -> resolve -> check -> expand.

mod ast;
mod check;
mod constant;
mod expand;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

use crate::report::Report;
use proc_macro2::TokenStream;
use quote::quote;

/// The whole macro. With mistakes it still emits the type and every signature, so that one mistake gives one error.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let Some(item) = parse::item(input, &mut report) else {
        return report.tokens();
    };
    let graph = resolve::resolve(&item, &mut report);
    let outcome = check::check(&graph, &mut report);
    let messages = report.tokens();
    let expansion = if report.has_errors() {
        expand::stub(&graph)
    } else {
        expand::graph(&graph, &outcome)
    };
    quote!(#expansion #messages)
}
