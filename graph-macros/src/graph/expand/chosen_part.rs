//! Copies and memsets of ranges that params choose, as tokens: the calls that add the nodes, or change them.

use super::names::hidden;
use super::part::{as_device, end_of, memory, reference, select, start_of, whole};
use super::rectangle::columns;
use crate::graph::ast::{Part, Place};
use crate::graph::constant::mentions;
use crate::graph::resolve::{Graph, bounds};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;

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

/// The use that the node makes of a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Written,
    /// Written by a memset, which takes device memory only.
    Set,
}

/// One place of such a node.
struct Side {
    /// Statements that come first. They return an error if a range leaves its memory.
    before: TokenStream,
    /// The part that the node now copies or sets, borrowed.
    part: TokenStream,
    /// The memory in which params choose the part, borrowed.
    all: TokenStream,
}

impl Chosen<'_, '_> {
    /// The copy.
    pub(super) fn memcpy(&self, from: &Place, to: &Place) -> TokenStream {
        let span = self.name.span();
        let rows = from.is_rectangle() || to.is_rectangle();
        let source = self.side(from, Use::Read, rows);
        let destination = self.side(to, Use::Written, rows);
        let (read, written) = (&source.all, &destination.all);
        let (from, to) = (&source.part, &destination.part);
        let copy = quote_spanned!(span=> __p::Memcpy::new(#from, #to).within(#read, #written));
        self.apply(&[&source, &destination], &quote_spanned!(span=> memcpy), &copy)
    }

    /// The memset of elements of type `element`.
    pub(super) fn memset(&self, to: &Place, element: &TokenStream, value: &TokenStream) -> TokenStream {
        let span = self.name.span();
        let destination = self.side(to, Use::Set, to.is_rectangle());
        let Side { part, all, .. } = &destination;
        let set = quote_spanned!(span=> __p::Memset::new::<_, #element>(#part, #value).within(#all));
        self.apply(&[&destination], &quote_spanned!(span=> memset), &set)
    }

    /// The call of the target's `method`, after the statements of both sides.
    fn apply(&self, sides: &[&Side], method: &TokenStream, work: &TokenStream) -> TokenStream {
        let (target, index, name) = (self.target, self.index, self.name.to_string());
        let before = sides.iter().map(|side| &side.before);
        quote_spanned! {self.name.span()=>
            #(#before)*
            __p::NodeTarget::#method(#target, #index, #name, #work)
        }
    }

    /// One place of the node: as rows of a rectangle, or in one piece.
    fn side(&self, place: &Place, used: Use, rows: bool) -> Side {
        let graph = self.graph;
        let mutable = used != Use::Read;
        let all = widened(graph, place);
        if rows {
            return Side {
                before: self.checks(place),
                part: columns(graph, place, mutable),
                all: columns(graph, &all, false),
            };
        }
        let local = hidden(if mutable { "destination" } else { "source" });
        let mutability = mutable.then(|| quote!(mut));
        let (part, all) = (self.part(place, mutable), select(graph, &all, false));
        let (part, all) = match used {
            Use::Read | Use::Written => (part, all),
            Use::Set => (as_device(graph, place, part), as_device(graph, place, all)),
        };
        Side {
            before: quote_spanned!(self.name.span()=> let #mutability #local = #part;),
            part: reference(place, mutable, &local.to_token_stream()),
            all: reference(place, false, &all),
        }
    }

    /// The expression of a place in one piece. A range that leaves its memory returns an error.
    fn part(&self, place: &Place, mutable: bool) -> TokenStream {
        let Some((last, outer)) = place.parts.split_last().filter(|_| is_chosen(self.graph, place)) else {
            if !place.parts.is_empty() {
                return select(self.graph, place, mutable);
            }
            let name = whole(self.graph, place);
            return quote_spanned!(place.name.span()=> __g::Place::<_, _>::whole(&#name));
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
        quote_spanned!(span=> __p::NodeTarget::chosen(#node, #memory, &#of, #start, #end)?)
    }

    /// Statements that return an error if a range of a rectangle leaves its memory.
    fn checks(&self, place: &Place) -> TokenStream {
        let params = self.graph.param_names();
        let name = whole(self.graph, place);
        let is_chosen = |bound: &Expr| mentions(bound.to_token_stream(), &params);
        let checks = place.parts.iter().enumerate().filter_map(|(dimension, part)| {
            let length = match (dimension, &place.parts[0]) {
                (0, _) => quote!(__p::length(&#name)),
                _ => quote!(__p::inner_length(&#name)),
            };
            let (start, end) = ends(part, &length).filter(|_| part.bounds().any(is_chosen))?;
            let (node, memory, span) = (self.node(), memory(place, dimension), place.name.span());
            Some(quote_spanned!(span=> __p::NodeTarget::check_part(#node, #memory, #length, #start, #end)?;))
        });
        checks.collect()
    }

    /// The arguments that name the node in errors.
    fn node(&self) -> TokenStream {
        let (target, index, name) = (self.target, self.index, self.name.to_string());
        quote!(&*#target, #index, #name)
    }
}

/// Start and end of a range of a dimension with this length; `None` for an index.
fn ends(part: &Part, length: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    match part {
        Part::Index(_) => None,
        Part::Range(range) => Some((start_of(range), end_of(range).unwrap_or_else(|| length.clone()))),
    }
}

/// The place without the bounds that mention params: the memory in which they choose.
fn widened(graph: &Graph<'_>, place: &Place) -> Place {
    let params = graph.param_names();
    let is_chosen = |bound: &mut Box<Expr>| mentions(bound.to_token_stream(), &params);
    let mut widened = place.clone();
    for part in &mut widened.parts {
        if let Part::Range(range) = part {
            range.start.take_if(is_chosen);
            range.end.take_if(is_chosen);
            range.inclusive &= range.end.is_some();
        }
    }
    while let Some(Part::Range(range)) = widened.parts.last()
        && range.is_full()
    {
        widened.parts.pop();
    }
    widened
}
