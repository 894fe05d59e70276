//! Shapes, and places in them.

use super::base::{expected, refuse, require, take};
use crate::graph::ast::{Name, Part, Place, Range, Shape};
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, ExprRange, Ident, RangeLimits, Token, bracketed};

/// The most dimensions a shape may have.
const MAX_DIMENSIONS: usize = 4;

/// The most dimensions that a place may select from.
const MAX_PARTS: usize = 2;

/// A place in a copy, a memset or a collective.
pub(super) fn place(input: ParseStream<'_>) -> syn::Result<Place> {
    refuse(input, input.peek(Token![&]), "the name of a resource, without `&`")?;
    input.parse()
}

impl Parse for Place {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = take(input, "the name of a resource")?;
        let (mut parts, mut end) = (Vec::new(), name.span());
        let mut name = Name::from(name);
        loop {
            if !parts.is_empty() && input.peek(Token![.]) && !input.peek(Token![..]) {
                let field: Ident = field(input, &name, &parts)?;
                end = field.span();
                name = Name::of_field(&name, &field);
            }
            if !input.peek(syn::token::Bracket) {
                break;
            }
            if parts.len() == MAX_PARTS {
                return Err(syn::Error::new(
                    input.span(),
                    "at most two indices or ranges select a part; a third is not supported",
                ));
            }
            let (part, close) = part(input)?;
            parts.push(part);
            end = close;
        }
        // A `[..]` at the end selects everything, as no part does.
        while let Some(Part::Range(range)) = parts.last()
            && range.is_full()
        {
            parts.pop();
        }
        Ok(Place { name, parts, end })
    }
}

/// `.field` after `name` and these parts: that of one element of a group.
fn field(input: ParseStream<'_>, name: &Name, parts: &[Part]) -> syn::Result<Ident> {
    let dot: Token![.] = input.parse()?;
    let field: Ident = take(input, format_args!("the name of a field after `{name}[..].`"))?;
    let message = match parts {
        _ if name.path().is_some() => "a field of a group is memory, which has no fields".to_owned(),
        [Part::Index(_)] => return Ok(field),
        [Part::Range(_)] => {
            format!(
                "expected an index before the field, as in `{name}[i].{field}`: the memory of several groups lies apart"
            )
        }
        _ => format!("expected one index before the field, as in `{name}[i].{field}`"),
    };
    Err(syn::Error::new(dot.span, message))
}

/// `[index]` or `[range]`, and the closing bracket.
fn part(input: ParseStream<'_>) -> syn::Result<(Part, Span)> {
    let content;
    let brackets = bracketed!(content in input);
    if content.is_empty() {
        return Err(expected(brackets.span.join(), "an index or a range in `[]`"));
    }
    let part = match content.parse::<Expr>()? {
        Expr::Range(ExprRange { start, end, limits, .. }) => Part::Range(Range {
            start,
            end,
            inclusive: matches!(limits, RangeLimits::Closed(_)),
        }),
        index => Part::Index(Box::new(index)),
    };
    require(
        &content,
        content.is_empty(),
        "`]`: one index or range selects from the outermost dimension",
    )?;
    Ok((part, brackets.span.close()))
}

impl Parse for Shape {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let start = input.span();
        let shape = parse_shape(input)?;
        if shape.lengths.len() > MAX_DIMENSIONS {
            return Err(syn::Error::new(start, "a shape has at most four dimensions"));
        }
        Ok(shape)
    }
}

fn parse_shape(input: ParseStream<'_>) -> syn::Result<Shape> {
    if input.peek(Token![&]) || input.peek(Token![*]) {
        let what = "a type such as `f32` or `[f32; 1024]`: memory holds plain data, no addresses";
        return Err(expected(input.span(), what));
    }
    if !input.peek(syn::token::Bracket) {
        let element = take(input, "a type such as `f32` or `[f32; 1024]`")?;
        return Ok(Shape::scalar(element));
    }
    let content;
    let brackets = bracketed!(content in input);
    let mut shape = parse_shape(&content)?;
    if content.is_empty() {
        return Err(expected(
            brackets.span.close(),
            "`; length`: the length is part of a shape",
        ));
    }
    take::<Token![;]>(&content, "`; length`")?;
    if content.is_empty() {
        return Err(expected(brackets.span.close(), "a length after `;`"));
    }
    shape.lengths.insert(0, content.parse()?);
    shape.brackets.insert(0, brackets.span.join());
    require(&content, content.is_empty(), "`]`")?;
    Ok(shape)
}
