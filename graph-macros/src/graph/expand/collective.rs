//! The calls that add collectives.

use super::part::borrow_on_device;
use crate::graph::ast::{Collective, Move, Node};
use crate::graph::resolve::Graph;
use graph_plan::{Mode, NodeKind};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

/// The call that adds a collective. It has the span of the node's name, as those of other nodes.
pub(super) fn add(graph: &Graph<'_>, node: &Node, collective: &Collective, builder: &TokenStream) -> TokenStream {
    let (name, span) = (node.name.to_string(), node.name.span());
    let method = Ident::new(node.kind.keyword(), span);
    let communicator = &collective.communicator;
    let over = quote_spanned!(communicator.span()=> &#communicator);
    let moves = collective.moves.iter();
    let memory = moves.map(|one| borrow_on_device(graph, &one.place, one.mode.writes()));
    let reduction = reduction(collective, span);
    match node.kind {
        NodeKind::Exchange => {
            let moves = collective
                .moves
                .iter()
                .zip(memory)
                .map(|(one, place)| exchanged(one, &place));
            quote_spanned!(span=> let _ = #builder.exchange(#name, [#(#moves),*], #over);)
        }
        NodeKind::Broadcast => {
            let root = collective.moves.iter().filter_map(|one| one.peer.as_ref());
            quote_spanned!(span=> let _ = #builder.broadcast(#name, #(#memory,)* #(#root,)* #over);)
        }
        NodeKind::AllReduce | NodeKind::ReduceScatter => {
            quote_spanned!(span=> let _ = #builder.#method(#name, #reduction, #(#memory,)* #over);)
        }
        _ => quote_spanned!(span=> let _ = #builder.#method(#name, #(#memory,)* #over);),
    }
}

/// The reduction: the sum if the author names none.
fn reduction(collective: &Collective, span: proc_macro2::Span) -> TokenStream {
    let Some(written) = &collective.reduction else {
        return quote_spanned!(span=> __g::Reduction::Sum);
    };
    let mut name = written.to_string();
    name[..1].make_ascii_uppercase();
    let variant = Ident::new(&name, written.span());
    quote!(__g::Reduction::#variant)
}

/// One part of an exchange.
fn exchanged(one: &Move, place: &TokenStream) -> TokenStream {
    let (span, peer) = (one.place.name.span(), &one.peer);
    let method = Ident::new(if one.mode == Mode::Read { "send" } else { "recv" }, span);
    quote_spanned!(span=> __g::Exchange::#method(#place, #peer))
}
