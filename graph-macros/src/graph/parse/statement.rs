//! Statements, one after the other; here those that are no nodes.

use super::attribute::{attributes, misplaced};
use super::node::node;
use super::{Context, expected, expression, last_token, next_is, present, semicolon, stands_at};
use crate::graph::ast::{Action, Attributes, For, Param, Random, Resource, ResourceKind, Shape, Statement};
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
                context.tell(&error);
                context.unparsed.extend(name);
                recover(input, start);
            }
        }
    }
    found
}

/// Skips to behind the next `;`, or to the next statement; at least one token if none was read since `start`.
fn recover(input: ParseStream<'_>, start: Span) {
    skip(input, stands_at(input, start));
}

/// Skips to behind the next `;`, or to the next statement; at least one token if `first`.
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
    if input.peek(Token![#]) && input.peek2(Token![!]) {
        let message = "expected a statement: what documents the graph is `///` in front of it";
        return Err(syn::Error::new(input.span(), message));
    }
    let mut attributes = attributes(input, context.report)?;
    let start = input.span();
    let keyword = input.call(Ident::parse_any).map_err(|_| {
        expected(
            start,
            "a statement such as `device x: shape;` or `kernel k = function<<<grid, block>>>(&x);`",
        )
    })?;
    if KEYWORDS.iter().any(|known| keyword == known) {
        return known(input, attributes, keyword, name, context);
    }
    if keyword == "unsafe" && starts_statement(input) {
        return misplaced_unsafe(input, attributes, &keyword, name, context);
    }
    let error = unknown_keyword(input, &keyword, name);
    let Some(meant) = name.as_ref().and_then(|_| meant(&keyword)) else {
        return Err(error);
    };
    // What was meant is clear enough to know what the other statements mean, not to say more of this one's order or of what is wrong in it.
    context.report.aside(&error);
    attributes.astray = true;
    let keyword = Ident::new(meant, keyword.span());
    let found = known(input, attributes, keyword, name, context);
    context.told = found.is_err();
    found
}

/// A statement from behind its keyword.
fn known(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Ident,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    let (word, span) = (keyword.to_string(), keyword.span());
    misplaced(&attributes.node, &word, context.report);
    let declared: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("a name after `{word}`")))?;
    *name = Some(declared.clone());
    let statement = match word.as_str() {
        "for" => repeated(input, attributes, span, declared, context),
        "host" | "device" | "scratch" | "param" | "rng" => {
            let (statement, end) = match word.as_str() {
                "host" => resource(input, attributes, span, ResourceKind::Host, declared),
                "device" => resource(input, attributes, span, ResourceKind::Device, declared),
                "scratch" => resource(input, attributes, span, ResourceKind::Scratch, declared),
                "param" => param(input, attributes, declared),
                _ => rng(input, attributes, span, declared),
            }?;
            if let Err(error) = semicolon(input, end) {
                unfinished(input, &error, context);
            }
            Ok(statement)
        }
        _ => node(input, attributes, keyword, declared, context),
    }?;
    Ok(belongs_here(&statement, &word, span, context).then_some(statement))
}

/// Reports what is wrong behind a statement, which stands all the same, and goes on at the next.
pub(super) fn unfinished(input: ParseStream<'_>, error: &syn::Error, context: &mut Context<'_>) {
    context.report.aside(error);
    if !starts_statement(input) {
        skip(input, false);
    }
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

/// `unsafe` in front of a statement, which is taken as if it stood where it belongs.
fn misplaced_unsafe(
    input: ParseStream<'_>,
    attributes: Attributes,
    word: &Ident,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    let message = "expected a statement, found `unsafe`: it stands before the kernel, as in `kernel k = unsafe function<<<grid, block>>>(&x)`";
    context.report.aside(&syn::Error::new(word.span(), message));
    let keyword = input.call(Ident::parse_any)?;
    let mut found = known(input, attributes, keyword, name, context);
    context.told = found.is_err();
    if let Ok(Some(Statement::Node(node))) = &mut found
        && let Action::Kernel(launch) = &mut node.action
    {
        launch.unsafety = Some(Token![unsafe](word.span()));
    }
    found
}

/// The keyword for which another word may stand: one that is spelled otherwise.
fn meant(word: &Ident) -> Option<&'static str> {
    graph_plan::nearest(&word.to_string().to_lowercase(), KEYWORDS)
}

