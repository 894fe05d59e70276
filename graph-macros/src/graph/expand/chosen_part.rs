//! Copies and memsets of ranges that params choose, as tokens: the calls that add the nodes, or change them.

use super::names::{hidden, local_at};
use super::part::{borrow, borrow_on_device, reference, select};
use super::rectangle::columns;
use crate::graph::ast::{Part, Place};
use crate::graph::constant::mentions;
use crate::graph::resolve::{Graph, bounds};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// Whether params choose a part of the place.
pub(super) fn is_chosen(graph: &Graph<'_>, place: &Place) -> bool {
    mentions(bounds(place), &graph.param_names())
}

/// A node whose ranges params choose.
pub(super) struct Chosen<'g, 'a> {
    pub(super) graph: &'g Graph<'a>,
    pub(super) index: usize,
    pub(super) name: &'g Ident,
    /// The variable of the builder, or of the update.
    pub(super) target: &'g Ident,
}

impl Chosen<'_, '_> {
    /// The copy.
    pub(super) fn memcpy(&self, from: &Place, to: &Place) -> TokenStream {
        let Self {
            graph, index, target, ..
        } = self;
        let (name, span) = (self.name.to_string(), self.name.span());
        let (read, written) = (widened(graph, from), widened(graph, to));
        let call = |method: &str| {
            let method = Ident::new(method, span);
            quote_spanned!(span=> __p::NodeTarget::#method)
        };
        if from.is_rectangle() || to.is_rectangle() {
            let checks = [from, to].map(|place| self.checks(place));
            let (source, destination) = (columns(graph, from, false), columns(graph, to, true));
            let (read, written, call) = (
                columns(graph, &read, false),
                columns(graph, &written, false),
                call("memcpy_2d"),
            );
            return quote_spanned! {span=>
                #(#checks)*
                #call(#target, #index, #name, #source, #destination, (#read, #written))
            };
        }
        let (source, destination) = (hidden("source"), hidden("destination"));
        let (from_part, to_part) = (self.part(from, false), self.part(to, true));
        let (read, written, call) = (
            borrow(graph, &read, false),
            borrow(graph, &written, false),
            call("memcpy"),
        );
        let (from, to) = (
            reference(from, false, &source.to_token_stream()),
            reference(to, true, &destination.to_token_stream()),
        );
        quote_spanned! {span=>
            let #source = #from_part;
            let mut #destination = #to_part;
            #call(#target, #index, #name, #from, #to, (#read, #written))
        }
    }

    /// The memset of elements of type `element`.
    pub(super) fn memset(&self, to: &Place, element: &TokenStream, value: &TokenStream) -> TokenStream {
        let Self {
            graph, index, target, ..
        } = self;
        let (name, span) = (self.name.to_string(), self.name.span());
        let written = widened(graph, to);
        if to.is_rectangle() {
            let checks = self.checks(to);
            let (destination, written) = (columns(graph, to, true), columns(graph, &written, false));
            return quote_spanned! {span=>
                #checks
                __p::NodeTarget::memset_2d_within::<_, #element, _>(#target, #index, #name, #destination, #value, #written)
            };
        }
        let (destination, part) = (hidden("destination"), self.part(to, true));
        let place = reference(to, true, &destination.to_token_stream());
        let written = borrow_on_device(graph, &written, false);
        let part = match graph.resource(to) {
            Some(resource) if graph.resources[resource].is_moved() => {
                quote_spanned!(to.name.span()=> __p::on_device(#part))
            }
            _ => part,
        };
        quote_spanned! {span=>
            let mut #destination = #part;
            __p::NodeTarget::memset_within::<_, #element, _>(#target, #index, #name, #place, #value, #written)
        }
    }

    /// The expression of a place in one piece. A range that leaves its memory returns an error.
    fn part(&self, place: &Place, mutable: bool) -> TokenStream {
        let Some((last, outer)) = place.parts.split_last().filter(|_| is_chosen(self.graph, place)) else {
            return match place.parts.is_empty() {
                true => {
                    let name = whole(self.graph, place);
                    quote_spanned!(place.name.span()=> __g::Place::<_, _>::whole(&#name))
                }
                false => select(self.graph, place, mutable),
            };
        };
        let outer = Place {
            name: place.name.clone(),
            parts: outer.to_vec(),
            end: place.end,
        };
        let of = select(self.graph, &outer, false);
        let length = quote!(__p::length(&#of));
        let Some((start, end)) = ends(last, &length) else {
            return select(self.graph, place, mutable);
        };
        let (node, memory, span) = (self.node(), memory(place, outer.parts.len()), place.name.span());
        quote_spanned!(span=> __p::chosen(#node, #memory, &#of, #start, #end)?)
    }

    /// Statements that return an error if a range of a rectangle leaves its memory.
    fn checks(&self, place: &Place) -> TokenStream {
        let params = self.graph.param_names();
        let name = whole(self.graph, place);
        let checks = place.parts.iter().enumerate().filter_map(|(dimension, part)| {
            let only = Place {
                name: place.name.clone(),
                parts: vec![part.clone()],
                end: place.end,
            };
            let length = match (dimension, &place.parts[0]) {
                (0, _) => quote!(__p::length(&#name)),
                _ => quote!(__p::inner_length(&#name)),
            };
            let (start, end) = ends(part, &length).filter(|_| mentions(bounds(&only), &params))?;
            let (node, memory, span) = (self.node(), memory(place, dimension), place.name.span());
            Some(quote_spanned!(span=> __p::check_part(#node, #memory, #length, #start, #end)?;))
        });
        checks.collect()
    }

    /// The arguments that name the node in errors.
    fn node(&self) -> TokenStream {
        let (target, index, name) = (self.target, self.index, self.name.to_string());
        quote!(&*#target, #index, #name)
    }
}

/// The place of all of a resource.
fn whole(graph: &Graph<'_>, place: &Place) -> TokenStream {
    let resource = graph.resource(place).map(|index| graph.resources[index]);
    resource.map_or_else(TokenStream::new, |resource| {
        local_at(&resource.name, place.name.span()).to_token_stream()
    })
}

/// The memory from whose outermost dimension the part of this dimension is selected, in messages.
fn memory(place: &Place, dimension: usize) -> String {
    place.name.to_string() + ["", "[_]"][dimension.min(1)]
}

/// Start and end of a range of a dimension with this length; `None` for an index.
fn ends(part: &Part, length: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let Part::Range { start, end, inclusive } = part else {
        return None;
    };
    let start = start.as_ref().map_or_else(|| quote!(0), ToTokens::to_token_stream);
    let end = match end {
        Some(end) if *inclusive => {
            let span: Span = end.span();
            quote_spanned!(span=> __p::after(#end))
        }
        Some(end) => end.to_token_stream(),
        None => length.clone(),
    };
    Some((start, end))
}

/// The place without the bounds that mention params: the memory in which they choose.
fn widened(graph: &Graph<'_>, place: &Place) -> Place {
    let params = graph.param_names();
    let kept = |bound: &Option<Box<syn::Expr>>| {
        bound
            .clone()
            .filter(|bound| !mentions(bound.to_token_stream(), &params))
    };
    let mut parts: Vec<Part> = place
        .parts
        .iter()
        .map(|part| match part {
            Part::Index(index) => Part::Index(index.clone()),
            Part::Range { start, end, inclusive } => {
                let end = kept(end);
                Part::Range {
                    start: kept(start),
                    inclusive: *inclusive && end.is_some(),
                    end,
                }
            }
        })
        .collect();
    while parts
        .pop_if(|part| {
            matches!(
                part,
                Part::Range {
                    start: None,
                    end: None,
                    ..
                }
            )
        })
        .is_some()
    {}
    Place {
        name: place.name.clone(),
        parts,
        end: place.end,
    }
}
