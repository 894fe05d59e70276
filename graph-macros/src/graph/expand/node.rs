//! One node as tokens: the call that adds or updates it, and the compile-time assertions about it.

use super::part::{bounds_assertion, bytes, generic, select};
use crate::graph::ast::{Action, Argument, Extent, Launch, Node, Place};
use crate::graph::constant::{argument, is_constant, mentions};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// The call that adds a node that no param changes.
pub(super) fn add(graph: &Graph<'_>, node: &Node, builder: &Ident) -> TokenStream {
    let name = node.name.to_string();
    match &node.action {
        Action::Kernel(launch) => {
            let (dimensions, call) = (dimensions(launch), call(graph, launch));
            quote!(#builder.kernel(#name, #dimensions, #call);)
        }
        Action::Memcpy { from, to } => {
            let (source, destination) = (select(graph, from), select(graph, to));
            quote!(#builder.memcpy(#name, &#source, &mut #destination);)
        }
        Action::Memset { to, value } => {
            let (place, element) = (select(graph, to), element(graph, to));
            quote!(#builder.memset::<_, #element>(#name, &mut #place, #value);)
        }
        Action::Join => quote!(#builder.join(#name);),
    }
}

/// The call that adds a node to a builder, or updates it in a graph: the same expression serves both.
pub(super) fn apply(graph: &Graph<'_>, index: usize, node: &Node, sink: &Ident) -> TokenStream {
    let name = node.name.to_string();
    match &node.action {
        Action::Kernel(launch) => {
            let (dimensions, call) = (dimensions(launch), call(graph, launch));
            quote!(::graph_runtime::private::NodeSink::kernel(#sink, #index, #name, #dimensions, #call))
        }
        Action::Memset { to, value } => {
            let (place, element) = (select(graph, to), element(graph, to));
            quote!(::graph_runtime::private::NodeSink::memset::<_, #element>(#sink, #index, #name, &mut #place, #value))
        }
        Action::Memcpy { .. } | Action::Join => quote!(::core::result::Result::Ok(())),
    }
}

/// `Launch::new(grid, block)` at the user's tokens.
fn dimensions(launch: &Launch) -> TokenStream {
    let (grid, block) = (&launch.grid.whole, &launch.block.whole);
    let shared = launch.shared.as_ref().map(|shared| quote!(.shared(#shared)));
    quote!(::graph_runtime::Launch::new(#grid, #block) #shared)
}

/// `<path>::call(arguments)`, in `unsafe` where the user wrote so. The path stands in a type position, as it does in the assertions,
/// so that a wrong one is one error.
fn call(graph: &Graph<'_>, launch: &Launch) -> TokenStream {
    let path = &launch.path;
    let arguments = launch.arguments.iter().map(|argument| match argument {
        Argument::Borrow { and, mutable, place } => {
            let place = select(graph, place);
            quote!(#and #mutable #place)
        }
        Argument::Value(value) => value.to_token_stream(),
    });
    let arguments = quote!(#(#arguments),*);
    let mut arguments = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, arguments);
    arguments.set_span(launch.parens);
    let callee = quote_spanned!(path.span()=> <#path>::call);
    match launch.unsafety {
        Some(unsafety) => quote!(#unsafety { #callee #arguments }),
        None => quote!(#callee #arguments),
    }
}

/// The innermost type of a place's resource.
fn element(graph: &Graph<'_>, place: &Place) -> TokenStream {
    graph.resource(place).map_or_else(
        || quote!(_),
        |index| graph.resources[index].shape.element.to_token_stream(),
    )
}

/// The places a node touches.
pub(super) fn places(node: &Node) -> Vec<&Place> {
    match &node.action {
        Action::Kernel(launch) => launch
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Borrow { place, .. } => Some(place),
                Argument::Value(_) => None,
            })
            .collect(),
        Action::Memcpy { from, to } => vec![from, to],
        Action::Memset { to, .. } => vec![to],
        Action::Join => Vec::new(),
    }
}

/// The indices of the params that a node's expressions mention.
pub(super) fn params(graph: &Graph<'_>, node: &Node) -> Vec<usize> {
    let tokens: TokenStream = match &node.action {
        Action::Kernel(launch) => {
            let values = launch.arguments.iter().filter_map(|argument| match argument {
                Argument::Value(value) => Some(value.to_token_stream()),
                Argument::Borrow { .. } => None,
            });
            let dimensions = [&launch.grid.whole, &launch.block.whole]
                .into_iter()
                .chain(&launch.shared);
            values.chain(dimensions.map(ToTokens::to_token_stream)).collect()
        }
        Action::Memset { value, .. } => value.to_token_stream(),
        Action::Memcpy { .. } | Action::Join => return Vec::new(),
    };
    let used = |name: &Ident| mentions(tokens.clone(), &[name.to_string()]);
    (0..graph.params.len())
        .filter(|&index| used(&graph.params[index].name))
        .collect()
}

/// Assertions that do not depend on the graph's generics: items beside the type, evaluated by `cargo check`.
pub(super) fn assertions(graph: &Graph<'_>) -> TokenStream {
    each(graph, false)
        .into_iter()
        .map(|(span, assertion)| quote_spanned!(span=> const _: () = #assertion;))
        .collect()
}

/// Assertions that depend on the graph's generics: constants in `build`, evaluated where the graph is used.
pub(super) fn generic_assertions(graph: &Graph<'_>) -> TokenStream {
    each(graph, true)
        .into_iter()
        .map(|(span, assertion)| quote_spanned!(span=> const { #assertion };))
        .collect()
}

/// The assertions about all nodes that do, or do not, mention the graph's generics.
fn each(graph: &Graph<'_>, generics: bool) -> Vec<(Span, TokenStream)> {
    let mut found = Vec::new();
    for node in &graph.nodes {
        for place in places(node) {
            found.extend(bounds_assertion(graph, place).map(|assertion| (place.name.span(), assertion)));
        }
        if let Action::Kernel(launch) = &node.action {
            found.extend(launch_assertion(graph, node, launch).map(|assertion| (launch.path.span(), assertion)));
        }
    }
    found.retain(|(_, assertion)| generic(graph, assertion.clone()) == generics);
    found
}

/// Contracts and the kernel's own limits; `None` where a dimension is no constant.
fn launch_assertion(graph: &Graph<'_>, node: &Node, launch: &Launch) -> Option<TokenStream> {
    let variables = graph.param_names();
    let mut dimensions = launch
        .grid
        .parts
        .iter()
        .chain(&launch.block.parts)
        .chain(&launch.shared);
    if !dimensions.all(|expr| is_constant(expr, &variables)) {
        return None;
    }
    let (grid, block) = (extent(&launch.grid), extent(&launch.block));
    let shared = launch.shared.as_ref().map_or_else(|| quote!(0), wide);
    let unknown = || quote!(::graph_runtime::private::plan::Argument::Unknown);
    let arguments = launch.arguments.iter().map(|passed| match passed {
        Argument::Borrow { place, .. } => match bytes(graph, place) {
            Some(bytes) => quote!(::graph_runtime::private::plan::Argument::Buffer(#bytes)),
            None => unknown(),
        },
        Argument::Value(value) => argument(value, &variables),
    });
    let (name, path) = (node.name.to_string(), &launch.path);
    let arguments = quote!(&[#(#arguments),*]);
    Some(quote_spanned! {path.span()=>
        ::graph_runtime::private::check_launch::<#path>(#name, #grid, #block, #shared, #arguments)
    })
}

fn extent(extent: &Extent) -> TokenStream {
    let parts = extent.parts.iter().map(wide).chain([quote!(1), quote!(1)]).take(3);
    quote!([#(#parts),*])
}

/// A dimension as `i128`.
fn wide(expr: &Expr) -> TokenStream {
    quote!((#expr) as i128)
}
