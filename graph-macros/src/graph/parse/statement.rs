//! Statements, one after the other; here those that are no nodes.

use super::attribute::{attributes, misplaced};
use super::node::node;
use super::{Context, expected, expression, last_token, next_is, present, semicolon, stands_at};
use crate::graph::ast::{Attributes, For, Param, Random, Resource, ResourceKind, Shape, Statement};
use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token, braced, parse_quote};

/// The keywords that start a statement.
pub(crate) const KEYWORDS: [&str; 19] = [
    "host", "device", "scratch", "param", "rng", "kernel", "memcpy", "memset", "call", "graph", "capture", "raw",
    "join", "record", "wait", "if", "while", "switch", "for",
];

/// Parses statements up to the end and returns those that could be parsed.
pub(super) fn statements(input: ParseStream<'_>, context: &mut Context<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    while !input.is_empty() {
        let start = input.span();
        let mut name = None;
        match statement(input, &mut name, context) {
            Ok(statement) => found.extend(statement),
            Err(error) => {
                context.report.syn(&error);
                context.unparsed.extend(name);
                recover(input, start);
            }
        }
    }
    found
}

/// Skips to behind the next `;`, or to the next statement; at least one token if none was read since `start`.
fn recover(input: ParseStream<'_>, start: Span) {
    let mut first = stands_at(input, start);
    while !input.is_empty() && (first || !starts_statement(input)) {
        first = false;
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == ';' => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Does a statement keyword followed by a name (or an attribute of one) come next?
pub(super) fn starts_statement(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.peek(Token![#]) {
        return ahead.peek2(syn::token::Bracket);
    }
    let Ok(keyword) = ahead.call(Ident::parse_any) else {
        return false;
    };
    if !KEYWORDS.iter().any(|known| keyword == known) || ahead.parse::<Ident>().is_err() {
        return false;
    }
    // Rust's own keywords also stand inside expressions.
    match keyword.to_string().as_str() {
        "for" => ahead.peek(Token![in]),
        "if" | "while" => ahead.peek(Token![=]) && !ahead.peek(Token![==]),
        _ => true,
    }
}

/// `None` where the statement does not belong here, which is reported.
fn statement(
    input: ParseStream<'_>,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    let attributes = attributes(input, context.report)?;
    let start = input.span();
    let keyword = input.call(Ident::parse_any).map_err(|_| {
        expected(
            start,
            "a statement such as `device x: shape;` or `kernel k = function<<<grid, block>>>(&x);`",
        )
    })?;
    let word = keyword.to_string();
    if !KEYWORDS.contains(&word.as_str()) {
        return Err(unknown_keyword(&keyword));
    }
    misplaced(&attributes.node, &word, context.report);
    let declared: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("a name after `{word}`")))?;
    *name = Some(declared.clone());
    let span = keyword.span();
    let statement = match word.as_str() {
        "host" => resource(input, attributes, span, ResourceKind::Host, declared),
        "device" => resource(input, attributes, span, ResourceKind::Device, declared),
        "scratch" => resource(input, attributes, span, ResourceKind::Scratch, declared),
        "param" => param(input, attributes, declared),
        "rng" => rng(input, attributes, span, declared),
        "for" => repeated(input, attributes, span, declared, context),
        _ => node(input, attributes, keyword, declared, context),
    }?;
    Ok(belongs_here(&statement, &word, span, context).then_some(statement))
}

/// Bodies hold nodes and `for`s.
fn belongs_here(statement: &Statement, keyword: &str, span: Span, context: &mut Context<'_>) -> bool {
    let Some(inside) = context.inside else { return true };
    if matches!(statement, Statement::Node(_) | Statement::For(_)) {
        return true;
    }
    let name = statement.name();
    let message = format!("expected a node or a `for`, found `{keyword}`: declare `{name}` outside of the `{inside}`");
    context.report.syntax(span, message);
    context.unparsed.push(name.clone());
    false
}

fn unknown_keyword(keyword: &Ident) -> syn::Error {
    let word = keyword.to_string();
    let mut text = format!("expected a statement, found `{word}`");
    if word == "else" {
        text.push_str(": `else` follows the body of an `if`, before its `;`");
    } else if let Some(near) = graph_plan::nearest(&word, KEYWORDS) {
        text.push_str(&format!("; did you mean `{near}`?"));
    }
    syn::Error::new(keyword.span(), text)
}

fn resource(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Span,
    kind: ResourceKind,
    name: Ident,
) -> syn::Result<Statement> {
    let colon: Token![:] = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("`: shape` after `{name}`")))?;
    present(input, colon.span, "a type such as `f32` or `[f32; 1024]`")?;
    let shape: Shape = input.parse()?;
    semicolon(input, last_token(&shape))?;
    Ok(Statement::Resource(Resource {
        attributes,
        keyword,
        kind,
        name,
        shape,
        random: None,
    }))
}

