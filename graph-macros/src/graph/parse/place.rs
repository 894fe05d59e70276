//! Shapes, and places in them.

use super::expected;
use crate::graph::ast::{Part, Place, Shape};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, ExprRange, Ident, RangeLimits, Token, bracketed};

/// The most dimensions a shape may have.
const MAX_DIMENSIONS: usize = 4;

impl Parse for Place {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input
            .parse()
            .map_err(|error| expected(error.span(), "the name of a resource"))?;
        if !input.peek(syn::token::Bracket) {
            return Ok(Place {
                end: name.span(),
                name,
                part: None,
            });
        }
        let content;
        let brackets = bracketed!(content in input);
        if content.is_empty() {
            return Err(expected(brackets.span.join(), "an index or a range in `[]`"));
        }
        let part = match content.parse::<Expr>()? {
            Expr::Range(ExprRange {
                start: None, end: None, ..
            }) => None,
            Expr::Range(ExprRange { start, end, limits, .. }) => Some(Part::Range {
                start,
                end,
                inclusive: matches!(limits, RangeLimits::Closed(_)),
            }),
            index => Some(Part::Index(Box::new(index))),
        };
        if !content.is_empty() {
            return Err(expected(
                content.span(),
                "`]`: one index or range selects from the outermost dimension",
            ));
        }
        if input.peek(syn::token::Bracket) {
            return Err(syn::Error::new(
                input.span(),
                "one index or range selects from the outermost dimension; a second is not supported",
            ));
        }
        Ok(Place {
            end: brackets.span.close(),
            name,
            part,
        })
    }
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
    if !input.peek(syn::token::Bracket) {
        let element = input
            .parse()
            .map_err(|error: syn::Error| expected(error.span(), "a type such as `f32` or `[f32; 1024]`"))?;
        return Ok(Shape {
            element,
            lengths: Vec::new(),
            brackets: Vec::new(),
        });
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
    content
        .parse::<Token![;]>()
        .map_err(|error| expected(error.span(), "`; length`"))?;
    if content.is_empty() {
        return Err(expected(brackets.span.close(), "a length after `;`"));
    }
    shape.lengths.insert(0, content.parse()?);
    shape.brackets.insert(0, brackets.span.join());
    if !content.is_empty() {
        return Err(expected(content.span(), "`]`"));
    }
    Ok(shape)
}
