//! Places as tokens: the expression that selects one in `build`, its size in bytes, and the assertion that it is in
//! bounds.

use super::names::local_at;
use super::rng;
use super::shape::Shape;
use crate::graph::ast::{self, Part, Place, Resource};
use crate::graph::constant::{is_constant, mentions, value};
use crate::graph::resolve::{Graph, expressions};
use crate::span::ends;
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;

/// A range in a dimension of a resource, with its bounds as expressions.
pub(super) struct Range<'a> {
    written: &'a ast::Range,
    /// The length of the dimension, if the text tells it.
    length: Option<&'a Expr>,
}

impl<'a> Range<'a> {
    pub(super) fn start(&self) -> TokenStream {
        start_of(self.written)
    }

    /// The end; `None` if it is the end of a dimension whose length the text does not tell.
    fn end(&self) -> Option<TokenStream> {
        end_of(self.written).or_else(|| self.length.map(ToTokens::to_token_stream))
    }

    /// The range as a Rust expression. It names its type, so that rustc refuses a bound of another type at the bound.
    pub(super) fn tokens(&self) -> TokenStream {
        let (start, end) = (self.start(), self.end());
        match end {
            Some(end) => quote!(::core::ops::Range::<::core::primitive::usize> { start: #start, end: #end }),
            None => quote!(::core::ops::RangeFrom::<::core::primitive::usize> { start: #start }),
        }
    }

    /// Whether all bounds that are written are constants.
    fn is_constant(&self, graph: &Graph<'_>) -> bool {
        let variables = graph.variables();
        let mut bounds = [&self.written.start, &self.written.end].into_iter().flatten();
        bounds.all(|bound| is_constant(bound, &variables))
    }

    /// The values of start and end, if both are literals.
    fn literal(&self) -> Option<(u64, u64)> {
        let start = self.written.start.as_ref().map_or(Some(0), |start| value(start))?;
        let end = match &self.written.end {
            Some(end) => value(end)?.checked_add(self.written.inclusive.into())?,
            None => value(self.length?)?,
        };
        Some((start.try_into().ok()?, end.try_into().ok()?))
    }
}

/// The start of a range.
pub(super) fn start_of(range: &ast::Range) -> TokenStream {
    range
        .start
        .as_ref()
        .map_or_else(|| quote!(0), ToTokens::to_token_stream)
}

/// The index after the last of a range, if its end is written.
pub(super) fn end_of(range: &ast::Range) -> Option<TokenStream> {
    let end = range.end.as_ref()?;
    Some(match range.inclusive {
        true => quote_spanned!(ends(end).0=> __p::Bounds::after(#end)),
        false => end.to_token_stream(),
    })
}

/// A part of the given dimension of a resource, if it is a range.
pub(super) fn range<'a>(
    graph: &Graph<'_>,
    resource: &'a Resource,
    dimension: usize,
    part: &'a Part,
) -> Option<Range<'a>> {
    match part {
        Part::Index(_) => None,
        Part::Range(written) => Some(Range {
            written,
            length: length_of(graph, resource, dimension),
        }),
    }
}

/// The length of a dimension, if it is part of the resource's type and the text tells it.
fn length_of<'a>(graph: &Graph<'_>, resource: &'a Resource, dimension: usize) -> Option<&'a Expr> {
    let length = resource.shape.lengths.get(dimension)?;
    (!graph.is_variable(length)).then_some(length)
}

/// The expression of a place, of type `Place<shape of the part, memory>`; if `mutable`, a value that `&mut` may borrow.
///
/// Methods are called by their paths, here and in the whole expansion: a method of a user's trait could be chosen
/// otherwise.
pub(super) fn select(graph: &Graph<'_>, place: &Place, mutable: bool) -> TokenStream {
    let Some(resource) = graph.resource(place).map(|index| graph.resources[index]) else {
        return TokenStream::new();
    };
    let (name, span) = (local_at(&resource.name, place.name.span()), place.end);
    if resource.random.is_some() {
        return rng::state(graph, place, &name);
    }
    if place.parts.is_empty() {
        // A block copies the place. (`Place::whole` would do so, too, but rustc takes long for a generic call, and for
        // each mention of an array type.)
        return if mutable {
            quote_spanned!(span=> { #name })
        } else {
            name.to_token_stream()
        };
    }
    let mut selected = name.to_token_stream();
    for (dimension, part) in place.parts.iter().enumerate() {
        let place = quote_spanned!(span=> __g::Place);
        let range = range(graph, resource, dimension, part);
        selected = match (part, range) {
            (Part::Index(index), _) if dimension == 0 && resource.is_field() => {
                quote_spanned!(span=> __p::GroupField::at(&#selected, #index)?)
            }
            (Part::Index(index), _) => quote_spanned!(span=> #place::row(&#selected, #index)),
            (_, Some(range)) => match length(graph, &range) {
                Some(length) => {
                    let start = range.start();
                    quote_spanned!(span=> #place::rows_from::<#length>(&#selected, #start))
                }
                None => {
                    let range = range.tokens();
                    quote_spanned!(span=> #place::rows(&#selected, #range))
                }
            },
            (_, None) => selected,
        };
    }
    selected
}

/// The length of a range as a const argument, if stable Rust allows that.
pub(super) fn length(graph: &Graph<'_>, range: &Range<'_>) -> Option<TokenStream> {
    if let Some((start, end)) = range.literal() {
        return Some(Literal::u64_unsuffixed(end.saturating_sub(start)).to_token_stream());
    }
    let end = range.end()?;
    let start = range.start();
    if !generic(graph, quote!(#start #end)) {
        return range
            .is_constant(graph)
            .then(|| quote!({ __p::Bounds::distance(#start, #end) }));
    }
    // Stable Rust takes no expression of generics as a const argument, except a bare const parameter.
    let bare = |end: &Expr| matches!(end, Expr::Path(path) if path.path.get_ident().is_some_and(|name| is_const_parameter(graph, name)));
    let all = range.written.end.as_deref().or(range.length);
    (range.written.start.is_none() && !range.written.inclusive && all.is_some_and(bare)).then(|| quote!({ #end }))
}

fn is_const_parameter(graph: &Graph<'_>, name: &Ident) -> bool {
    if graph.is_expression() {
        return is_constant(&syn::parse_quote!(#name), &graph.variables());
    }
    graph.item.generics.const_params().any(|param| param.ident == *name)
}

/// Whether the tokens mention a generic parameter of the graph, or `Self`, which items beside the type cannot name.
pub(super) fn generic(graph: &Graph<'_>, tokens: TokenStream) -> bool {
    let name = |param: &syn::GenericParam| match param {
        syn::GenericParam::Type(param) => Some(param.ident.to_string()),
        syn::GenericParam::Const(param) => Some(param.ident.to_string()),
        syn::GenericParam::Lifetime(_) => None,
    };
    let mut names: Vec<String> = graph.item.generics.params.iter().filter_map(name).collect();
    names.push("Self".to_owned());
    if graph.is_expression() {
        names.extend(foreign_names(graph));
    }
    mentions(tokens, &names)
}

/// The names in the types and constants of a graph that is an expression. Any of them may be a generic parameter of the
/// function around it.
fn foreign_names(graph: &Graph<'_>) -> Vec<String> {
    let shapes = graph.resources.iter().map(|resource| resource.shape.to_token_stream());
    let nodes = graph.nodes.iter().map(|node| expressions(node));
    let launches = graph.nodes.iter().filter_map(|node| node.action.launch());
    let kernels = launches.map(|launch| launch.generics());
    let mut names = Vec::new();
    shapes
        .chain(nodes)
        .chain(kernels)
        .for_each(|tokens| collect_names(tokens, &mut names));
    names.retain(|name| !PRIMITIVES.contains(&name.as_str()));
    names
}

fn collect_names(tokens: TokenStream, names: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => names.push(name.to_string()),
            TokenTree::Group(group) => collect_names(group.stream(), names),
            _ => {}
        }
    }
}

/// Names that are never generic parameters.
const PRIMITIVES: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "as",
];

/// The type that remains of a resource's shape after `parts` indices or ranges.
pub(super) fn inner(resource: &Resource, parts: usize) -> TokenStream {
    let shape = &resource.shape;
    shape.inner(parts).unwrap_or_else(|| {
        let outer = inner(resource, parts - 1);
        quote!(<#outer as __g::Rows>::Row)
    })
}

/// A place as an argument of a launch assertion; `None` if its bounds are not constants.
pub(super) fn buffer(graph: &Graph<'_>, place: &Place) -> Option<TokenStream> {
    let resource = graph.resources[graph.resource(place)?];
    if resource.is_moved() || place.is_rectangle() {
        return None;
    }
    let Some(last) = place.parts.last() else {
        return match Shape::of(graph, resource) {
            Shape::Fixed(shape) => Some(quote!(__p::buffer::<#shape>(1))),
            Shape::Dynamic { .. } | Shape::Table { .. } | Shape::Inferred => None,
        };
    };
    if graph.variable_lengths(resource) > place.parts.len() {
        return None; // a row has lengths that only build knows
    }
    let row = inner(resource, place.parts.len());
    let Some(range) = range(graph, resource, place.parts.len() - 1, last) else {
        return Some(quote!(__p::buffer::<#row>(1)));
    };
    if !range.is_constant(graph) {
        return None;
    }
    let (start, end) = (range.start(), range.end()?);
    Some(quote!(__p::buffer::<#row>(__p::Bounds::distance(#start, #end))))
}

/// The assertions that a place is in bounds, at the user's tokens. There are none if literals were checked already, or
/// if only `build` can check.
pub(super) fn bounds_assertions(graph: &Graph<'_>, place: &Place) -> Vec<TokenStream> {
    let Some(resource) = graph.resource(place).map(|index| graph.resources[index]) else {
        return Vec::new();
    };
    let parts = place.parts.iter().enumerate();
    parts
        .filter_map(|(dimension, part)| bounds_assertion(graph, resource, dimension, part, place))
        .collect()
}

/// The assertion that the part of a dimension is in bounds.
fn bounds_assertion(
    graph: &Graph<'_>,
    resource: &Resource,
    dimension: usize,
    part: &Part,
    place: &Place,
) -> Option<TokenStream> {
    let length = length_of(graph, resource, dimension)?;
    let (name, span) = (memory(place, dimension), place.name.span());
    let (function, operands) = match part {
        Part::Index(index) => {
            if !is_constant(index, &graph.variables()) || (value(index).is_some() && value(length).is_some()) {
                return None;
            }
            // The cast accepts every integer type: rustc already reports a wrong type where the place is selected.
            let number = match value(index) {
                Some(_) => index.to_token_stream(),
                None => quote!((#index) as ::core::primitive::usize),
            };
            let function = quote_spanned!(span=> __p::Bounds::check_index);
            (function, quote!(#name, #number, #length))
        }
        Part::Range(_) => {
            let range = range(graph, resource, dimension, part)?;
            let decided = range.literal().is_some() && value(length).is_some();
            if decided || !range.is_constant(graph) {
                return None;
            }
            let (start, end) = (range.start(), range.end()?);
            let function = quote_spanned!(span=> __p::Bounds::check_range);
            (function, quote!(#name, #start, #end, #length))
        }
    };
    Some(spanned_call(function, operands, place.end))
}

/// The memory from which the part of this dimension is selected, in messages.
pub(super) fn memory(place: &Place, dimension: usize) -> String {
    match dimension {
        0 => place.name.to_string(),
        _ => place.name.with_part("[_]"),
    }
}

/// The variable with the place of the whole resource.
pub(super) fn whole(graph: &Graph<'_>, place: &Place) -> TokenStream {
    let resource = graph.resource_of(&place.name);
    let local = resource.map(|resource| local_at(&resource.name, place.name.span()));
    local.to_token_stream()
}

/// `function(operands)`: a call that begins at the function's tokens and ends at `end`. rustc underlines all of it.
pub(super) fn spanned_call(function: TokenStream, operands: TokenStream, end: Span) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, operands);
    group.set_span(end);
    quote!(#function #group)
}

/// A place, borrowed at its own tokens.
pub(super) fn borrow(graph: &Graph<'_>, place: &Place, mutable: bool) -> TokenStream {
    reference(place, mutable, &select(graph, place, mutable))
}

/// A place that must be device memory, borrowed at its own tokens.
pub(super) fn borrow_on_device(graph: &Graph<'_>, place: &Place, mutable: bool) -> TokenStream {
    reference(place, mutable, &on_device(graph, place, mutable))
}

pub(super) fn reference(place: &Place, mutable: bool, selected: &TokenStream) -> TokenStream {
    if mutable {
        quote_spanned!(place.name.span()=> &mut #selected)
    } else {
        quote_spanned!(place.name.span()=> &#selected)
    }
}

/// A place that must be device memory. Of a moved local, only the type tells whether it is.
pub(super) fn on_device(graph: &Graph<'_>, place: &Place, mutable: bool) -> TokenStream {
    as_device(graph, place, select(graph, place, mutable))
}

/// The expression `selected` of a place, as device memory.
pub(super) fn as_device(graph: &Graph<'_>, place: &Place, selected: TokenStream) -> TokenStream {
    match graph.resource(place) {
        Some(index) if graph.resources[index].is_moved() => {
            quote_spanned!(place.name.span()=> __p::on_device(#selected))
        }
        _ => selected,
    }
}
