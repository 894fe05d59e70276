//! Text to [`Item`]. A statement that cannot be parsed is reported, and parsing goes on at the next `;` or at the next
//! keyword that is followed by a name.

mod attribute;
mod launch;
mod place;

use super::ast::{Action, Attributes, Item, Node, Param, Resource, Shape, Statement};
use crate::report::Report;
use attribute::attributes;
use graph_plan::Space;
use launch::launch;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Token, Visibility, braced};

/// The keywords that start a statement of this version.
const KEYWORDS: [&str; 7] = ["host", "device", "param", "kernel", "memcpy", "memset", "join"];

/// Keywords of the language that this version does not build yet.
const LATER: [&str; 13] = [
    "scratch", "rng", "call", "graph", "capture", "raw", "record", "wait", "if", "while", "switch", "for", "else",
];

/// Parses the macro's input; `None` where not even a name and a body could be made out.
pub(crate) fn item(input: TokenStream, report: &mut Report) -> Option<Item> {
    // Kept outside, since syn also reports tokens left over after an error, which that error has told already.
    let mut found = None;
    let parser = |input: ParseStream<'_>| {
        found = Some(parse_item(input, report)?);
        if !input.is_empty() {
            report.syntax(
                input.span(),
                "expected the end of the graph: one `cuda_graph!` declares one graph",
            );
            input.parse::<TokenStream>()?;
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(input)
        && (found.is_none() || !report.has_errors())
    {
        report.syn(&error);
    }
    found
}

fn parse_item(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Item> {
    let attributes = attributes(input, report)?;
    let visibility: Visibility = input.parse()?;
    let keyword: Option<Ident> = input
        .peek(Ident::peek_any)
        .then(|| input.call(Ident::parse_any))
        .transpose()?;
    if keyword.as_ref().is_none_or(|keyword| keyword != "graph") {
        let span = keyword.map_or_else(|| input.span(), |keyword| keyword.span());
        return Err(syn::Error::new(
            span,
            "expected a declaration such as `pub graph Name { .. }`",
        ));
    }
    let name: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), "a name after `graph`"))?;
    let mut generics: syn::Generics = input.parse()?;
    if input.peek(syn::token::Paren) {
        let span = input.span();
        input.parse::<TokenTree>()?;
        report.syntax(span, "build arguments are not supported yet");
    }
    generics.where_clause = input.parse()?;
    if !input.peek(syn::token::Brace) {
        return Err(expected(input.span(), "`{ .. }`: a graph has a body"));
    }
    let content;
    braced!(content in input);
    let (statements, unparsed) = body(&content, report);
    Ok(Item {
        attributes,
        visibility,
        name,
        generics,
        statements,
        unparsed,
    })
}

/// Parses statements up to the end; returns those that could be parsed and the names of those that could not.
fn body(input: ParseStream<'_>, report: &mut Report) -> (Vec<Statement>, Vec<Ident>) {
    let (mut statements, mut unparsed) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        let start = input.span();
        let mut name = None;
        match statement(input, &mut name, report) {
            Ok(statement) => statements.push(statement),
            Err(error) => {
                report.syn(&error);
                unparsed.extend(name);
                recover(input, start);
            }
        }
    }
    (statements, unparsed)
}

/// Skips to behind the next `;`, or to the next statement; at least one token if none was read since `start`.
fn recover(input: ParseStream<'_>, start: Span) {
    let mut first = format!("{:?}", input.span()) == format!("{start:?}");
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
fn starts_statement(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.peek(Token![#]) {
        return ahead.peek2(syn::token::Bracket);
    }
    let keyword = ahead
        .call(Ident::parse_any)
        .is_ok_and(|word| KEYWORDS.iter().chain(&LATER).any(|keyword| word == keyword));
    keyword && ahead.peek(Ident)
}

fn statement(input: ParseStream<'_>, name: &mut Option<Ident>, report: &mut Report) -> syn::Result<Statement> {
    let attributes = attributes(input, report)?;
    let start = input.span();
    let keyword = input.call(Ident::parse_any).map_err(|_| {
        syn::Error::new(
            start,
            "expected a statement: `host`, `device`, `param`, `kernel`, `memcpy`, `memset` or `join`",
        )
    })?;
    let word = keyword.to_string();
    if LATER.contains(&word.as_str()) {
        *name = input.parse().ok();
        return Err(syn::Error::new(
            keyword.span(),
            format!("`{word}` statements are not supported yet"),
        ));
    }
    if !KEYWORDS.contains(&word.as_str()) {
        return Err(unknown_keyword(&keyword));
    }
    let declared: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("a name after `{word}`")))?;
    *name = Some(declared.clone());
    match word.as_str() {
        "host" => resource(input, attributes, Space::Host, declared),
        "device" => resource(input, attributes, Space::Device, declared),
        "param" => param(input, attributes, declared),
        _ => node(input, attributes, &word, declared),
    }
}

