//! Places as tokens: the expression that selects one in `build`, its size in bytes, and the assertion that it is in bounds.

use super::shape::Shape;
use crate::graph::ast::{Part, Place, Resource};
use crate::graph::constant::{is_constant, mentions, value};
use crate::graph::resolve::{Graph, expressions};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt;

/// The local variable that holds a resource's place in `build`. It has the user's own hygiene: only tokens that agree in it
/// make one span, at which rustc reports what is wrong with a place.
pub(super) fn local(declared: &Ident) -> Ident {
    local_at(declared, declared.span())
}

/// The same variable, mentioned elsewhere: where it is, with the hygiene of where it was declared.
fn local_at(declared: &Ident, place: Span) -> Ident {
    let span = place.resolved_at(declared.span());
    Ident::new(&format!("__place_{}", declared.unraw()), span)
}

/// A range with every bound as an expression.
struct Range<'a> {
    start: Option<&'a Expr>,
    end: Option<&'a Expr>,
    inclusive: bool,
}

impl<'a> Range<'a> {
    fn start(&self) -> TokenStream {
        self.start.map_or_else(|| quote!(0), ToTokens::to_token_stream)
    }

    /// `None` for that of a resource whose length the text does not tell.
    fn end(&self, graph: &Graph<'_>, resource: &Resource) -> Option<TokenStream> {
        match (self.end, self.inclusive) {
            (Some(end), true) => Some(quote!((#end) + 1)),
            (Some(end), false) => Some(quote!(#end)),
            (None, _) if graph.is_dynamic(resource) => None,
            (None, _) => resource.shape.lengths.first().map(ToTokens::to_token_stream),
        }
    }

    /// The values of start and end, where both are literals.
    fn literal(&self, resource: &Resource) -> Option<(u64, u64)> {
        let start = self.start.map_or(Some(0), value)?;
        let end = match self.end {
            Some(end) => value(end)? + i128::from(self.inclusive),
            None => value(resource.shape.lengths.first()?)?,
        };
        Some((start.try_into().ok()?, end.try_into().ok()?))
    }

    fn bounds(&self) -> impl Iterator<Item = &'a Expr> {
        [self.start, self.end].into_iter().flatten()
    }
}

fn range(part: &Part) -> Option<Range<'_>> {
    match part {
        Part::Index(_) => None,
        Part::Range { start, end, inclusive } => Some(Range {
            start: start.as_deref(),
            end: end.as_deref(),
            inclusive: *inclusive,
        }),
    }
}

/// The expression of a place, of type `Place<shape of the part, memory>`.
///
/// Methods are called by their paths, here and in all that is expanded: a trait of the user's could otherwise come first.
pub(super) fn select(graph: &Graph<'_>, place: &Place) -> TokenStream {
    let Some(resource) = graph.resource(place).map(|index| graph.resources[index]) else {
        return TokenStream::new();
    };
    let (name, span) = (local_at(&resource.name, place.name.span()), place.end);
    let shape = Shape::of(graph, resource);
    match place.part() {
        None => quote_spanned!(span=> ::graph_runtime::Place::<#shape, _>::whole(&#name)),
        Some(Part::Index(index)) => quote_spanned!(span=> ::graph_runtime::Place::<#shape, _>::row(&#name, #index)),
        Some(part) => {
            let Some(range) = range(part) else {
                return TokenStream::new();
            };
            let start = range.start();
            match (length(graph, &range, resource), range.end(graph, resource)) {
                (Some(length), _) => {
                    quote_spanned!(span=> ::graph_runtime::Place::<#shape, _>::rows_from::<#length>(&#name, #start))
                }
                (None, Some(end)) => {
                    quote_spanned!(span=> ::graph_runtime::Place::<#shape, _>::rows(&#name, (#start)..(#end)))
                }
                (None, None) => quote_spanned!(span=> ::graph_runtime::Place::<#shape, _>::rows(&#name, (#start)..)),
            }
        }
    }
}

/// The length of a range as a const argument, where stable Rust can have it as one.
fn length(graph: &Graph<'_>, range: &Range<'_>, resource: &Resource) -> Option<TokenStream> {
    if let Some((start, end)) = range.literal(resource) {
        return Some(Literal::u64_unsuffixed(end.saturating_sub(start)).to_token_stream());
    }
    let end = range.end(graph, resource)?;
    let start = range.start();
    if !generic(graph, quote!(#start #end)) {
        let constant = range.bounds().all(|bound| is_constant(bound, &graph.variables()));
        return constant.then(|| quote!({ ::graph_runtime::private::distance(#start, #end) }));
    }
    // Of generics, stable Rust takes a bare const parameter and nothing else.
    let bare = |end: &Expr| matches!(end, Expr::Path(path) if path.path.get_ident().is_some_and(|name| is_const_parameter(graph, name)));
    (range.start.is_none() && !range.inclusive && range.end.is_some_and(bare)).then(|| quote!({ #end }))
}

fn is_const_parameter(graph: &Graph<'_>, name: &Ident) -> bool {
    if graph.is_expression() {
        return is_constant(&syn::parse_quote!(#name), &graph.variables());
    }
    graph.item.generics.const_params().any(|param| param.ident == *name)
}

/// Do the tokens mention a generic parameter of the graph, or `Self`, which items beside the type cannot name?
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

/// Names in an expression's types and constants. Any of them may be a generic parameter of the function around it.
fn foreign_names(graph: &Graph<'_>) -> Vec<String> {
    let shapes = graph.resources.iter().map(|resource| resource.shape.to_token_stream());
    let nodes = graph.nodes.iter().map(|node| expressions(node));
    let mut names = Vec::new();
    shapes.chain(nodes).for_each(|tokens| collect_names(tokens, &mut names));
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

/// Types that no generic parameter is named like.
const PRIMITIVES: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "as",
];

/// The type of a resource's rows.
fn row(resource: &Resource) -> TokenStream {
    let shape = &resource.shape;
    shape
        .row()
        .unwrap_or_else(|| quote!(<#shape as ::graph_runtime::Rows>::Row))
}

/// The size of a place in bytes, as an expression of type `u64`; `None` where its bounds are no constants.
pub(super) fn bytes(graph: &Graph<'_>, place: &Place) -> Option<TokenStream> {
    let resource = graph.resources[graph.resource(place)?];
    if resource.is_captured() {
        return None;
    }
    let row = row(resource);
    match place.part() {
        None => {
            let bytes = Shape::of(graph, resource).bytes()?;
            Some(quote!(#bytes as ::core::primitive::u64))
        }
        Some(Part::Index(_)) => Some(quote!(::core::mem::size_of::<#row>() as ::core::primitive::u64)),
        Some(part) => {
            let range = range(part)?;
            if !range.bounds().all(|bound| is_constant(bound, &graph.variables())) {
                return None;
            }
            let (start, end) = (range.start(), range.end(graph, resource)?);
            Some(
                quote!((::graph_runtime::private::distance(#start, #end) * ::core::mem::size_of::<#row>()) as ::core::primitive::u64),
            )
        }
    }
}

/// The assertion that a place is in bounds, at the user's tokens; `None` where literals have told already, or only build can tell.
pub(super) fn bounds_assertion(graph: &Graph<'_>, place: &Place) -> Option<TokenStream> {
    let resource = graph.resources[graph.resource(place)?];
    let length = resource.shape.lengths.first()?;
    if graph.is_dynamic(resource) {
        return None;
    }
    let name = place.name.to_string();
    let (function, operands) = match place.part()? {
        Part::Index(index) => {
            if !is_constant(index, &graph.variables()) || (value(index).is_some() && value(length).is_some()) {
                return None;
            }
            (
                quote_spanned!(place.name.span()=> ::graph_runtime::private::check_index),
                quote!(#name, #index, #length),
            )
        }
        part => {
            let range = range(part)?;
            let decided = range.literal(resource).is_some() && value(length).is_some();
            if decided || !range.bounds().all(|bound| is_constant(bound, &graph.variables())) {
                return None;
            }
            let (start, end) = (range.start(), range.end(graph, resource)?);
            (
                quote_spanned!(place.name.span()=> ::graph_runtime::private::check_range),
                quote!(#name, #start, #end, #length),
            )
        }
    };
    Some(spanned_call(function, operands, place.end))
}

/// `function(operands)`: a call that begins at the function's tokens and ends at `end`, which is what rustc underlines.
pub(super) fn spanned_call(function: TokenStream, operands: TokenStream, end: Span) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, operands);
    group.set_span(end);
    quote!(#function #group)
}
