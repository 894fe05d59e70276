//! A graph as an item: its head and its build arguments.

use super::Context;
use super::attribute::{attributes, misplaced};
use super::base::{comma_or_end, expected, refuse, require, take};
use super::statement::{after_auto, inner_attribute, statements};
use crate::graph::ast::{Attributes, BuildArgument, Form, Group, Item, Resource, ResourceKind};
use crate::graph::keyword::Keyword;
use crate::report::error;
use graph_plan::{Code, NodeKind, Space};
use proc_macro2::TokenTree;
use quote::format_ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Generics, Ident, Token, Type, braced, parenthesized};

/// An item of the macro.
pub(super) enum Declared {
    Graph(Box<Item>),
    Group(Box<Group>),
}

pub(super) fn item(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Declared> {
    if input.peek(Token![#]) && input.peek2(Token![!]) {
        let message = match inner_attribute(&input.fork()) {
            Ok((word, _)) if word == "after" => "expected a graph: `#![after(auto)]` is the first line in its braces",
            _ => {
                "expected a graph: it is documented by `///` before it, and only `#![crate = path]` may come first in the macro"
            }
        };
        return Err(syn::Error::new(input.span(), message));
    }
    let attributes = attributes(input, context.report)?;
    misplaced(&attributes.node, Keyword::Node(NodeKind::Graph), context.report);
    let keyword: Option<Ident> = input
        .peek(Ident::peek_any)
        .then(|| input.call(Ident::parse_any))
        .transpose()?;
    match keyword {
        Some(keyword) if keyword == "graph" => graph(input, attributes, context).map(Box::new).map(Declared::Graph),
        Some(keyword) if keyword == "group" => group(input, attributes, context).map(Box::new).map(Declared::Group),
        keyword => {
            let span = keyword.map_or_else(|| input.span(), |keyword| keyword.span());
            Err(expected(span, "a declaration such as `pub graph Name { .. }`"))
        }
    }
}

/// `Name<generics>(arguments) where .. { statements }`
fn graph(input: ParseStream<'_>, attributes: Attributes, context: &mut Context<'_>) -> syn::Result<Item> {
    let name: Ident = take(input, "a name after `graph`")?;
    let mut generics: Generics = input.parse()?;
    let arguments = if input.peek(syn::token::Paren) {
        build_arguments(input, context)?
    } else {
        Vec::new()
    };
    generics.where_clause = input.parse()?;
    require(input, input.peek(syn::token::Brace), "`{ .. }`: a graph has a body")?;
    let content;
    braced!(content in input);
    let auto = after_auto(&content, context);
    let statements = statements(&content, context);
    Ok(Item {
        attributes,
        name,
        generics,
        arguments,
        auto,
        statements,
        form: Form::Item,
        unparsed: std::mem::take(&mut context.unparsed),
        kernels: std::mem::take(&mut context.kernels),
    })
}

/// `Name { norm: device [f32; d], kv: mut device [f32; d], .. }`. A field that cannot be parsed is reported, and the
/// next one is parsed.
fn group(input: ParseStream<'_>, attributes: Attributes, context: &mut Context<'_>) -> syn::Result<Group> {
    let name: Ident = take(input, "a name after `group`")?;
    refuse(
        input,
        input.peek(Token![<]),
        "`{ .. }`: a group has no generics; the lengths of its fields are constants and build arguments of the graphs that take it",
    )?;
    require(
        input,
        input.peek(syn::token::Brace),
        format_args!("`{{ .. }}`: the fields of the group, as in `group {name} {{ q: device [f32; 64] }}`"),
    )?;
    let content;
    let braces = braced!(content in input);
    if content.is_empty() {
        return Err(expected(braces.span.join(), "a field such as `q: device [f32; 64]`"));
    }
    let mut fields: Vec<Resource> = Vec::new();
    while !content.is_empty() {
        match field(&content, context) {
            Ok(field) => match fields.iter().find(|earlier| *earlier.name == *field.name) {
                Some(_) => {
                    let message = format!("the field `{}` is declared twice", field.name);
                    let diagnostic = error(Code::DuplicateName, message).help("choose another name");
                    context.report.push(field.name.span(), &diagnostic);
                }
                None => fields.push(field),
            },
            Err(error) => {
                context.report.syn(&error);
                while !content.is_empty() && !content.peek(Token![,]) {
                    content.parse::<TokenTree>()?;
                }
            }
        }
        content.parse::<Option<Token![,]>>()?;
    }
    Ok(Group {
        attributes,
        name,
        fields,
    })
}

/// `norm: device [f32; d]` or `kv: mut device [f32; d]`
fn field(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Resource> {
    let attributes = attributes(input, context.report)?;
    let name: Ident = take(input, "a field such as `q: device [f32; 64]`")?;
    take::<Token![:]>(input, format_args!("`: device shape` after `{name}`"))?;
    let mutable: Option<Token![mut]> = input.parse()?;
    require(
        input,
        space(input) == Some(Space::Device),
        "`device` or `mut device` and a shape: a group has device memory",
    )?;
    let keyword: Ident = input.parse()?;
    refuse(input, input.peek(Token![mut]), "a shape: `mut` stands before `device`")?;
    let kind = ResourceKind::Shared {
        space: Space::Device,
        mutable: mutable.is_some(),
    };
    let span = mutable.map_or(keyword.span(), |mutable| mutable.span);
    let field = Resource::new(attributes, span, kind, name, input.parse()?);
    comma_or_end(input, "`,` after the field")?;
    Ok(field)
}

/// `(n: usize, w: device [f32; N])`. An argument that cannot be parsed is reported, and the next one is parsed.
fn build_arguments(input: ParseStream<'_>, context: &mut Context<'_>) -> syn::Result<Vec<BuildArgument>> {
    let content;
    parenthesized!(content in input);
    let mut arguments = Vec::new();
    while !content.is_empty() {
        let mut name = None;
        match build_argument(&content, &mut name) {
            Ok(argument) => arguments.push(argument),
            Err(error) => {
                context.report.syn(&error);
                context.unparsed.extend(name.clone());
                arguments.push(BuildArgument::Unknown(name.unwrap_or_else(|| format_ident!("_"))));
                while !content.is_empty() && !content.peek(Token![,]) {
                    content.parse::<TokenTree>()?;
                }
            }
        }
        content.parse::<Option<Token![,]>>()?;
    }
    Ok(arguments)
}

fn build_argument(input: ParseStream<'_>, name: &mut Option<Ident>) -> syn::Result<BuildArgument> {
    refuse(
        input,
        input.peek(Token![mut]),
        "a name: `mut` stands before `device` or `host`, as in `data: mut device [f32; 4]`",
    )?;
    let declared: Ident = take(input, "the name of a build argument")?;
    *name = Some(declared.clone());
    take::<Token![:]>(input, format_args!("`: type` or `: device shape` after `{declared}`"))?;
    if borrows_memory(input) {
        let what =
            format!("`device` or `host` without `&`: memory that is shared is `{declared}: mut device [f32; 4]`");
        return Err(expected(input.span(), &what));
    }
    let mutable: Option<Token![mut]> = input.parse()?;
    let argument = match space(input) {
        Some(space) => {
            let keyword: Ident = input.parse()?;
            refuse(
                input,
                input.peek(Token![mut]),
                format_args!("a shape: `mut` stands before `{keyword}`"),
            )?;
            let span = mutable.map_or(keyword.span(), |mutable| mutable.span);
            let mutable = mutable.is_some();
            let kind = ResourceKind::Shared { space, mutable };
            let memory = Resource::new(Attributes::default(), span, kind, declared, input.parse()?);
            BuildArgument::Memory(Box::new(memory))
        }
        None if input.peek(Token![impl]) => {
            let what = "a type: what may be of several is generic, as in `graph Name<T: Into<u32>>(n: T)`";
            return Err(expected(input.span(), what));
        }
        None if mutable.is_some() => return Err(expected(input.span(), "`device` or `host` after `mut`")),
        None => value(
            declared,
            take(input, "a type such as `usize`, or `device` and a shape")?,
        ),
    };
    comma_or_end(input, "`,` after the build argument")?;
    Ok(argument)
}

/// A value: a communicator if its type is a reference to one.
fn value(name: Ident, ty: Type) -> BuildArgument {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() && is_communicator(&reference.elem) => {
            let ty = reference.elem;
            BuildArgument::Communicator { name, ty }
        }
        ty => BuildArgument::Value { name, ty: Box::new(ty) },
    }
}

/// Whether the type is named `Communicator`, by whatever path.
fn is_communicator(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "Communicator")
}

/// Whether memory is borrowed as in a function: `&device [f32; 4]` or `&mut device [f32; 4]`.
fn borrows_memory(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let borrowed = ahead.parse::<Token![&]>().is_ok() && ahead.parse::<Option<Token![mut]>>().is_ok();
    borrowed && space(&ahead).is_some() && (ahead.peek2(syn::token::Bracket) || ahead.peek2(Ident))
}

/// `device` or `host`, unless it begins a path.
fn space(input: ParseStream<'_>) -> Option<Space> {
    if input.peek2(Token![::]) {
        return None;
    }
    match input.fork().parse::<Ident>().ok()?.to_string().as_str() {
        "device" => Some(Space::Device),
        "host" => Some(Space::Host),
        _ => None,
    }
}
