//! Lists of statements, and the statements that are not nodes.

use super::Context;
use super::attribute::{attributes, misplaced};
use super::base::{
    expected, expression, last_expression, next_is, present, recover, semicolon, starts_statement, unfinished,
};
use super::node::{self, Form, node};
use crate::graph::ast::{Action, Attributes, For, Param, Random, Resource, ResourceKind, Shape, Statement};
use crate::graph::keyword::Keyword;
use crate::span::last_span;
use graph_plan::Memory;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, Ident, LitStr, Token, braced, parse_quote};

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

/// Parses a statement; `None` if it does not belong here, which is reported.
fn statement(
    input: ParseStream<'_>,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    if input.peek(Token![#]) && input.peek2(Token![!]) {
        let message = "expected a statement: the graph is documented by `///` before it";
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
    if let Some(known) = Keyword::of(&keyword) {
        return statement_of(input, attributes, known, start, name, context);
    }
    if keyword == "unsafe" && starts_statement(input) {
        return misplaced_unsafe(input, attributes, &keyword, name, context);
    }
    let error = unknown_keyword(input, &keyword, name);
    let Some(meant) = name.as_ref().and_then(|_| Keyword::nearest(&keyword)) else {
        return Err(error);
    };
    // The statement is read as if it had the nearest keyword, so that the other statements keep their meaning. Nothing
    // more is said about its order or about other mistakes in it.
    context.report.aside(&error);
    attributes.astray = true;
    let found = statement_of(input, attributes, meant, keyword.span(), name, context);
    context.told = found.is_err();
    found
}

/// A statement from after its keyword, which is at `span`.
fn statement_of(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Keyword,
    span: Span,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    misplaced(&attributes.node, keyword, context.report);
    let declared: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("a name after `{keyword}`")))?;
    *name = Some(declared.clone());
    let (statement, end) = match Kind::of(keyword) {
        Kind::Node(form) => return node(input, attributes, keyword, form, declared, context).map(Some),
        Kind::Loop => return repeat(input, attributes, keyword, span, declared, context).map(Some),
        Kind::Memory(kind) => resource(input, attributes, span, kind, declared),
        Kind::Constant => constant(input, attributes, span, declared),
        Kind::Param => param(input, attributes, declared),
        Kind::Rng => rng(input, attributes, span, declared),
    }?;
    if let Err(error) = semicolon(input, end) {
        unfinished(input, &error, context);
    }
    match context.inside {
        None => Ok(Some(statement)),
        Some(inside) => {
            let name = statement.name();
            let message =
                format!("expected a node or a `for`, found `{keyword}`: declare `{name}` outside of the `{inside}`");
            context.report.syntax(span, message);
            context.unparsed.push(name.clone());
            Ok(None)
        }
    }
}

/// The form of a statement. Bodies hold nodes and loops only.
enum Kind {
    Memory(ResourceKind),
    Constant,
    Param,
    Rng,
    Loop,
    Node(Form),
}

impl Kind {
    fn of(keyword: Keyword) -> Self {
        match keyword {
            Keyword::Memory(Memory::Constant) => Self::Constant,
            Keyword::Memory(memory) => Self::Memory(ResourceKind::Own(memory)),
            Keyword::Param => Self::Param,
            Keyword::Rng => Self::Rng,
            Keyword::For | Keyword::Each => Self::Loop,
            Keyword::Kernel => Self::Node(node::KERNEL),
            Keyword::Memcpy => Self::Node(node::MEMCPY),
            Keyword::Memset => Self::Node(node::MEMSET),
            Keyword::Call => Self::Node(node::CALL),
            Keyword::Graph => Self::Node(node::GRAPH),
            Keyword::Capture => Self::Node(node::CAPTURE),
            Keyword::Raw => Self::Node(node::RAW),
            Keyword::Join => Self::Node(Form::Bare),
            Keyword::Record => Self::Node(node::RECORD),
            Keyword::Wait => Self::Node(node::WAIT),
            Keyword::If => Self::Node(node::IF),
            Keyword::While => Self::Node(node::WHILE),
            Keyword::Switch => Self::Node(node::SWITCH),
        }
    }
}

