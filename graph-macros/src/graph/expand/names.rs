//! Names of local variables, fields and functions in expansions, and the spans that they have.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;

/// A name that the user's expressions cannot see.
pub(super) fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The local variable that holds a resource's place in `build`. It has the user's own hygiene: only tokens that agree
/// in it make one span, at which rustc reports what is wrong with a place.
pub(super) fn local(declared: &Ident) -> Ident {
    local_at(declared, declared.span())
}

/// The same variable, mentioned elsewhere: where it is, with the hygiene of where it was declared.
pub(super) fn local_at(declared: &Ident, place: Span) -> Ident {
    let span = place.resolved_at(declared.span());
    Ident::new(&format!("__place_{}", declared.unraw()), span)
}

/// The field of this name, mentioned where it means nothing to editors.
pub(super) fn unseen(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// `self` in the methods of a param, with the hygiene of its name: rustc underlines only tokens that agree in that.
pub(super) fn receiver(param: &Ident) -> Ident {
    Ident::new("self", param.span())
}

/// The name of a setter's argument.
pub(super) fn value_name(param: &Ident) -> Ident {
    Ident::new("__value", param.span())
}

/// Where a copy of a param's value comes from.
pub(super) enum Source {
    /// The field of this receiver.
    Field(Ident),
    /// The variable of the param's name.
    Variable,
    /// This argument of its setter.
    Argument(Ident),
}

/// A copy of a param's value: params are `Clone`, not necessarily `Copy`. All copies of one param have the same span,
/// at its name, so that rustc says only once that a type is not `Clone`. `receiver` is the `self` of the method, or the
/// argument's name.
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
        Source::Argument(argument) => here(argument).to_token_stream(),
    };
    quote_spanned!(name.span()=> ::core::clone::Clone::clone(&#value))
}

/// The parameter of a node's function that is the [`loaded`] value: `None` in an update, which does not evaluate the
/// expression again.
pub(super) fn loaded_name() -> Ident {
    Ident::new("function", Span::mixed_site())
}

/// The variable that holds the closure of the nodes that mention params.
pub(super) fn nodes_name() -> Ident {
    hidden("nodes")
}
