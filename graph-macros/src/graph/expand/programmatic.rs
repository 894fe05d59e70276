//! Edges as tokens, and the compile-time assertions about programmatic ones: only constants of the kernels' types tell
//! whether these are an order of their nodes.

use super::node::alias;
use crate::graph::ast::{Action, Argument, Launch};
use crate::graph::resolve::Graph;
use graph_plan::{Access, Code, Edge, Outcome, Writers};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;

/// The call that ends the nodes, and those that add all edges, in order. In a graph with loops each edge has the number of loops that are around both
/// of its nodes. `builder` is a `&mut GraphBuilder`.
pub(super) fn edges(graph: &Graph<'_>, builder: &impl ToTokens) -> TokenStream {
    let indices: Vec<usize> = (0..graph.draft.edges.len()).collect();
    let programmatic = |edge: &usize| graph.draft.is_programmatic(*edge);
    let runs = indices.chunk_by(|a, b| programmatic(a) == programmatic(b));
    let calls = runs.map(|run| {
        let method = match programmatic(&run[0]) {
            false => quote!(edges),
            true => quote!(programmatic_edges),
        };
        let edges = run.iter().map(|&edge| {
            let Edge { from, to } = graph.draft.edges[edge];
            let both = graph.loops_around(from).into_iter().zip(graph.loops_around(to));
            let common = (!graph.loops.is_empty()).then(|| both.take_while(|(from, to)| from == to).count());
            let numbers = [from, to].into_iter().chain(common).map(Literal::usize_unsuffixed);
            quote!([#(#numbers),*])
        });
        quote!(__p::Declare::#method(#builder, &[#(#edges),*]);)
    });
    let nodes = Literal::usize_unsuffixed(graph.nodes.len());
    let end = quote!(__p::Declare::end_nodes(#builder, #nodes););
    [end].into_iter().chain(calls).collect()
}

/// For each programmatic edge, the assertion that the later kernel waits, and a warning where the earlier one never
/// lets it start early.
pub(super) fn assertions(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    if graph.draft.programmatic.is_empty() {
        return TokenStream::new();
    }
    let writers = Writers::new(&graph.draft, &outcome.order);
    let all = kernels(graph);
    let assertion = |&index: &usize| {
        let assertion = assertion(graph, index, &writers, &all);
        let warning = never_triggers(graph, index);
        quote!(#assertion #warning)
    };
    graph.draft.programmatic.iter().map(assertion).collect()
}

/// That the edge is an order. Of function values only build can tell.
fn assertion(graph: &Graph<'_>, index: usize, writers: &Writers<'_>, all: &[Ident]) -> Option<TokenStream> {
    let Edge { from, to } = graph.draft.edges[index];
    let (before, after) = (graph.nodes[from], graph.nodes[to]);
    let launch = declared(graph, to)?;
    let kernel = alias(after);
    let upstream = declared(graph, from).map_or_else(|| kernel.clone(), |_| alias(before));
    let memory = sharing(graph, to, launch, writers);
    let (name, other) = (after.name.to_string(), before.name.to_string());
    Some(quote_spanned! {graph.edges[index].span()=>
        const _: () = __p::check_programmatic::<#kernel, #upstream>(
            #name, #other, &[#memory], &[#(<#all as __g::Kernel>::FACTS),*]
        );
    })
}

/// A warning, unless it is silenced, at the name of the node before.
fn never_triggers(graph: &Graph<'_>, index: usize) -> Option<TokenStream> {
    let Edge { from, to } = graph.draft.edges[index];
    declared(graph, from).filter(|_| !graph.allows(to, Code::ProgrammaticEdge))?;
    let (kernel, note) = (alias(graph.nodes[from]), Ident::new("NOTE", graph.edges[index].span()));
    Some(quote! {
        const _: () = __p::Upstream::<{ __p::triggers::<#kernel>() }>::#note;
    })
}

/// The launch of a node whose kernel is declared.
fn declared<'a>(graph: &Graph<'a>, node: usize) -> Option<&'a Launch> {
    match &graph.nodes[node].action {
        Action::Kernel(launch) => launch.path().map(|_| &**launch),
        _ => None,
    }
}

/// The kernels of all nodes, each once.
fn kernels(graph: &Graph<'_>) -> Vec<Ident> {
    let mut known = HashSet::new();
    let kernel = |node: usize| {
        let path = declared(graph, node)?.path()?.to_token_stream().to_string();
        known.insert(path).then(|| alias(graph.nodes[node]))
    };
    (0..graph.nodes.len()).filter_map(kernel).collect()
}

/// What the graph does to the memory behind each buffer parameter of a node.
fn sharing(graph: &Graph<'_>, node: usize, launch: &Launch, writers: &Writers<'_>) -> TokenStream {
    let borrowed = launch.arguments.iter().enumerate();
    let borrowed = borrowed.filter(|(_, argument)| matches!(argument, Argument::Borrow { .. }));
    let accesses = graph.draft.accesses.iter().filter(|access| access.node == node);
    let shared = borrowed.zip(accesses).map(|((param, _), access): (_, &Access)| {
        let (written, written_before) = (writers.any(access), writers.before(access));
        quote! {
            __p::Sharing { param: #param, written: #written, written_before: #written_before },
        }
    });
    shared.collect()
}
