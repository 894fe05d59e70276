//! Lists of statements, and the statements that are not nodes.

use super::Context;
use super::attribute::{attributes, misplaced};
use super::base::{
    expected, expression, last_expression, next_is, present, recover, refuse, require, semicolon, starts_statement,
    take, unfinished,
};
use super::node::node;
use crate::graph::ast::{Action, Attributes, For, Let, Param, Random, Resource, ResourceKind, Shape, Statement};
use crate::graph::keyword::Keyword;
use crate::report::error;
use crate::span::last_span;
use graph_plan::{Code, Memory};
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Ident, LitStr, Token, braced, bracketed, parse_quote};

/// Parses statements up to the end and returns those that could be parsed.
pub(super) fn statements(input: ParseStream<'_>, context: &mut Context<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    while !input.is_empty() {
        let start = input.span();
        if next_is(input, "after")
            && let Some(Statement::Node(node)) = found.last_mut()
        {
            node.attributes.astray = true; // the list belongs to it
        }
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

/// Parses `#![after(auto)]`, the first line of a graph. Returns whether it is there; a mistake in it is reported.
pub(super) fn after_auto(input: ParseStream<'_>, context: &mut Context<'_>) -> bool {
    let found = inner_attribute(&input.fork());
    let Ok((word, content)) = found else { return false };
    if word != "after" {
        return false;
    }
    drop(inner_attribute(input));
    let words: Vec<String> = content
        .into_iter()
        .map(|token| token.to_string().replace(' ', ""))
        .collect();
    if words != ["(auto)"] {
        context.report.syntax(word.span(), "expected `#![after(auto)]`");
    }
    true
}

/// `#![word ..]`: the word, and the tokens after it.
pub(super) fn inner_attribute(input: ParseStream<'_>) -> syn::Result<(Ident, TokenStream)> {
    input.parse::<Token![#]>()?;
    input.parse::<Token![!]>()?;
    let content;
    bracketed!(content in input);
    Ok((content.call(Ident::parse_any)?, content.parse()?))
}

/// Parses a statement; `None` if it does not belong here, which is reported.
fn statement(
    input: ParseStream<'_>,
    name: &mut Option<Ident>,
    context: &mut Context<'_>,
) -> syn::Result<Option<Statement>> {
    if input.peek(Token![#]) && input.peek2(Token![!]) {
        let message = match inner_attribute(&input.fork()) {
            Ok((word, _)) if word == "after" => "expected a statement: `#![after(auto)]` is the first line of a graph",
            _ => "expected a statement: the graph is documented by `///` before it",
        };
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
    let declared: Ident = take(input, format_args!("a name after `{keyword}`"))?;
    *name = Some(declared.clone());
    let of_memory = |(resource, end)| (Statement::Resource(resource), end);
    let (statement, end) = match keyword {
        Keyword::Node(kind) => return node(input, attributes, kind, declared, context).map(Some),
        Keyword::For | Keyword::Each => return repeat(input, attributes, keyword, span, declared, context).map(Some),
        Keyword::Param => param(input, attributes, declared)?,
        Keyword::Let => value(input, attributes, declared, context)?,
        Keyword::Rng => of_memory(rng(input, attributes, span, declared)?),
        Keyword::Memory(Memory::Constant) => of_memory(constant(input, attributes, span, declared)?),
        Keyword::Memory(memory) => of_memory(resource(input, attributes, span, memory, declared)?),
    };
    let ended = match keyword {
        Keyword::Memory(_) => no_value(input, name.as_ref()),
        _ => Ok(()),
    };
    if let Err(error) = ended.and_then(|()| semicolon(input, end)) {
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

/// Fails if an initial value follows the shape of memory.
fn no_value(input: ParseStream<'_>, name: Option<&Ident>) -> syn::Result<()> {
    let name = name.map(Ident::to_string).unwrap_or_default();
    let message = format!(
        "`;`: memory has no initial value. A node sets it in each launch, as in `memset fill = {name} <- value;`"
    );
    refuse(input, input.peek(Token![=]), message)
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
        "after" => text.push_str(": `after` stands before the `;` of its node"),
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
    memory: Memory,
    name: Ident,
) -> syn::Result<(Resource, Span)> {
    let colon: Token![:] = take(input, format_args!("`: shape` after `{name}`"))?;
    present(input, colon.span, "a type such as `f32` or `[f32; 1024]`")?;
    let shape: Shape = input.parse()?;
    let mut end = last_span(&shape);
    let mut resource = Resource::new(attributes, keyword, ResourceKind::Own(memory), name, shape);
    if input.peek(Token![,]) && memory.may_be_uniform() {
        input.parse::<Token![,]>()?;
        require(
            input,
            next_is(input, "uniform"),
            "`uniform`: the promise that the memory holds the same on all ranks when a launch begins",
        )?;
        let word = input.call(Ident::parse_any)?;
        end = word.span();
        resource.uniform = Some(word);
    }
    Ok((resource, end))
}

/// `: shape = "name"`
fn constant(
    input: ParseStream<'_>,
    attributes: Attributes,
    keyword: Span,
    name: Ident,
) -> syn::Result<(Resource, Span)> {
    let quoted = "the variable's name in the PTX, in quotes";
    let (mut resource, _) = resource(input, attributes, keyword, Memory::Constant, name)?;
    let example = format_args!("`= \"{}\"`: the variable's name in the PTX", resource.name);
    let equals: Token![=] = take(input, example)?;
    present(input, equals.span, quoted)?;
    let symbol: LitStr = take(input, quoted)?;
    let end = symbol.span();
    resource.symbol = Some(symbol);
    Ok((resource, end))
}

fn param(input: ParseStream<'_>, attributes: Attributes, name: Ident) -> syn::Result<(Statement, Span)> {
    take::<Token![:]>(input, format_args!("`: type = value` after `{name}`"))?;
    let ty = input.parse()?;
    let equals: Token![=] = take(input, "`= value`: a `param` has an initial value")?;
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

/// `: type = value` or `= value`
fn value(
    input: ParseStream<'_>,
    attributes: Attributes,
    name: Ident,
    context: &mut Context<'_>,
) -> syn::Result<(Statement, Span)> {
    if let Some(visibility) = &attributes.visibility {
        let message = "`let` has no visibility: it names a value, for which a graph has no accessor";
        context.report.push_at(visibility, &error(Code::Syntax, message));
    }
    let colon: Option<Token![:]> = input.parse()?;
    let ty = colon.map(|_| take(input, "a type after `:`")).transpose()?;
    let equals: Token![=] = take(input, format_args!("`= value` after `{name}`"))?;
    present(input, equals.span, "`value` after `=`")?;
    let (value, end) = last_expression(input, "`value` after `=`")?;
    let found = Let {
        attributes,
        name,
        ty,
        value,
    };
    Ok((Statement::Let(found), end))
}

/// `seed, draws n`, where `draws` is a keyword.
fn rng(input: ParseStream<'_>, attributes: Attributes, keyword: Span, name: Ident) -> syn::Result<(Resource, Span)> {
    take::<Token![=]>(input, format_args!("`= seed, draws n` after `{name}`"))?;
    let seed = expression(input, "a seed: `rng noise = 42, draws 4;`")?;
    let form = "`, draws n`: how many numbers a thread draws at each use";
    take::<Token![,]>(input, form)?;
    let form = "`draws n`: how many numbers a thread draws at each use";
    require(input, next_is(input, "draws"), form)?;
    let word = input.call(Ident::parse_any)?;
    if input.peek(Token![=]) {
        return Err(expected(word.span(), form));
    }
    let (draws, end) = last_expression(input, "how many numbers a thread draws at each use")?;
    let shape = Shape::scalar(parse_quote!(::graph_runtime::Philox));
    let mut resource = Resource::new(attributes, keyword, ResourceKind::Rng, name, shape);
    resource.random = Some(Box::new(Random { seed, draws }));
    Ok((resource, end))
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
        context.report.push_at(visibility, &error(Code::Syntax, message));
    }
    take::<Token![in]>(input, format_args!("`in range {{ .. }}` after `{variable}`"))?;
    refuse(input, input.peek(syn::token::Brace), "a range such as `0..N`")?;
    let range = input.call(Expr::parse_without_eager_brace)?;
    require(
        input,
        input.peek(syn::token::Brace),
        "`{ .. }`: the nodes that are repeated",
    )?;
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
