//! From text to [`Input`]. A statement that cannot be parsed is reported, and parsing goes on after the next `;` or
//! where the next statement begins (see [`boundary`](super::boundary)).

mod input;
mod item;
mod statement;
mod node;
mod launch;
mod closure;
mod child;
mod collective;
mod conditional;
mod argument;
mod place;
mod attribute;
mod path;
mod base;

use super::ast::{Input, Statement};
use super::keyword::Keyword;
use crate::report::Report;
use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Path};

/// The state of the parser.
struct Context<'r> {
    report: &'r mut Report,
    /// The names of statements, at any depth, that could not be parsed.
    unparsed: Vec<Ident>,
    /// The kernels of launches that could not be parsed.
    kernels: Vec<Path>,
    /// The keyword of the innermost statement whose body is being parsed; `None` outside of bodies.
    inside: Option<Keyword>,
    /// Whether the mistake in the current statement is reported already.
    told: bool,
    /// Parses the statements of a body, for the statements that have bodies.
    statements: fn(ParseStream<'_>, &mut Context<'_>) -> Vec<Statement>,
}

impl Context<'_> {
    /// Reports why a statement could not be parsed.
    fn tell(&mut self, error: &syn::Error) {
        if !std::mem::take(&mut self.told) {
            self.report.syn(error);
        }
    }

    /// Parses the body of a statement with the keyword `inside`.
    fn body(&mut self, input: ParseStream<'_>, inside: Keyword) -> Vec<Statement> {
        let outer = self.inside.replace(inside);
        let found = (self.statements)(input, self);
        self.inside = outer;
        found
    }
}

/// Parses the macro's input; `None` if not even the device of an expression is there.
pub(crate) fn input(input: TokenStream, report: &mut Report) -> Option<Input> {
    // Kept outside: after an error, syn also reports the tokens that are left over, and that result must not replace
    // this one.
    let mut found = None;
    let parser = |input: ParseStream<'_>| {
        let mut context = Context {
            report,
            unparsed: Vec::new(),
            kernels: Vec::new(),
            inside: None,
            told: false,
            statements: statement::statements,
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
