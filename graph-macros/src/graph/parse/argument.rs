//! The arguments of kernels, captures and raw nodes.

use super::base::comma_or_end;
use crate::graph::ast::Argument;
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Lit, Token, parenthesized};

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `&"text"` and `&[1, 2]` are values: no place begins like this.
        if !input.peek(Token![&]) || input.peek2(Lit) || input.peek2(syn::token::Bracket) {
            return Ok(Argument::Value(input.parse()?));
        }
        let argument = Argument::Borrow {
            and: input.parse()?,
            mutable: input.parse()?,
            place: input.parse()?,
        };
        comma_or_end(input, "`,`: a borrowed argument is a resource or a part of one")?;
        Ok(argument)
    }
}

/// `(arguments)`, and the span of the parentheses.
pub(super) fn arguments(input: ParseStream<'_>) -> syn::Result<(Vec<Argument>, Span)> {
    let content;
    let parens = parenthesized!(content in input).span.join();
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated(&content)?;
    Ok((arguments.into_iter().collect(), parens))
}