fn param(input: ParseStream<'_>, attributes: Attributes, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: type = value` after `{name}`")))?;
    let ty = input.parse()?;
    let equals: Token![=] = input
        .parse()
        .map_err(|error| expected(error.span(), "`= value`: a `param` has an initial value"))?;
    present(input, equals.span, "`value` after `=`")?;
    let initial: Expr = input.parse()?;
    semicolon(input, last_token(&initial))?;
    Ok(Statement::Param(Param {
        attributes,
        name,
        ty,
        initial,
    }))
}

/// `seed, draws n`, where `draws` is a keyword.
fn rng(input: ParseStream<'_>, attributes: Attributes, keyword: Span, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![=]>()
        .map_err(|error| expected(error.span(), &format!("`= seed, draws n` after `{name}`")))?;
    let seed = expression(input, "a seed: `rng noise = 42, draws 4;`")?;
    let form = "`, draws n`: how many numbers a thread draws at each use";
    input
        .parse::<Token![,]>()
        .map_err(|error| expected(error.span(), form))?;
    if !next_is(input, "draws") {
        return Err(expected(
            input.span(),
            "`draws n`: how many numbers a thread draws at each use",
        ));
    }
    input.call(Ident::parse_any)?;
    let draws = expression(input, "how many numbers a thread draws at each use")?;
    semicolon(input, last_token(&draws))?;
    Ok(Statement::Resource(Resource {
        attributes,
        keyword,
        kind: ResourceKind::Rng,
        name,
        shape: Shape {
            element: parse_quote!(::graph_runtime::Philox),
            lengths: Vec::new(),
            brackets: Vec::new(),
        },
        random: Some(Box::new(Random { seed, draws })),
    }))
}

/// `for variable in range { .. }`, from `in` on.
fn repeated(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Span,
    variable: Ident,
    context: &mut Context<'_>,
) -> syn::Result<Statement> {
    input
        .parse::<Token![in]>()
        .map_err(|error| expected(error.span(), &format!("`in range {{ .. }}` after `{variable}`")))?;
    if input.peek(syn::token::Brace) {
        return Err(expected(input.span(), "a range such as `0..N`"));
    }
    let range = input.call(Expr::parse_without_eager_brace)?;
    if !input.peek(syn::token::Brace) {
        return Err(expected(input.span(), "`{ .. }`: the nodes that are repeated"));
    }
    let content;
    braced!(content in input);
    let statements = nested(&content, "for", context);
    if next_is(input, "after") {
        return Err(syn::Error::new(input.span(), "a `for` has no `after`: its nodes have"));
    }
    input.parse::<Option<Token![;]>>()?;
    Ok(Statement::For(Box::new(For {
        attributes,
        keyword,
        variable,
        range,
        statements,
    })))
}

/// The statements of a body that belongs to a statement with the keyword `inside`.
pub(super) fn nested(input: ParseStream<'_>, inside: &'static str, context: &mut Context<'_>) -> Vec<Statement> {
    let outer = context.inside.replace(inside);
    let found = statements(input, context);
    context.inside = outer;
    found
}
