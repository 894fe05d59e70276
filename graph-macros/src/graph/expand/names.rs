//! Names of local variables, fields and functions in expansions, and the spans that they have.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;

/// A name that the user's expressions cannot see.
pub(super) fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The local variable that holds a resource's place in `build`. It has the user's own hygiene: rustc joins only tokens
/// with the same hygiene to one span, at which it reports mistakes about a place.
pub(super) fn local(declared: &Ident) -> Ident {
    local_at(declared, declared.span())
}

/// A mention of that variable at `place`, with the hygiene of the declaration.
pub(super) fn local_at(declared: &Ident, place: Span) -> Ident {
    let span = place.resolved_at(declared.span());
    Ident::new(&format!("__place_{}", declared.unraw()), span)
}

/// The field of this name, with a span that editors ignore.
pub(super) fn unseen(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// `self` in the methods of a param, with the hygiene of the param's name: rustc underlines only tokens with the same
/// hygiene together.
pub(super) fn receiver(param: &Ident) -> Ident {
    Ident::new("self", param.span())
}

/// The name of a setter's argument.
pub(super) fn value_name(param: &Ident) -> Ident {
    Ident::new("__value", param.span())
}

/// The source of a copy of a param's value.
pub(super) enum Source {
    /// The field of this receiver.
    Field(Ident),
    /// The variable of the param's name.
    Variable,
}

/// A copy of a param's value: params are `Clone`, not necessarily `Copy`. All copies of one param have the same span,
/// at its name, so that rustc says only once that a type is not `Clone`.
pub(super) fn copy(name: &Ident, source: &Source) -> TokenStream {
    let here = |ident: &Ident| {
        let mut ident = ident.clone();
        ident.set_span(name.span().resolved_at(ident.span()));
        ident
    };
    let value = match source {
        Source::Field(receiver) => {
            let receiver = here(receiver);
            quote_spanned!(name.span()=> #receiver.#name)
        }
        Source::Variable => name.to_token_stream(),
    };
    quote_spanned!(name.span()=> ::core::clone::Clone::clone(&#value))
}

/// The parameter of a node's function for the function value that it launches. It is `None` in an update, which does
/// not evaluate that expression again.
pub(super) fn loaded_name() -> Ident {
    Ident::new("function", Span::mixed_site())
}

/// The variable that holds the closure of the nodes that mention params.
pub(super) fn nodes_name() -> Ident {
    hidden("nodes")
}
