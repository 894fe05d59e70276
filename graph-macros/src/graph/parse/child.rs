//! `Layer::<N>(x: &mut a, lr: 0.5)`: another graph as a node.

use super::base::{comma_or_end, refuse, require};
use super::path::path;
use crate::graph::ast::{Binding, Child};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Token, parenthesized};

pub(super) fn child(input: ParseStream<'_>) -> syn::Result<Child> {
    let path = path(input, "the path of a graph")?;
    require(
        input,
        input.peek(syn::token::Paren),
        "`(name: &memory)`: what the graph's resources are bound to",
    )?;
    let content;
    let parens = parenthesized!(content in input).span.join();
    let bindings = Punctuated::<Binding, Token![,]>::parse_terminated(&content)?;
    Ok(Child {
        path,
        parens,
        bindings: bindings.into_iter().collect(),
    })
}

impl Parse for Binding {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named = input.peek(Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        require(input, named, "`name: &memory`: what a graph takes is bound by name")?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        refuse(
            input,
            input.is_empty() || input.peek(Token![,]),
            format_args!("what `{name}` is bound to"),
        )?;
        let argument = input.parse()?;
        comma_or_end(input, "`,`")?;
        Ok(Binding { name, argument })
    }
}
