//! Nodes that are closures: `call`, `capture` and `raw`. Their parameters are names rather than Rust patterns, so the
//! bars are parsed by hand. The body is any expression; it ends before `after`.

use super::argument::arguments;
use super::base::{expected, expression};
use crate::graph::ast::{Argument, Call, CallParameter, Capture, Place, Raw};
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token};

/// `|&input, &mut output| body`
pub(super) fn call(input: ParseStream<'_>) -> syn::Result<Call> {
    if input.peek(Token![move]) {
        return Err(expected(
            input.span(),
            "`|`: the closure of a `call` moves what it captures",
        ));
    }
    let mut parameters = Vec::new();
    if input.peek(Token![||]) {
        input.parse::<Token![||]>()?;
    } else {
        bar(input, "|&input, &mut output| expression")?;
        while !input.peek(Token![|]) {
            parameters.push(parameter(input)?);
            if !input.peek(Token![|]) {
                input.parse::<Token![,]>().map_err(|error| {
                    let message = "`,` or `|`: a parameter of a `call` is the name of a resource and has its type";
                    expected(error.span(), message)
                })?;
            }
        }
        input.parse::<Token![|]>()?;
    }
    Ok(Call {
        parameters,
        body: body(input)?,
    })
}

fn parameter(input: ParseStream<'_>) -> syn::Result<CallParameter> {
    let form = "`&name` or `&mut name`: a `call` borrows resources by their names";
    let borrow = |error: syn::Error| expected(error.span(), form);
    let (and, mutable) = (input.parse().map_err(borrow)?, input.parse()?);
    let name: Ident = input.parse().map_err(borrow)?;
    let place = Place {
        end: name.span(),
        name,
        parts: Vec::new(),
    };
    Ok(CallParameter { and, mutable, place })
}

/// `(arguments) |stream| body`
pub(super) fn capture(input: ParseStream<'_>) -> syn::Result<Capture> {
    let form = "(&input, &mut output) |stream| expression";
    let (arguments, parens) = declared(input, form)?;
    bar(input, "|stream| expression")?;
    let stream = name(input, "a name for the stream")?;
    closing_bar(input)?;
    Ok(Capture {
        arguments,
        parens,
        stream,
        body: body(input)?,
    })
}

/// `unsafe (arguments) |graph, after| body`
pub(super) fn raw(input: ParseStream<'_>) -> syn::Result<Raw> {
    let form = "(&input, &mut output) |graph, after| expression";
    let unsafety = input
        .parse()
        .map_err(|error: syn::Error| expected(error.span(), "`unsafe`: nobody checks what a `raw` node does"))?;
    let (arguments, parens) = declared(input, form)?;
    bar(input, "|graph, after| expression")?;
    let graph = name(input, "a name for the graph that nodes are added to")?;
    input
        .parse::<Token![,]>()
        .map_err(|error| expected(error.span(), "`, after|`: a name for the nodes that come before"))?;
    let after = name(input, "a name for the nodes that come before")?;
    closing_bar(input)?;
    Ok(Raw {
        unsafety,
        arguments,
        parens,
        graph,
        after,
        body: body(input)?,
    })
}

/// The memory in parentheses that a node declares to touch.
fn declared(input: ParseStream<'_>, form: &str) -> syn::Result<(Vec<Argument>, Span)> {
    if !input.peek(syn::token::Paren) {
        return Err(expected(input.span(), &format!("`{form}`")));
    }
    arguments(input)
}

fn name(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    input.parse().map_err(|error: syn::Error| expected(error.span(), what))
}

fn bar(input: ParseStream<'_>, form: &str) -> syn::Result<()> {
    if input.peek(Token![||]) || !input.peek(Token![|]) {
        return Err(expected(input.span(), &format!("`{form}`")));
    }
    input.parse::<Token![|]>().map(drop)
}

fn closing_bar(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<Option<Token![,]>>()?;
    input
        .parse::<Token![|]>()
        .map(drop)
        .map_err(|error| expected(error.span(), "`|` after the name"))
}

fn body(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(Token![->]) {
        return Err(expected(
            input.span(),
            "an expression: what the closure returns is known",
        ));
    }
    expression(input, "an expression after `|..|`")
}
