//! Nodes: what each does, and what it runs after.

use super::child::child;
use super::closure::{call, capture, raw};
use super::conditional::{conditional, repeated_while, switch};
use super::launch::{kernel, launch};
use super::statement::{starts_statement, unfinished};
use super::{Context, expected, expression, last_token, next_is, present, semicolon};
use crate::graph::ast::{Action, Attributes, Dependency, Node, Place, Statement};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Ident, Token, parenthesized};

/// A node from behind its name.
pub(super) fn node(
    input: ParseStream<'_>,
    mut attributes: Attributes,
    keyword: Ident,
    name: Ident,
    context: &mut Context<'_>,
) -> syn::Result<Statement> {
    let (action, end) = match form(&keyword.to_string()) {
        None => (Action::Join, name.span()),
        Some(form) => {
            let equals: Token![=] = input
                .parse()
                .map_err(|error| expected(error.span(), &format!("`= {form}` after `{name}`")))?;
            present(input, equals.span, &format!("`{form}` after `=`"))?;
            action(input, &keyword.to_string(), context)?
        }
    };
    let mut found = Vec::new();
    let order = after(input, &mut found);
    let missing = order.is_ok() && (input.is_empty() || starts_statement(input));
    let last = found.last().map_or(end, |(_, end)| *end);
    if let Err(error) = order.and_then(|()| semicolon(input, last)) {
        // What else stands there may be about its order.
        if !missing {
            attributes.astray = true;
            found.clear();
        }
        unfinished(input, &error, context);
    }
    Ok(Statement::Node(Box::new(Node {
        attributes,
        keyword,
        name,
        action,
        after: found.into_iter().map(|(dependency, _)| dependency).collect(),
    })))
}

/// What stands behind the `=` of a node; `None` for a node that has none.
fn form(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "kernel" => "kernel<<<grid, block>>>(arguments)",
        "memcpy" => "source -> destination",
        "memset" => "destination <- value",
        "call" => "|&input, &mut output| expression",
        "graph" => "Graph(name: &memory)",
        "capture" => "(&input, &mut output) |stream| expression",
        "raw" => "unsafe (&input, &mut output) |graph, after| expression",
        "record" | "wait" => "event",
        "if" | "while" => "flag { .. }",
        "switch" => "index { { .. } { .. } }",
        _ => return None,
    })
}

/// What a node does, and its last token.
fn action(input: ParseStream<'_>, keyword: &str, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    Ok(match keyword {
        "memcpy" => memcpy(input)?,
        "memset" => memset(input)?,
        "call" => {
            let call = call(input)?;
            let end = last_token(&call.body);
            (Action::Call(Box::new(call)), end)
        }
        "graph" => {
            let child = child(input)?;
            let end = child.parens;
            (Action::Graph(Box::new(child)), end)
        }
        "capture" => {
            let capture = capture(input)?;
            let end = last_token(&capture.body);
            (Action::Capture(Box::new(capture)), end)
        }
        "raw" => {
            let raw = raw(input)?;
            let end = last_token(&raw.body);
            (Action::Raw(Box::new(raw)), end)
        }
        "record" => event(input, Action::Record)?,
        "wait" => event(input, Action::Wait)?,
        "if" => conditional(input, context)?,
        "while" => repeated_while(input, context)?,
        "switch" => switch(input, context)?,
        _ => {
            let ahead = input.fork();
            let launch = launch(input).inspect_err(|_| context.kernels.extend(kernel(&ahead)))?;
            let end = launch.parens;
            (Action::Kernel(Box::new(launch)), end)
        }
    })
}

/// The place that a copy or a memset is about.
fn place(input: ParseStream<'_>) -> syn::Result<Place> {
    if input.peek(Token![&]) {
        return Err(expected(input.span(), "the name of a resource, without `&`"));
    }
    input.parse()
}

fn memcpy(input: ParseStream<'_>) -> syn::Result<(Action, Span)> {
    let from = place(input)?;
    let arrow: Token![->] = input
        .parse()
        .map_err(|error| expected(error.span(), "`-> destination`"))?;
    present(input, arrow.span(), "`destination` after `->`")?;
    let to = place(input)?;
    let end = to.end;
    Ok((Action::Memcpy { from, to }, end))
}

fn memset(input: ParseStream<'_>) -> syn::Result<(Action, Span)> {
    let to = place(input)?;
    let arrow: Token![<-] = input.parse().map_err(|error| expected(error.span(), "`<- value`"))?;
    present(input, arrow.span(), "`value` after `<-`")?;
    let value = Box::new(expression(input, "`value` after `<-`")?);
    let end = last_token(&value);
    Ok((Action::Memset { to, value }, end))
}

fn event(input: ParseStream<'_>, action: fn(Box<syn::Expr>) -> Action) -> syn::Result<(Action, Span)> {
    let event = expression(input, "an event")?;
    let end = last_token(&event);
    Ok((action(Box::new(event)), end))
}

/// `after a, programmatic(b)`, each with its last token.
fn after(input: ParseStream<'_>, found: &mut Vec<(Dependency, Span)>) -> syn::Result<()> {
    if !next_is(input, "after") {
        return Ok(());
    }
    let mut last = input.call(Ident::parse_any)?.span();
    loop {
        present(input, last, "the name of a node after `after`")?;
        found.push(dependency(input)?);
        if next_is(input, "after") {
            return Err(expected(
                input.span(),
                "`,`: one `after` has all that a node runs after",
            ));
        }
        if !input.peek(Token![,]) {
            return Ok(());
        }
        last = input.parse::<Token![,]>()?.span;
    }
}

fn dependency(input: ParseStream<'_>) -> syn::Result<(Dependency, Span)> {
    let name: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), "the name of a node after `after`"))?;
    if name != "programmatic" || !input.peek(syn::token::Paren) {
        let end = name.span();
        if input.peek(syn::token::Paren) {
            let message = format!("`{name}(..)` is no edge: there is `programmatic(..)`");
            return Err(syn::Error::new(end, message));
        }
        if input.peek(syn::token::Bracket) {
            let message =
                format!("a node of a `for` is named without an index: `after {name}` is after its last iteration");
            return Err(syn::Error::new(input.span(), message));
        }
        let programmatic = None;
        return Ok((Dependency { name, programmatic }, end));
    }
    let content;
    let end = parenthesized!(content in input).span.close();
    let upstream: Ident = content
        .parse()
        .map_err(|error| expected(error.span(), "the name of a node in `programmatic(..)`"))?;
    if !content.is_empty() {
        return Err(expected(
            content.span(),
            "`)`: each edge has a `programmatic(..)` of its own",
        ));
    }
    let dependency = Dependency {
        name: upstream,
        programmatic: Some(name),
    };
    Ok((dependency, end))
}
