//! Text to [`Input`]. A statement that cannot be parsed is reported, and parsing goes on at the next `;` or at the next
//! keyword that is followed by a name.

mod argument;
mod attribute;
mod child;
mod closure;
mod conditional;
mod input;
mod item;
mod launch;
mod node;
mod place;
mod statement;

pub(super) use statement::KEYWORDS;

use super::ast::Input;
use crate::report::Report;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use statement::starts_statement;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Path, Token};

/// What is known while a graph is parsed.
struct Context<'r> {
    report: &'r mut Report,
    /// The names of statements, at any depth, that could not be parsed.
    unparsed: Vec<Ident>,
    /// The kernels of launches that could not be parsed.
    kernels: Vec<Path>,
    /// The keyword of the innermost statement whose body is parsed; `None` outside of all.
    inside: Option<&'static str>,
    /// Is what is wrong with the statement that is parsed reported already?
    told: bool,
}

impl Context<'_> {
    /// Reports why a statement could not be parsed.
    fn tell(&mut self, error: &syn::Error) {
        if !std::mem::take(&mut self.told) {
            self.report.syn(error);
        }
    }
}

/// Parses the macro's input; `None` where not even the device of an expression could be made out.
pub(crate) fn input(input: TokenStream, report: &mut Report) -> Option<Input> {
    // Kept outside, since syn also reports tokens left over after an error, which that error has told already.
    let mut found = None;
    let parser = |input: ParseStream<'_>| {
        let mut context = Context {
            report,
            unparsed: Vec::new(),
            kernels: Vec::new(),
            inside: None,
            told: false,
        };
        found = Some(input::parse(input, &mut context)?);
        Ok(())
    };
    if let Err(error) = parser.parse2(input)
        && (found.is_none() || !report.has_errors())
    {
        report.syn(&error);
    }
    found
}

fn expected(span: Span, what: &str) -> syn::Error {
    syn::Error::new(span, format!("expected {what}"))
}

/// An expression where the grammar has nothing but one; `what` is said where there is none.
fn expression(input: ParseStream<'_>, what: &str) -> syn::Result<Expr> {
    if input.is_empty() || input.peek(Token![;]) || input.peek(Token![,]) || starts_after(input) {
        return Err(expected(input.span(), what));
    }
    input.parse()
}

/// Where the next statement begins, `what` is missing behind `last`.
fn present(input: ParseStream<'_>, last: Span, what: &str) -> syn::Result<()> {
    match starts_statement(input) {
        true => Err(expected(last, what)),
        false => Ok(()),
    }
}

/// The `;` behind a statement whose last token is at `end`.
fn semicolon(input: ParseStream<'_>, end: Span) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    // Another statement follows: what is missing is missing here. Anything else is what should not be there.
    let place = if input.is_empty() || starts_statement(input) {
        end
    } else {
        input.span()
    };
    Err(expected(place, "`;` at the end of the statement"))
}

/// The span of the last token.
fn last_token(tokens: &impl ToTokens) -> Span {
    tokens
        .to_token_stream()
        .into_iter()
        .last()
        .map_or_else(Span::call_site, |token| token.span())
}

/// Is the next token the one at `start`?
fn stands_at(input: ParseStream<'_>, start: Span) -> bool {
    format!("{:?}", input.span()) == format!("{start:?}")
}

fn next_is(input: ParseStream<'_>, word: &str) -> bool {
    input.fork().call(Ident::parse_any).is_ok_and(|next| next == word)
}

/// Does `after` and the name of a node come next?
fn starts_after(input: ParseStream<'_>) -> bool {
    next_is(input, "after") && input.peek2(Ident)
}
