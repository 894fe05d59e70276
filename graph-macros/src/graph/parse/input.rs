//! The two forms of a graph: items, and an expression that locals are moved into.

use super::Context;
use super::base::{expected, stands_at, starts_declared, starts_statement};
use super::item::{Declared, item};
use super::statement::{after_auto, statements};
use crate::graph::ast::{Expression, Input, Items};
use crate::span::last_span;
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Expr, Token, parse_quote};

pub(super) fn parse(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Input> {
    if is_expression(input) {
        return Ok(Input::Expression(Box::new(graph(input, context)?)));
    }
    items(input, context).map(Input::Items)
}

/// One graph or more, and groups. After one whose head cannot be parsed, parsing goes on at the next.
fn items(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Items> {
    let mut items = Items::default();
    loop {
        let start = input.span();
        match item(input, context) {
            Ok(Declared::Graph(graph)) => items.graphs.push(*graph),
            Ok(Declared::Group(group)) => items.groups.push(*group),
            Err(error) => {
                context.report.syn(&error);
                let mut first = stands_at(input, start);
                while !input.is_empty() && (first || !starts_item(input)) {
                    first = false;
                    input.parse::<TokenTree>()?;
                }
            }
        }
        if input.is_empty() {
            return Ok(items);
        }
    }
}

fn starts_item(input: ParseStream<'_>) -> bool {
    input.peek(Token![#]) || input.peek(Token![pub]) || starts_declared(input)
}

/// Whether the text begins as no item can, or has a `=>` before the first `;`.
fn is_expression(input: ParseStream<'_>) -> bool {
    let item = starts_item(input);
    if item || input.peek(Token![&]) {
        return !item;
    }
    has_arrow(input)
}

/// `&device => statements`
fn graph(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Expression> {
    let device = device(input, context)?;
    let arrow = if input.peek(Token![=>]) {
        input.parse()?
    } else {
        let place = if input.is_empty() {
            last_span(&device)
        } else {
            input.span()
        };
        context
            .report
            .syntax(place, "expected `=> statements` after the device");
        if !input.is_empty() && !starts_statement(input) {
            input.parse::<TokenTree>()?;
        }
        Token![=>](place)
    };
    let auto = after_auto(input, context);
    let statements = statements(input, context);
    Ok(Expression {
        device,
        arrow,
        auto,
        statements,
        unparsed: std::mem::take(&mut context.unparsed),
        kernels: std::mem::take(&mut context.kernels),
    })
}

/// The device before `=>`; after a mistake in it, an expression of any type.
fn device(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Expr> {
    let ahead = input.fork();
    let error = match ahead.parse::<Expr>() {
        Ok(_) if ahead.peek(Token![=>]) || !has_arrow(&ahead) => return input.parse(),
        Ok(_) => expected(ahead.span(), "`=> statements` after the device"),
        Err(error) if !has_arrow(input) => return Err(error),
        Err(error) => error,
    };
    context.report.syn(&error);
    while !input.peek(Token![=>]) {
        input.parse::<TokenTree>()?;
    }
    Ok(parse_quote!(::core::unreachable!()))
}

/// Whether there is a `=>` before the first `;`.
fn has_arrow(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !ahead.is_empty() && !ahead.peek(Token![;]) && !ahead.peek(Token![=>]) {
        if ahead.parse::<TokenTree>().is_err() {
            return false;
        }
    }
    ahead.peek(Token![=>])
}