fn unknown_keyword(keyword: &Ident) -> syn::Error {
    let word = keyword.to_string();
    let mut text = format!("expected a statement, found `{word}`");
    if let Some(near) = graph_plan::nearest(&word, KEYWORDS) {
        text.push_str(&format!("; did you mean `{near}`?"));
    }
    syn::Error::new(keyword.span(), text)
}

fn expected(span: Span, what: &str) -> syn::Error {
    syn::Error::new(span, format!("expected {what}"))
}

fn resource(input: ParseStream<'_>, attributes: Attributes, space: Space, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: shape` after `{name}`")))?;
    let shape: Shape = input.parse()?;
    semicolon(input, last_token(&shape))?;
    Ok(Statement::Resource(Resource {
        attributes,
        space,
        name,
        shape,
    }))
}

fn param(input: ParseStream<'_>, attributes: Attributes, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: type = value` after `{name}`")))?;
    let ty = input.parse()?;
    input
        .parse::<Token![=]>()
        .map_err(|error| expected(error.span(), "`= value`: a `param` has an initial value"))?;
    let initial: Expr = input.parse()?;
    semicolon(input, last_token(&initial))?;
    Ok(Statement::Param(Param {
        attributes,
        name,
        ty,
        initial,
    }))
}

fn node(input: ParseStream<'_>, attributes: Attributes, keyword: &str, name: Ident) -> syn::Result<Statement> {
    let equals = |input: ParseStream<'_>, form: &str| {
        input
            .parse::<Token![=]>()
            .map_err(|error| expected(error.span(), &format!("`= {form}` after `{name}`")))
    };
    let action = match keyword {
        "kernel" => {
            equals(input, "kernel<<<grid, block>>>(arguments)")?;
            Action::Kernel(Box::new(launch(input)?))
        }
        "memcpy" => {
            equals(input, "source -> destination")?;
            let from = input.parse()?;
            input
                .parse::<Token![->]>()
                .map_err(|error| expected(error.span(), "`-> destination`"))?;
            Action::Memcpy {
                from,
                to: input.parse()?,
            }
        }
        "memset" => {
            equals(input, "destination <- value")?;
            let to = input.parse()?;
            input
                .parse::<Token![<-]>()
                .map_err(|error| expected(error.span(), "`<- value`"))?;
            Action::Memset {
                to,
                value: input.parse()?,
            }
        }
        _ => Action::Join,
    };
    let after = after(input)?;
    let end = after.last().map_or_else(|| action_end(&action, &name), Ident::span);
    semicolon(input, end)?;
    let node = Node {
        attributes,
        name,
        action,
        after,
    };
    Ok(Statement::Node(Box::new(node)))
}

fn after(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if !next_is(input, "after") {
        return Ok(Vec::new());
    }
    input.call(Ident::parse_any)?;
    let mut names = Vec::new();
    loop {
        let name: Ident = input
            .parse()
            .map_err(|error| expected(error.span(), "the name of a node after `after`"))?;
        if name == "programmatic" && input.peek(syn::token::Paren) {
            return Err(syn::Error::new(
                name.span(),
                "`programmatic` edges are not supported yet",
            ));
        }
        names.push(name);
        if !input.peek(Token![,]) {
            return Ok(names);
        }
        input.parse::<Token![,]>()?;
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

/// The last token of what a node does.
fn action_end(action: &Action, name: &Ident) -> Span {
    match action {
        Action::Kernel(launch) => launch.parens,
        Action::Memcpy { to, .. } => to.end,
        Action::Memset { value, .. } => last_token(value),
        Action::Join => name.span(),
    }
}

/// The span of the last token.
fn last_token(tokens: &impl ToTokens) -> Span {
    tokens
        .to_token_stream()
        .into_iter()
        .last()
        .map_or_else(Span::call_site, |token| token.span())
}

fn next_is(input: ParseStream<'_>, word: &str) -> bool {
    input.fork().call(Ident::parse_any).is_ok_and(|next| next == word)
}