/// Reports `unsafe` before a statement, and reads the statement as if `unsafe` were where it belongs.
fn misplaced_unsafe(
    input: ParseStream<'_>,
    attributes: Attributes,
    word: &Ident,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    let message = "expected a statement, found `unsafe`: it stands before the kernel, as in `kernel k = unsafe function<<<grid, block>>>(&x)`";
    context.report.aside(&syn::Error::new(word.span(), message));
    let span = input.span();
    let next = input.call(Ident::parse_any)?;
    let Some(keyword) = Keyword::of(&next) else {
        return Err(expected(span, "a statement"));
    };
    let mut found = statement_of(input, attributes, keyword, span, name, context);
    context.told = found.is_err();
    if let Ok(Some(Statement::Node(node))) = &mut found
        && let Action::Kernel(launch) = &mut node.action
    {
        launch.unsafety = Some(Token![unsafe](word.span()));
    }
    found
}

/// The error for the first word of a statement. `name` becomes the name that the statement seems to declare.
fn unknown_keyword(input: ParseStream<'_>, keyword: &Ident, name: &mut Option<Ident>) -> syn::Error {
    let word = keyword.to_string();
    let mut text = format!("expected a statement, found `{word}`");
    match word.as_str() {
        "else" => text.push_str(": `else` follows the body of an `if`, before its `;`"),
        _ => {
            if let Some(near) = Keyword::nearest(keyword) {
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
    let end = last_span(&shape);
    let resource = Resource {
        attributes,
        keyword,
        kind,
        name,
        shape,
        random: None,
        symbol: None,
    };
    Ok((Statement::Resource(resource), end))
}

/// `: shape = "name"`
fn constant(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Span,
    name: Ident,
) -> syn::Result<(Statement, Span)> {
    let example = format!("`= \"{name}\"`: the variable's name in the PTX");
    let (mut statement, _) = resource(input, attributes, keyword, ResourceKind::Own(Memory::Constant), name)?;
    let expects = |error: syn::Error| expected(error.span(), &example);
    let equals: Token![=] = input.parse().map_err(expects)?;
    present(input, equals.span, "the variable's name in the PTX, in quotes")?;
    let symbol: LitStr = input
        .parse()
        .map_err(|error| expected(error.span(), "the variable's name in the PTX, in quotes"))?;
    let end = symbol.span();
    if let Statement::Resource(resource) = &mut statement {
        resource.symbol = Some(symbol);
    }
    Ok((statement, end))
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
    let (initial, end) = last_expression(input, "`value` after `=`")?;
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
    let (draws, end) = last_expression(input, "how many numbers a thread draws at each use")?;
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
        symbol: None,
    };
    Ok((Statement::Resource(resource), end))
}

/// `for variable in range { .. }` or `each variable in range { .. }`, from `in` on.
fn repeat(
    input: ParseStream<'_>,
    mut attributes: Attributes,
    keyword: Keyword,
    span: Span,
    variable: Ident,
    context: &mut Context<'_>,
) -> syn::Result<Statement> {
    if let Some(visibility) = &attributes.visibility {
        let message = format!("`{keyword}` has no visibility: each node in it may have one");
        context.report.syntax(visibility.span(), message);
    }
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
    let statements = context.body(&content, keyword);
    if next_is(input, "after") {
        attributes.astray = true;
        let message = match keyword {
            Keyword::Each => "an `each` has no `after`: its nodes have".to_owned(),
            _ => format!("a `{keyword}` has no `after`: its nodes have"),
        };
        let error = syn::Error::new(input.span(), message);
        unfinished(input, &error, context);
    } else {
        input.parse::<Option<Token![;]>>()?;
    }
    Ok(Statement::For(Box::new(For {
        attributes,
        parallel: keyword == Keyword::Each,
        keyword: span,
        variable,
        range,
        statements,
    })))
}
