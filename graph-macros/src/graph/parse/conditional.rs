//! `if`, `while` and `switch`: nodes with bodies.

use super::Context;
use super::base::{expected, next_is, refuse, require};
use crate::graph::ast::{Action, Body, Conditional, Place};
use crate::graph::keyword::Keyword;
use graph_plan::{NodeKind, Role};
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Token, braced};

/// `flag { .. } else { .. }` of an `if`, or `flag { .. }` of a `while`.
pub(super) fn conditional(
    input: ParseStream<'_>,
    kind: NodeKind,
    context: &mut Context<'_>,
) -> syn::Result<(Action, Span)> {
    let condition = condition(input)?;
    let is_if = kind == NodeKind::If;
    let (first, mut end) = body(input, kind, context)?;
    let mut bodies = vec![(if is_if { Role::Then } else { Role::While }, first)];
    if is_if && input.peek(Token![else]) {
        input.parse::<Token![else]>()?;
        require(
            input,
            input.peek(syn::token::Brace),
            "`{ .. }` after `else`: another `if` is a node inside it",
        )?;
        let (otherwise, last) = body(input, kind, context)?;
        bodies.push((Role::Else, otherwise));
        end = last;
    }
    Ok((Action::Conditional(Box::new(Conditional { condition, bodies })), end))
}

/// `index { { .. } { .. } }`
pub(super) fn switch(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    let condition = condition(input)?;
    let content;
    let end = braced!(content in input).span.close();
    let mut bodies = Vec::new();
    while content.peek(syn::token::Brace) {
        bodies.push((Role::Case, body(&content, NodeKind::Switch, context)?.0));
    }
    if !content.is_empty() || bodies.is_empty() {
        let message = "`{ .. }`: a `switch` holds a body for each value from 0 on, and nothing else";
        let place = if content.is_empty() { end } else { content.span() };
        return Err(expected(place, message));
    }
    if input.peek(Token![else]) {
        let message = "a `switch` has no `else`: for a number that has no body nothing runs";
        return Err(syn::Error::new(input.span(), message));
    }
    Ok((Action::Conditional(Box::new(Conditional { condition, bodies })), end))
}

/// A place with a `{` after it.
fn condition(input: ParseStream<'_>) -> syn::Result<Place> {
    let place = input.parse()?;
    refuse(
        input,
        next_is(input, "after"),
        "`{ .. }`: `after` comes after the bodies",
    )?;
    require(
        input,
        input.peek(syn::token::Brace),
        "`{ .. }`: a condition is one `u32` in device memory, which a kernel computes, and nodes follow it",
    )?;
    Ok(place)
}

/// A body and its closing brace.
fn body(input: ParseStream<'_>, inside: NodeKind, context: &mut Context<'_>) -> syn::Result<(Body, Span)> {
    let content;
    let end = braced!(content in input).span.close();
    let known = context.unparsed.len();
    let body = Body {
        statements: context.body(&content, Keyword::Node(inside)),
        unparsed: context.unparsed[known..].to_vec(),
    };
    Ok((body, end))
}
