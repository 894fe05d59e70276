//! Functions that all parsers share: errors, the ends of statements, and going on after a mistake.

use super::Context;
use crate::graph::boundary;
use crate::span::last_span;
use proc_macro2::{Span, TokenTree};
use std::fmt::Display;
use syn::ext::IdentExt;
use syn::parse::{End, Parse, ParseStream};
use syn::{Expr, Ident, Token};

pub(super) fn expected(span: Span, what: impl Display) -> syn::Error {
    syn::Error::new(span, format!("expected {what}"))
}

/// Parses a part of a statement. If it is not there, the error asks for `what`.
pub(super) fn take<T: Parse>(input: ParseStream<'_>, what: impl Display) -> syn::Result<T> {
    input.parse().map_err(|error| expected(error.span(), what))
}

/// Fails at the next token, where `what` is expected, unless that is there.
pub(super) fn require(input: ParseStream<'_>, is_there: bool, what: impl Display) -> syn::Result<()> {
    refuse(input, !is_there, what)
}

/// Fails at the next token, where `what` is expected, if something else is there.
pub(super) fn refuse(input: ParseStream<'_>, is_other: bool, what: impl Display) -> syn::Result<()> {
    match is_other {
        true => Err(expected(input.span(), what)),
        false => Ok(()),
    }
}

/// Fails if something other than a comma follows one of several parts.
pub(super) fn comma_or_end(input: ParseStream<'_>, what: impl Display) -> syn::Result<()> {
    refuse(input, !input.is_empty() && !input.peek(Token![,]), what)
}

/// Parses an expression where nothing else may follow. If there is none, the error asks for `what`.
pub(super) fn expression(input: ParseStream<'_>, what: impl Display) -> syn::Result<Expr> {
    refuse(
        input,
        input.is_empty() || input.peek(Token![;]) || input.peek(Token![,]) || starts_after(input),
        what,
    )?;
    input.parse()
}

/// An expression that ends a statement, and its last token.
pub(super) fn last_expression(input: ParseStream<'_>, what: impl Display) -> syn::Result<(Expr, Span)> {
    let expression = expression(input, what)?;
    let end = last_span(&expression);
    Ok((expression, end))
}

/// Fails if the next statement begins here: `what` is missing after `last`.
pub(super) fn present(input: ParseStream<'_>, last: Span, what: impl Display) -> syn::Result<()> {
    match starts_statement(input) {
        true => Err(expected(last, what)),
        false => Ok(()),
    }
}

/// A comma that ends the tokens, as Rust allows it after the last of a list.
pub(super) fn last_comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![,]) && input.peek2(End) {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

/// The `;` after a statement whose last token is at `end`.
pub(super) fn semicolon(input: ParseStream<'_>, end: Span) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    // If another statement follows, the `;` is missing at the end of this one. Any other token is unexpected itself.
    let place = if input.is_empty() || starts_statement(input) {
        end
    } else {
        input.span()
    };
    Err(expected(place, "`;` at the end of the statement"))
}

/// Reports a mistake after a statement that is itself right, and skips to the next statement.
pub(super) fn unfinished(input: ParseStream<'_>, error: &syn::Error, context: &mut Context<'_>) {
    context.report.aside(error);
    if !starts_statement(input) {
        skip(input, false);
    }
}

/// Skips the rest of a statement that began at `start` and could not be parsed: at least one token.
pub(super) fn recover(input: ParseStream<'_>, start: Span) {
    skip(input, stands_at(input, start));
}

/// Skips past the next `;`, or to the next statement; at least one token if `first`.
fn skip(input: ParseStream<'_>, mut first: bool) {
    while !input.is_empty() && (first || !starts_statement(input)) {
        first = false;
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == ';' => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Whether the next token is the one at `start`.
pub(super) fn stands_at(input: ParseStream<'_>, start: Span) -> bool {
    format!("{:?}", input.span()) == format!("{start:?}")
}

/// Whether a statement begins here.
pub(super) fn starts_statement(input: ParseStream<'_>) -> bool {
    boundary::starts_statement(ahead(input))
}

/// Whether a graph or a group begins here, after its attributes and visibility.
pub(super) fn starts_declared(input: ParseStream<'_>) -> bool {
    boundary::starts_declared(ahead(input)).is_some()
}

/// The next tokens, without consuming them.
fn ahead<'a>(input: ParseStream<'a>) -> impl Iterator<Item = TokenTree> + use<'a> {
    let ahead = input.fork();
    std::iter::from_fn(move || ahead.parse().ok())
}

pub(super) fn next_is(input: ParseStream<'_>, word: &str) -> bool {
    input.fork().call(Ident::parse_any).is_ok_and(|next| next == word)
}

/// Whether `after` and the name of a node come next.
fn starts_after(input: ParseStream<'_>) -> bool {
    next_is(input, "after") && input.peek2(Ident)
}
