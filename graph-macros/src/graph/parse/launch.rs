//! `path<<<grid, block>>>(arguments)`: a launch.

use super::argument::arguments;
use super::base::{expected, expression, next_is, refuse, require, starts_statement};
use super::path::path;
use crate::graph::ast::{Extent, Function, Launch};
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprParen, GenericArgument, Path, PathArguments, Token, braced, parenthesized};

/// `unsafe? function<<<grid, block, shared>>>(arguments)`. The tokens between the angle brackets are cut out and parsed
/// on their own, since Rust's expressions would swallow `>>>`.
pub(super) fn launch(input: ParseStream<'_>) -> syn::Result<Launch> {
    let unsafety: Option<Token![unsafe]> = input.parse()?;
    let function = function(input, unsafety.is_some())?;
    let opening = input.span();
    let start = input.fork();
    for _ in 0..3 {
        input
            .parse::<Token![<]>()
            .map_err(|_| expected(opening, "`<<<grid, block>>>` after the kernel"))?;
    }
    let mut inside: Vec<TokenTree> = Vec::new();
    while !ends_launch(input) {
        if input.is_empty() || input.peek(Token![;]) {
            return Err(unclosed(&start, opening));
        }
        inside.push(input.parse()?);
    }
    let first = input.span();
    let closing = closes(input).unwrap_or(first);
    let (grid, block, shared) = dimensions(inside, first)?;
    let (arguments, parens) = arguments(input)?;
    Ok(Launch {
        unsafety,
        function,
        grid,
        block,
        shared,
        arguments,
        closing,
        parens,
    })
}

/// The path of a kernel, or a function value in parentheses.
fn function(input: ParseStream<'_>, unsafety: bool) -> syn::Result<Function> {
    refuse(
        input,
        unsafety && input.peek(syn::token::Brace),
        "the path of a kernel: `unsafe` stands before it, without braces",
    )?;
    if !input.peek(syn::token::Paren) {
        return kernel_path(input).map(Function::Path);
    }
    require(
        input,
        unsafety,
        "`unsafe`: a function value is launched as `unsafe (expr)<<<grid, block>>>(arguments)`",
    )?;
    let content;
    let paren_token = parenthesized!(content in input);
    let expr = Box::new(expression(&content, "a function value")?);
    require(&content, content.is_empty(), "`)`: one function value is launched")?;
    Ok(Function::Value(ExprParen {
        attrs: Vec::new(),
        paren_token,
        expr,
    }))
}

/// The path of the kernel of a launch that could not be parsed. Constants in single angle brackets are dimensions of
/// the launch, not generic arguments.
pub(super) fn kernel(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Option<Token![unsafe]>>()?;
    let mut path = if input.peek(syn::token::Brace) {
        let content;
        braced!(content in input);
        kernel_path(&content)?
    } else {
        kernel_path(input)?
    };
    for segment in &mut path.segments {
        let has_constant = match &segment.arguments {
            PathArguments::AngleBracketed(generics) => generics.args.iter().any(is_constant),
            PathArguments::None | PathArguments::Parenthesized(_) => false,
        };
        if has_constant {
            segment.arguments = PathArguments::None;
        }
    }
    Ok(path)
}

fn is_constant(argument: &GenericArgument) -> bool {
    matches!(argument, GenericArgument::Const(_))
}

/// The path of a kernel, as an expression has it, with `::` before generic arguments. The author may leave that `::`
/// out.
fn kernel_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let mut path = path(input, "the path of a kernel")?;
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            let span = arguments.lt_token.span;
            arguments.colon2_token.get_or_insert(Token![::](span));
        }
    }
    Ok(path)
}

/// The error for a launch, from its `<<<` on, that no `>>>` closes.
fn unclosed(input: ParseStream<'_>, opening: Span) -> syn::Error {
    while !input.is_empty() && !input.peek(Token![;]) {
        let ahead = input.fork();
        if let Some(closing) = closes(&ahead) {
            if ahead.peek(syn::token::Paren) {
                drop(ahead.parse::<TokenTree>());
                return expected(ahead.span(), "`after` or `;` after the arguments");
            }
            return expected(closing, "`(arguments)` after `>>>`");
        }
        drop(input.parse::<TokenTree>());
    }
    expected(opening, "`>>>(arguments)` to close this `<<<`")
}

/// Reads three `>` and returns the span of the last. They need not be joint: `macro_rules!` does not keep that, and no
/// expression has three in a row.
fn closes(input: ParseStream<'_>) -> Option<Span> {
    let brackets = (0..3).map(|_| match input.parse::<TokenTree>() {
        Ok(TokenTree::Punct(punct)) if punct.as_char() == '>' => Some(punct.span()),
        _ => None,
    });
    brackets.collect::<Option<Vec<_>>>()?.last().copied()
}

/// `>>>`, then a parenthesised group, then `;`, `after` or the end.
fn ends_launch(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if !input.peek(Token![>]) || closes(&ahead).is_none() {
        return false;
    }
    match ahead.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {}
        _ => return false,
    }
    ahead.is_empty() || ahead.peek(Token![;]) || next_is(&ahead, "after") || starts_statement(&ahead)
}

/// Parses `grid, block, shared`; errors at the end of the tokens point at `closing`.
fn dimensions(inside: Vec<TokenTree>, closing: Span) -> syn::Result<(Extent, Extent, Option<Expr>)> {
    // A `;` at the closing brackets marks the end, so that an error there has a place.
    let end = proc_macro2::Punct::new(';', Spacing::Alone);
    let mut end = TokenTree::Punct(end);
    end.set_span(closing);
    let tokens: TokenStream = inside.into_iter().chain([end]).collect();
    let parser = |input: ParseStream<'_>| {
        let grid = extent(input)?;
        require(
            input,
            input.peek(Token![,]),
            "`, block`: a launch is `<<<grid, block>>>`",
        )?;
        input.parse::<Token![,]>()?;
        let block = extent(input)?;
        let mut shared = None;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            shared = (!input.peek(Token![;]))
                .then(|| expression(input, "an expression"))
                .transpose()?;
            input.parse::<Option<Token![,]>>()?;
        }
        require(
            input,
            input.peek(Token![;]),
            "`>>>`: a launch is `<<<grid, block>>>` or `<<<grid, block, shared bytes>>>`",
        )?;
        input.parse::<Token![;]>()?;
        Ok((grid, block, shared))
    };
    parser.parse2(tokens)
}

fn extent(input: ParseStream<'_>) -> syn::Result<Extent> {
    let whole = expression(input, "an expression")?;
    let parts = match &whole {
        Expr::Tuple(tuple) if (1..=3).contains(&tuple.elems.len()) => tuple.elems.iter().cloned().collect(),
        Expr::Tuple(tuple) => return Err(expected(tuple.span(), "a tuple of one to three dimensions")),
        single => vec![single.clone()],
    };
    Ok(Extent { whole, parts })
}
