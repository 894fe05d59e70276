//! Nodes that take closures, or other values, from the user.

use super::argument::kept;
use super::part::borrow;
use super::shape::Shape;
use crate::graph::ast::{Action, Call, CallParameter, Node};
use crate::graph::resolve::{Graph, Scalar, added_scalars};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;

/// The call that adds a host function. Its parameters have the names and the shapes of the resources that it borrows.
pub(super) fn call(graph: &Graph<'_>, node: &Node, call: &Call, builder: &TokenStream) -> TokenStream {
    let (name, span) = (node.name.to_string(), node.name.span());
    let (mut places, mut names, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for CallParameter { and, mutable, place } in &call.parameters {
        places.push(borrow(graph, place, mutable.is_some()));
        names.push(&place.name);
        let resource = graph.resource(place);
        types.push(
            match resource.map(|resource| Shape::of(graph, graph.resources[resource])) {
                Some(table @ Shape::Table { .. }) => table.lent(mutable.is_some()),
                shape => quote!(#and #mutable #shape),
            },
        );
    }
    let (clones, body) = (clones(graph, node), &call.body);
    let views = call.parameters.iter().filter_map(|parameter| view(graph, parameter));
    let views: TokenStream = views.collect();
    let body = match views.is_empty() {
        true => body.to_token_stream(),
        false => quote!({ #views #body }),
    };
    let function = quote_spanned!(span=> move |(#(#names,)*): (#(#types,)*)| #body);
    quote_spanned! {span=>
        { #clones let _ = #builder.call(#name, (#(#places,)*), #function); }
    }
}

/// Returns the statement that makes the view of a written table mutable: the closure gets that view by value.
fn view(graph: &Graph<'_>, parameter: &CallParameter) -> Option<TokenStream> {
    let (name, resource) = (&parameter.place.name, graph.resource(&parameter.place)?);
    let table = matches!(Shape::of(graph, graph.resources[resource]), Shape::Table { .. });
    (table && parameter.mutable.is_some()).then(|| quote!(#[allow(unused_mut)] let mut #name = #name;))
}

/// The call that adds a node about an event.
pub(super) fn event(graph: &Graph<'_>, node: &Node, event: &Expr, builder: &TokenStream) -> TokenStream {
    let (name, span) = (node.name.to_string(), node.name.span());
    let (clones, method) = (clones(graph, node), Ident::new(node.kind.keyword(), span));
    quote_spanned!(span=> { #clones let _ = #builder.#method(#name, #event); })
}

/// Clones of the build arguments that the node moves, if other nodes, further iterations of it or another closure of it
/// need them as well.
pub(super) fn clones(graph: &Graph<'_>, node: &Node) -> TokenStream {
    let kept = kept(graph);
    let index = graph.nodes.iter().position(|other| std::ptr::eq(*other, node));
    let is_in_loop = index.is_some_and(|index| graph.draft.loop_around(index).is_some());
    let closes_twice = matches!(&node.action, Action::Library(library) if library.stand_in.is_some());
    let shared = |&scalar: &Scalar| {
        let uses = |other: &&&Node| added_scalars(graph, other).contains(&scalar);
        let users = graph.nodes.iter().filter(uses).count();
        users > 1 || is_in_loop || closes_twice || kept.iter().any(|value| value.name == graph.scalar(scalar).name)
    };
    let clone = |scalar: Scalar| {
        let name = graph.scalar(scalar).name;
        quote_spanned!(name.span()=> let #name = ::core::clone::Clone::clone(&#name);)
    };
    let used = added_scalars(graph, node).into_iter();
    used.filter(shared).map(clone).collect()
}
