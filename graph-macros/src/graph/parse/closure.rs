//! Nodes that are closures: `call`, `capture` and `raw`. Their parameters are names rather than Rust patterns, so the
//! bars are parsed by hand. The body is any expression; it ends before `after`.

use super::argument::arguments;
use super::base::{expected, expression, refuse, require, take};
use crate::graph::ast::{Call, CallParameter, Library, Place};
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token};

/// `|&input, &mut output| body`
pub(super) fn call(input: ParseStream<'_>) -> syn::Result<Call> {
    refuse(
        input,
        input.peek(Token![move]),
        "`|`: the closure of a `call` moves what it captures",
    )?;
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

/// `(arguments) |stream| body`, or `unsafe (arguments) |graph, after| body` of a `raw` node.
pub(super) fn library(input: ParseStream<'_>, is_raw: bool) -> syn::Result<Library> {
    let mut unsafety = None;
    let mut bars = "|stream| expression";
    if is_raw {
        unsafety = Some(take(input, "`unsafe`: nobody checks what a `raw` node does")?);
        bars = "|graph, after| expression";
    }
    require(
        input,
        input.peek(syn::token::Paren),
        format_args!("`(&input, &mut output) {bars}`"),
    )?;
    let arguments = arguments(input)?.0;
    bar(input, bars)?;
    let (handle, after);
    if is_raw {
        handle = take(input, "a name for the graph that nodes are added to")?;
        take::<Token![,]>(input, "`, after|`: a name for the nodes that come before")?;
        after = Some(take(input, "a name for the nodes that come before")?);
    } else {
        handle = take(input, "a name for the stream")?;
        after = None;
    }
    input.parse::<Option<Token![,]>>()?;
    take::<Token![|]>(input, "`|` after the name")?;
    Ok(Library {
        unsafety,
        arguments,
        handle,
        after,
        body: body(input)?,
    })
}

fn bar(input: ParseStream<'_>, form: &str) -> syn::Result<()> {
    refuse(
        input,
        input.peek(Token![||]) || !input.peek(Token![|]),
        format_args!("`{form}`"),
    )?;
    input.parse::<Token![|]>().map(drop)
}

fn body(input: ParseStream<'_>) -> syn::Result<Expr> {
    refuse(
        input,
        input.peek(Token![->]),
        "an expression: what the closure returns is known",
    )?;
    expression(input, "an expression after `|..|`")
}
