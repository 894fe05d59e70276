//! The assertions about variables of modules: only constants of the kernels' types tell which modules have them, and
//! which kernels touch them.

use super::alias::{allowed, kernel, launches};
use super::part::{generic, spanned_call};
use super::shape::Shape;
use crate::graph::ast::{Action, Node, Resource};
use crate::graph::resolve::Graph;
use graph_plan::{ConstantAccess, NodeKind, Outcome, unordered_accesses};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::LitStr;
use syn::ext::IdentExt;

/// The assertions, as items beside the type and as statements that depend on the graph's generics.
pub(super) fn assertions(graph: &Graph<'_>, outcome: &Outcome) -> (TokenStream, TokenStream) {
    let (mut items, mut statements) = (TokenStream::new(), TokenStream::new());
    let declared = graph.resources.iter().enumerate().filter_map(|(index, resource)| {
        let symbol = resource.symbol.as_ref()?;
        Some((index, *resource, symbol))
    });
    let declared: Vec<_> = declared.collect();
    if declared.is_empty() {
        return (items, statements);
    }
    let (launches, allowed) = (launches(graph), allowed(graph));
    let found = declared.iter().map(|(_, resource, symbol)| {
        let tokens = exists(graph, resource, symbol, &launches);
        (&*resource.name, symbol.span(), tokens)
    });
    let races = races(graph, outcome, &declared, &launches);
    for (number, (name, span, tokens)) in found.chain(races).enumerate() {
        if generic(graph, tokens.clone()) {
            statements.extend(quote_spanned!(span=> const { #tokens };));
            continue;
        }
        // rustc says that the evaluation of this constant failed.
        let name = format_ident!("MEMORY{number}_{}", name.unraw(), span = span);
        items.extend(quote_spanned!(span=> #allowed const #name: () = #tokens;));
    }
    (items, statements)
}

/// The assertion that a module of the graph's kernels has the variable, as it is declared.
fn exists(graph: &Graph<'_>, resource: &Resource, symbol: &LitStr, launches: &[(usize, String)]) -> TokenStream {
    let mut known = HashSet::new();
    let kernels = launches.iter().filter(|(_, path)| known.insert(path));
    let kernels = kernels.map(|(node, _)| kernel(graph, graph.nodes[*node]));
    let (name, shape) = (resource.name.to_string(), Shape::of(graph, resource));
    // Kernels of children and functions that are loaded may be in other modules.
    let all = graph.nodes.iter().all(|node| match &node.action {
        Action::Kernel(launch) => launch.path().is_some(),
        Action::Graph(_) => false,
        _ => true,
    });
    let span = symbol.span();
    let function = quote_spanned!(span=> __p::check_constant::<#shape>);
    spanned_call(
        function,
        quote!(#name, #symbol, &[#(__p::KernelChecks::<#kernels>::variables()),*], #all),
        span,
    )
}

/// The assertions that copies and memsets of variables do not race with kernels: one for each variable and each kernel
/// if some of their nodes can run at the same time.
fn races<'a>(
    graph: &Graph<'a>,
    outcome: &Outcome,
    declared: &[(usize, &'a Resource, &'a LitStr)],
    launches: &[(usize, String)],
) -> Vec<(&'a Ident, Span, TokenStream)> {
    let constant = |resource: usize| declared.iter().position(|(index, ..)| *index == resource);
    let accesses = graph.draft.accesses.iter().filter_map(|access| {
        let copies = matches!(graph.draft.nodes[access.node].kind, NodeKind::Memcpy | NodeKind::Memset);
        let constant = constant(access.resource).filter(|_| copies)?;
        Some(ConstantAccess {
            node: access.node,
            constant,
            writes: access.mode.writes(),
        })
    });
    let accesses: Vec<ConstantAccess> = accesses.collect();
    let race = |(access, launch): (usize, usize)| {
        let (access, launch) = (accesses[access], launches[launch].0);
        let (_, resource, symbol) = declared[access.constant];
        let (node, launched): (&Node, &Node) = (graph.nodes[access.node], graph.nodes[launch]);
        let kernel = kernel(graph, launched);
        let first = access.node < launch;
        let later = if first { launched } else { node };
        let name = resource.name.to_string();
        let node_name = node.name.to_string();
        let launch_name = launched.name.to_string();
        let (span, writes) = (later.name.span(), access.writes);
        let ordered = outcome.order.ordered(access.node, launch);
        let function = quote_spanned!(span=> __p::KernelChecks::<#kernel>::constant_race);
        let operands = quote!(#name, #symbol, #node_name, #writes, #launch_name, #first, #ordered);
        (&later.name, span, spanned_call(function, operands, span))
    };
    let pairs = unordered_accesses(&graph.draft, &outcome.order, launches, &accesses);
    pairs.into_iter().map(race).collect()
}
