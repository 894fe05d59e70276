//! Nodes: their actions and their `after` lists.

use super::Context;
use super::base::{
    last_comma, last_expression, next_is, present, refuse, require, semicolon, starts_statement, take, unfinished,
};
use super::child::child;
use super::closure::{call, library};
use super::collective::collective;
use super::conditional::{conditional, switch};
use super::launch::{kernel, launch};
use super::place::place;
use crate::graph::ast::{Action, Attributes, Dependency, Iteration, Node, Statement};
use crate::span::last_span;
use graph_plan::{Family, NodeKind};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token, parenthesized};

/// A node from after its name.
pub(super) fn node(
    input: ParseStream<'_>,
    mut attributes: Attributes,
    kind: NodeKind,
    name: Ident,
    context: &mut Context<'_>,
) -> syn::Result<Statement> {
    let (action, end) = if kind == NodeKind::Join {
        (Action::Join, name.span())
    } else {
        let form = form(kind);
        let unnamed = kind.family() == Family::Conditional && input.peek(syn::token::Brace);
        refuse(
            input,
            unnamed,
            format_args!(
                "`= {form}`: a conditional has a name, as in `{} choice = {name} {{ .. }}`",
                kind.keyword()
            ),
        )?;
        let equals: Token![=] = take(input, format_args!("`= {form}` after `{name}`"))?;
        present(input, equals.span, format_args!("`{form}` after `=`"))?;
        action(input, kind, context)?
    };
    let mut found = Vec::new();
    let order = after(input, &mut found);
    let missing = order.is_ok() && (input.is_empty() || starts_statement(input));
    let last = found.last().map_or(end, |(_, end)| *end);
    if let Err(error) = order.and_then(|()| semicolon(input, last)) {
        // The tokens that are left may be its `after` list.
        if !missing {
            attributes.astray = true;
            found.clear();
        }
        unfinished(input, &error, context);
    }
    Ok(Statement::Node(Box::new(Node {
        attributes,
        kind,
        name,
        action,
        after: found.into_iter().map(|(dependency, _)| dependency).collect(),
    })))
}

/// The form of an action in messages.
fn form(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Kernel => "kernel<<<grid, block>>>(arguments)",
        NodeKind::Memcpy => "source -> destination",
        NodeKind::Memset => "destination <- value",
        NodeKind::Call => "|&input, &mut output| expression",
        NodeKind::Graph => "Graph(name: &memory)",
        NodeKind::Capture => "(&input, &mut output) |stream| expression",
        NodeKind::Raw => "unsafe (&input, &mut output) |graph, after| expression",
        NodeKind::Record | NodeKind::Wait => "event",
        NodeKind::If | NodeKind::While => "flag { .. }",
        NodeKind::Switch => "index { { .. } { .. } }",
        NodeKind::AllReduce => "memory over communicator",
        NodeKind::AllGather | NodeKind::ReduceScatter => "source -> destination over communicator",
        NodeKind::Broadcast => "memory from rank over communicator",
        NodeKind::Exchange => "send memory to rank, recv memory from rank over communicator",
        NodeKind::Join => "",
    }
}

