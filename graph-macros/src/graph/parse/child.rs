//! `Layer::<N>(x: &mut a, lr: 0.5)`: another graph as a node.

use super::base::expected;
use crate::graph::ast::{Binding, Child};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Path, PathArguments, PathSegment, Token, parenthesized};

pub(super) fn child(input: ParseStream<'_>) -> syn::Result<Child> {
    let path = path(input)?;
    if !input.peek(syn::token::Paren) {
        return Err(expected(
            input.span(),
            "`(name: &memory)`: what the graph's resources are bound to",
        ));
    }
    let content;
    let parens = parenthesized!(content in input).span.join();
    let bindings = Punctuated::<Binding, Token![,]>::parse_terminated(&content)?;
    Ok(Child {
        path,
        parens,
        bindings: bindings.into_iter().collect(),
    })
}

/// The path of a type. syn's own parser would take bindings for the arguments of `Fn(A)`.
fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    let leading_colon = input.parse()?;
    let mut segments = Punctuated::new();
    loop {
        let mut segment = PathSegment::from(segment(input)?);
        if input.peek(Token![<]) || (input.peek(Token![::]) && input.peek3(Token![<])) {
            segment.arguments = PathArguments::AngleBracketed(input.parse()?);
        }
        segments.push_value(segment);
        if !input.peek(Token![::]) {
            return Ok(Path {
                leading_colon,
                segments,
            });
        }
        segments.push_punct(input.parse()?);
    }
}

/// A name, or one of the keywords that a path may hold.
fn segment(input: ParseStream<'_>) -> syn::Result<Ident> {
    let keyword = input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![super]);
    if keyword {
        return input.call(Ident::parse_any);
    }
    input
        .parse()
        .map_err(|error: syn::Error| expected(error.span(), "the path of a graph"))
}

impl Parse for Binding {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named = input.peek(Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        if !named {
            return Err(expected(
                input.span(),
                "`name: &memory`: what a graph takes is bound by name",
            ));
        }
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(expected(input.span(), &format!("what `{name}` is bound to")));
        }
        let argument = input.parse()?;
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(expected(input.span(), "`,`"));
        }
        Ok(Binding { name, argument })
    }
}