/// What is wrong with the first word of a statement, and `name`, what the statement seems to declare.
fn unknown_keyword(input: ParseStream<'_>, keyword: &Ident, name: &mut Option<Ident>) -> syn::Error {
    let word = keyword.to_string();
    let mut text = format!("expected a statement, found `{word}`");
    match word.as_str() {
        "else" => text.push_str(": `else` follows the body of an `if`, before its `;`"),
        "pub" => text.push_str(": statements have no visibility"),
        _ => {
            if let Some(near) = meant(keyword) {
                text.push_str(&format!("; did you mean `{near}`?"));
            }
        }
    }
    let ahead = input.fork();
    if ahead.peek(Token![mut]) {
        drop(ahead.parse::<Token![mut]>());
    }
    if !starts_statement(input) {
        *name = ahead.parse().ok();
    }
    syn::Error::new(keyword.span(), text)
}

fn resource(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Span,
    kind: ResourceKind,
    name: Ident,
) -> syn::Result<(Statement, Span)> {
    let colon: Token![:] = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("`: shape` after `{name}`")))?;
    present(input, colon.span, "a type such as `f32` or `[f32; 1024]`")?;
    let shape: Shape = input.parse()?;
    let end = last_token(&shape);
    let resource = Resource {
        attributes,
        keyword,
        kind,
        name,
        shape,
        random: None,
    };
    Ok((Statement::Resource(resource), end))
}

fn param(input: ParseStream<'_>, attributes: Attributes, name: Ident) -> syn::Result<(Statement, Span)> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: type = value` after `{name}`")))?;
    let ty = input.parse()?;
    let equals: Token![=] = input
        .parse()
        .map_err(|error| expected(error.span(), "`= value`: a `param` has an initial value"))?;
    present(input, equals.span, "`value` after `=`")?;
    let initial = expression(input, "`value` after `=`")?;
    let end = last_token(&initial);
    let param = Param {
        attributes,
        name,
        ty,
        initial,
    };
    Ok((Statement::Param(param), end))
}

/// `seed, draws n`, where `draws` is a keyword.
fn rng(input: ParseStream<'_>, attributes: Attributes, keyword: Span, name: Ident) -> syn::Result<(Statement, Span)> {
    input
        .parse::<Token![=]>()
        .map_err(|error| expected(error.span(), &format!("`= seed, draws n` after `{name}`")))?;
    let seed = expression(input, "a seed: `rng noise = 42, draws 4;`")?;
    let form = "`, draws n`: how many numbers a thread draws at each use";
    input
        .parse::<Token![,]>()
        .map_err(|error| expected(error.span(), form))?;
    let form = "`draws n`: how many numbers a thread draws at each use";
    if !next_is(input, "draws") {
        return Err(expected(input.span(), form));
    }
    let word = input.call(Ident::parse_any)?;
    if input.peek(Token![=]) {
        return Err(expected(word.span(), form));
    }
    let draws = expression(input, "how many numbers a thread draws at each use")?;
    let end = last_token(&draws);
    let resource = Resource {
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
    };
    Ok((Statement::Resource(resource), end))
}

/// `for variable in range { .. }`, from `in` on.
fn repeated(
    input: ParseStream<'_>,
    mut attributes: Attributes,
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
        attributes.astray = true;
        let error = syn::Error::new(input.span(), "a `for` has no `after`: its nodes have");
        unfinished(input, &error, context);
    } else {
        input.parse::<Option<Token![;]>>()?;
    }
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