/// An action, and its last token.
fn action(input: ParseStream<'_>, kind: NodeKind, context: &mut Context<'_>) -> syn::Result<(Action, Span)> {
    Ok(match kind.family() {
        Family::Kernel => {
            let ahead = input.fork();
            let launch = launch(input).inspect_err(|_| context.kernels.extend(kernel(&ahead)))?;
            let end = launch.parens;
            (Action::Kernel(Box::new(launch)), end)
        }
        Family::Copy if kind == NodeKind::Memcpy => {
            let from = place(input)?;
            let reversed = input.peek(Token![<-]);
            refuse(input, reversed, "`-> destination`: a copy is `source -> destination`")?;
            let arrow: Token![->] = take(input, "`-> destination`")?;
            present(input, arrow.span(), "`destination` after `->`")?;
            let to = place(input)?;
            let end = to.end;
            (Action::Memcpy { from, to }, end)
        }
        Family::Copy => {
            let to = place(input)?;
            let copy = input.peek(Token![->]);
            refuse(
                input,
                copy,
                "`<- value`: a copy is `memcpy name = source -> destination`",
            )?;
            let arrow: Token![<-] = take(input, "`<- value`")?;
            present(input, arrow.span(), "`value` after `<-`")?;
            let (value, end) = last_expression(input, "`value` after `<-`")?;
            let value = Box::new(value);
            (Action::Memset { to, value }, end)
        }
        Family::Call => {
            let call = call(input)?;
            let end = last_span(&call.body);
            (Action::Call(Box::new(call)), end)
        }
        Family::Child => {
            let child = child(input)?;
            let end = child.parens;
            (Action::Graph(Box::new(child)), end)
        }
        Family::Library => {
            let library = library(input, kind == NodeKind::Raw)?;
            let last = library.stand_in.as_ref().map_or(&library.body, |other| &other.body);
            let end = last_span(last);
            (Action::Library(Box::new(library)), end)
        }
        Family::Event => {
            let (event, end) = last_expression(input, "an event")?;
            (Action::Event(Box::new(event)), end)
        }
        Family::Conditional if kind == NodeKind::Switch => switch(input, context)?,
        Family::Conditional => conditional(input, kind, context)?,
        Family::Collective => collective(input, kind)?,
        Family::Join => (Action::Join, input.span()),
    })
}

const NAME: &str = "the name of a node after `after`: name a node, or remove `after`";

/// `after a, programmatic(b),`, each with its last token.
fn after(input: ParseStream<'_>, found: &mut Vec<(Dependency, Span)>) -> syn::Result<()> {
    if !next_is(input, "after") {
        return Ok(());
    }
    let mut last = input.call(Ident::parse_any)?.span();
    loop {
        present(input, last, NAME)?;
        let ended = input.is_empty() || input.peek(Token![;]);
        if let Some((_, end)) = found.last_mut().filter(|_| ended) {
            *end = last; // the comma that ends the list
            return Ok(());
        }
        found.push(dependency(input)?);
        refuse(
            input,
            next_is(input, "after"),
            "`,`: one `after` has all that a node runs after",
        )?;
        if !input.peek(Token![,]) {
            return Ok(());
        }
        last = input.parse::<Token![,]>()?.span;
    }
}

fn dependency(input: ParseStream<'_>) -> syn::Result<(Dependency, Span)> {
    let enclosed = input.peek(syn::token::Paren) || input.peek(syn::token::Bracket);
    refuse(input, enclosed, "names without brackets: `after a, b`")?;
    let name: Ident = take(input, NAME)?;
    if name != "programmatic" || !input.peek(syn::token::Paren) {
        return named(input, name, None);
    }
    let content;
    let end = parenthesized!(content in input).span.close();
    let upstream: Ident = take(&content, "the name of a node in `programmatic(..)`")?;
    let (dependency, _) = named(&content, upstream, Some(name))?;
    last_comma(&content)?;
    require(
        &content,
        content.is_empty(),
        "`)`: each edge has a `programmatic(..)` of its own",
    )?;
    Ok((dependency, end))
}

/// A node that was named, with the numbers of its iteration if they follow: `k(i - 1, j)`.
fn named(input: ParseStream<'_>, name: Ident, programmatic: Option<Ident>) -> syn::Result<(Dependency, Span)> {
    if input.peek(syn::token::Bracket) {
        let message = format!(
            "a node of another iteration of an `each` is named with parentheses: `after {name}(i - 1)`; outside of the \
             loop, `after {name}` is after all of its iterations"
        );
        return Err(syn::Error::new(input.span(), message));
    }
    let (mut end, mut iteration) = (name.span(), None);
    if input.peek(syn::token::Paren) {
        let content;
        end = parenthesized!(content in input).span.close();
        let numbers = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        iteration = Some(Iteration {
            numbers: numbers.into_iter().collect(),
            end,
        });
    }
    let dependency = Dependency {
        name,
        iteration,
        programmatic,
    };
    Ok((dependency, end))
}
