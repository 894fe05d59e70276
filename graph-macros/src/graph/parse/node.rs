//! Nodes: their actions and their `after` lists.

use super::Context;
use super::base::{expected, last_comma, last_expression, next_is, present, semicolon, starts_statement, unfinished};
use super::child::child;
use super::closure::{call, capture, raw};
use super::conditional::{conditional, loop_while, switch};
use super::launch::{kernel, launch};
use crate::graph::ast::{Action, Attributes, Dependency, Iteration, Node, Place, Statement};
use crate::graph::keyword::Keyword;
use crate::span::last_span;
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
    keyword: Keyword,
    form: Form,
    name: Ident,
    context: &mut Context<'_>,
) -> syn::Result<Statement> {
    let (action, end) = match form {
        Form::Bare => (Action::Join, name.span()),
        Form::Action(form, parse) => {
            let equals: Token![=] = input
                .parse()
                .map_err(|error| expected(error.span(), &format!("`= {form}` after `{name}`")))?;
            present(input, equals.span, &format!("`{form}` after `=`"))?;
            parse(input, context)?
        }
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
        keyword,
        name,
        action,
        after: found.into_iter().map(|(dependency, _)| dependency).collect(),
    })))
}

/// The form of a node after its name.
pub(super) enum Form {
    /// No action, only `after`.
    Bare,
    /// `=` and an action: its form for messages, and its parser, which also returns the last token.
    Action(&'static str, ActionParser),
}

type ActionParser = fn(ParseStream<'_>, &mut Context<'_>) -> syn::Result<(Action, Span)>;

pub(super) const KERNEL: Form = Form::Action("kernel<<<grid, block>>>(arguments)", |input, context| {
    let ahead = input.fork();
    let launch = launch(input).inspect_err(|_| context.kernels.extend(kernel(&ahead)))?;
    let end = launch.parens;
    Ok((Action::Kernel(Box::new(launch)), end))
});

pub(super) const MEMCPY: Form = Form::Action("source -> destination", |input, _| {
    let from = place(input)?;
    let arrow: Token![->] = input
        .parse()
        .map_err(|error| expected(error.span(), "`-> destination`"))?;
    present(input, arrow.span(), "`destination` after `->`")?;
    let to = place(input)?;
    let end = to.end;
    Ok((Action::Memcpy { from, to }, end))
});

pub(super) const MEMSET: Form = Form::Action("destination <- value", |input, _| {
    let to = place(input)?;
    let arrow: Token![<-] = input.parse().map_err(|error| expected(error.span(), "`<- value`"))?;
    present(input, arrow.span(), "`value` after `<-`")?;
    let (value, end) = last_expression(input, "`value` after `<-`")?;
    let value = Box::new(value);
    Ok((Action::Memset { to, value }, end))
});

pub(super) const CALL: Form = Form::Action("|&input, &mut output| expression", |input, _| {
    let call = call(input)?;
    let end = last_span(&call.body);
    Ok((Action::Call(Box::new(call)), end))
});

pub(super) const GRAPH: Form = Form::Action("Graph(name: &memory)", |input, _| {
    let child = child(input)?;
    let end = child.parens;
    Ok((Action::Graph(Box::new(child)), end))
});

pub(super) const CAPTURE: Form = Form::Action("(&input, &mut output) |stream| expression", |input, _| {
    let capture = capture(input)?;
    let end = last_span(&capture.body);
    Ok((Action::Capture(Box::new(capture)), end))
});

pub(super) const RAW: Form = Form::Action("unsafe (&input, &mut output) |graph, after| expression", |input, _| {
    let raw = raw(input)?;
    let end = last_span(&raw.body);
    Ok((Action::Raw(Box::new(raw)), end))
});

pub(super) const RECORD: Form = Form::Action("event", |input, _| {
    let (event, end) = last_expression(input, "an event")?;
    Ok((Action::Record(Box::new(event)), end))
});

pub(super) const WAIT: Form = Form::Action("event", |input, _| {
    let (event, end) = last_expression(input, "an event")?;
    Ok((Action::Wait(Box::new(event)), end))
});

pub(super) const IF: Form = Form::Action("flag { .. }", conditional);
pub(super) const WHILE: Form = Form::Action("flag { .. }", loop_while);
pub(super) const SWITCH: Form = Form::Action("index { { .. } { .. } }", switch);

/// A place in a copy or a memset.
fn place(input: ParseStream<'_>) -> syn::Result<Place> {
    if input.peek(Token![&]) {
        return Err(expected(input.span(), "the name of a resource, without `&`"));
    }
    input.parse()
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
    let name: Ident = input.parse().map_err(|error| expected(error.span(), NAME))?;
    if name != "programmatic" || !input.peek(syn::token::Paren) {
        return named(input, name, None);
    }
    let content;
    let end = parenthesized!(content in input).span.close();
    let upstream: Ident = content
        .parse()
        .map_err(|error| expected(error.span(), "the name of a node in `programmatic(..)`"))?;
    let (dependency, _) = named(&content, upstream, Some(name))?;
    last_comma(&content)?;
    if !content.is_empty() {
        return Err(expected(
            content.span(),
            "`)`: each edge has a `programmatic(..)` of its own",
        ));
    }
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
