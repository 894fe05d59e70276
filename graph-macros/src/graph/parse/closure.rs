//! Nodes that are closures: `call`, `capture` and `raw`. Their parameters are names rather than Rust patterns, so the
//! bars are parsed by hand. The body is any expression; it ends before `after`.

use super::argument::arguments;
use super::base::{expected, expression, refuse, require, take};
use crate::graph::ast::{Call, CallParameter, Library, Place, StandIn};
use syn::ext::IdentExt;
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
        name: name.into(),
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
    let body = body(input)?;
    let stand_in = if input.peek(Token![else]) {
        Some(stand_in(input, is_raw, arguments.len())?)
    } else {
        None
    };
    Ok(Library {
        unsafety,
        arguments,
        handle,
        after,
        body,
        stand_in,
    })
}

/// `else |input, output| body`, with a name for each argument of a `capture`.
fn stand_in(input: ParseStream<'_>, is_raw: bool, arguments: usize) -> syn::Result<StandIn> {
    let word: Token![else] = input.parse()?;
    if is_raw {
        let message = "a `raw` node has no `else`: nothing stands for calls of the CUDA driver";
        return Err(syn::Error::new(word.span, message));
    }
    let mut names = Vec::new();
    if input.peek(Token![||]) {
        input.parse::<Token![||]>()?;
    } else {
        bar(input, "|input, output| expression")?;
        while !input.peek(Token![|]) {
            names.push(take_name(input)?);
            if !input.peek(Token![|]) {
                take::<Token![,]>(
                    input,
                    "`,` or `|`: the `else` of a `capture` has a name for each argument",
                )?;
            }
        }
        input.parse::<Token![|]>()?;
    }
    if names.len() != arguments {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let message = format!(
            "the `else` has {}, but the node has {}: it gets them in order, memory as `&T` or `&mut T`",
            count(names.len(), "parameter"),
            count(arguments, "argument")
        );
        return Err(syn::Error::new(word.span, message));
    }
    Ok(StandIn {
        names,
        body: body(input)?,
    })
}

/// A name, or `_`.
fn take_name(input: ParseStream<'_>) -> syn::Result<Ident> {
    let form = "a name, without `&`: the `else` of a `capture` gets memory as the node borrows it";
    refuse(input, !input.peek(Ident) && !input.peek(Token![_]), form)?;
    input.call(Ident::parse_any)
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
