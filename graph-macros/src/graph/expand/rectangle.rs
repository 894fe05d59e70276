//! Columns of rows as tokens: the expression that selects them, and the calls that copy and set them.

use super::part::{as_device, borrow_on_device, length, range, reference, select, whole};
use super::shape::Shape;
use crate::graph::ast::{Part, Place};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

/// One side of a copy of columns: columns, or another place row by row.
pub(super) fn columns(graph: &Graph<'_>, place: &Place, mutable: bool) -> TokenStream {
    let selected = if place.is_rectangle() {
        rectangle(graph, place, &whole(graph, place))
    } else {
        let (selected, span) = (select(graph, place, false), place.end);
        quote_spanned!(span=> __g::Rectangle::from(#selected))
    };
    reference(place, mutable, &selected)
}

/// The method that sets memory, with the span `call`, and its argument.
pub(super) fn memset(graph: &Graph<'_>, to: &Place, call: Span) -> (Ident, TokenStream) {
    if !to.is_rectangle() {
        return (Ident::new("memset", call), borrow_on_device(graph, to, true));
    }
    let (name, span) = (whole(graph, to), to.name.span());
    let whole = match graph.resource(to) {
        Some(index) if graph.resources[index].is_moved() => quote_spanned!(span=> __g::Place::<_, _>::whole(&#name)),
        _ => name,
    };
    let selected = rectangle(graph, to, &as_device(graph, to, whole));
    (Ident::new("memset_2d", call), reference(to, true, &selected))
}

/// The expression of columns of rows, of type `Rectangle<shape of the part, memory>`. `whole` is the expression of the
/// resource's place.
fn rectangle(graph: &Graph<'_>, place: &Place, whole: &TokenStream) -> TokenStream {
    let Some(resource) = graph.resource(place).map(|index| graph.resources[index]) else {
        return TokenStream::new();
    };
    let (span, shape) = (place.end, Shape::of(graph, resource));
    let of = quote_spanned!(span=> __g::Place::<#shape, _>);
    let [rows, columns] = &place.parts[..] else {
        return quote_spanned!(span=> __g::Rectangle::from(#whole));
    };
    let Some(rows) = range(graph, resource, 0, rows) else {
        return TokenStream::new();
    };
    let (row, row_count, all_rows) = (rows.start(), length(graph, &rows), rows.tokens());
    let Some(columns) = range(graph, resource, 1, columns) else {
        let Part::Index(column) = columns else {
            return TokenStream::new();
        };
        return match row_count {
            Some(count) => quote_spanned!(span=> #of::column::<#count>(&#whole, #row, #column)),
            None => quote_spanned!(span=> #of::column_rows(&#whole, #all_rows, #column)),
        };
    };
    let column = columns.start();
    match (row_count, length(graph, &columns)) {
        (Some(rows), Some(columns)) => {
            quote_spanned!(span=> #of::rectangle::<#rows, #columns>(&#whole, #row, #column))
        }
        (None, Some(columns)) => {
            quote_spanned!(span=> #of::rectangle_rows::<#columns>(&#whole, #all_rows, #column))
        }
        (_, None) => {
            let columns = columns.tokens();
            quote_spanned!(span=> #of::rectangle_of(&#whole, #all_rows, #columns))
        }
    }
}
