//! Random numbers as tokens: their declaration, and the state of one use.

use crate::graph::ast::{Place, Resource};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use std::ptr;

/// The declaration, as an expression. `builder` is a `&mut GraphBuilder`.
pub(super) fn declare(resource: &Resource, builder: &TokenStream) -> TokenStream {
    let name = resource.name.to_string();
    let Some(random) = &resource.random else {
        return TokenStream::new();
    };
    let (seed, draws) = (&random.seed, &random.draws);
    quote!(#builder.rng(#name, #seed, #draws))
}

/// The state of a use. Updates must name the same use as `build`, so each place has a number, followed by the numbers
/// of the iterations in a `for`.
pub(super) fn state(graph: &Graph<'_>, place: &Place, local: &Ident) -> TokenStream {
    let number = graph.accesses.iter().position(|(known, _)| ptr::eq(*known, place));
    // A use that is a mistake, which was reported, is no access.
    let iteration = number.map(|number| {
        let node = graph.draft.accesses[number].node;
        graph.variables_up_to(graph.draft.loop_around(node))
    });
    let (number, iteration) = (number.unwrap_or_default(), iteration.unwrap_or_default());
    quote_spanned!(place.end=> __g::Rng::named(&#local, &[#number #(, #iteration)*]))
}
