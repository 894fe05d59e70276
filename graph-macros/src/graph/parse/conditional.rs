//! `if`, `while` and `switch`: nodes with bodies.

use super::Context;
use super::base::{expected, next_is};
use crate::graph::ast::{Action, Body, If, Place, Switch, While};
use crate::graph::keyword::Keyword;
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Token, braced};

/// `flag { .. } else { .. }`
pub(super) fn conditional(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    let condition = condition(input)?;
    let (then, mut end) = body(input, Keyword::If, context)?;
    let mut otherwise = None;
    if input.peek(Token![else]) {
        input.parse::<Token![else]>()?;
        if !input.peek(syn::token::Brace) {
            return Err(expected(
                input.span(),
                "`{ .. }` after `else`: another `if` is a node inside it",
            ));
        }
        let (body, last) = body(input, Keyword::If, context)?;
        (otherwise, end) = (Some(body), last);
    }
    let action = If {
        condition,
        then,
        otherwise,
    };
    Ok((Action::If(Box::new(action)), end))
}

/// `flag { .. }`
pub(super) fn loop_while(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    let condition = condition(input)?;
    let (body, end) = body(input, Keyword::While, context)?;
    Ok((Action::While(Box::new(While { condition, body })), end))
}

/// `index { { .. } { .. } }`
pub(super) fn switch(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    let condition = condition(input)?;
    let content;
    let end = braced!(content in input).span.close();
    let mut cases = Vec::new();
    while content.peek(syn::token::Brace) {
        cases.push(body(&content, Keyword::Switch, context)?.0);
    }
    if !content.is_empty() || cases.is_empty() {
        let message = "`{ .. }`: a `switch` holds a body for each value from 0 on, and nothing else";
        let place = if content.is_empty() { end } else { content.span() };
        return Err(expected(place, message));
    }
    if input.peek(Token![else]) {
        let message = "a `switch` has no `else`: for a number that has no body nothing runs";
        return Err(syn::Error::new(input.span(), message));
    }
    Ok((Action::Switch(Box::new(Switch { condition, cases })), end))
}

/// A place with a `{` after it.
fn condition(input: ParseStream<'_>) -> syn::Result<Place> {
    let place = input.parse()?;
    if next_is(input, "after") {
        return Err(expected(input.span(), "`{ .. }`: `after` comes after the bodies"));
    }
    if !input.peek(syn::token::Brace) {
        return Err(expected(
            input.span(),
            "`{ .. }`: a condition is one `u32` in device memory, and nodes follow it",
        ));
    }
    Ok(place)
}

/// A body and its closing brace.
fn body(input: ParseStream<'_>, inside: Keyword, context: &mut Context<'_>) -> syn::Result<(Body, Span)> {
    let content;
    let braces = braced!(content in input).span;
    let known = context.unparsed.len();
    let body = Body {
        statements: context.body(&content, inside),
        unparsed: context.unparsed[known..].to_vec(),
        brace: braces.join(),
    };
    Ok((body, braces.close()))
}
