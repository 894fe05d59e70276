//! From a checked graph to tokens. Expansion cannot fail; a graph with mistakes becomes a stub with the same interface.
//!
//! The expansion is thin calls into `graph_runtime`: a struct with the executable graph and its places, a `build` that
//! calls `GraphBuilder` once for each node, accessors, and compile-time assertions about values that only rustc knows.

mod expression;
mod still_compiled;
mod build;
mod child_interface;
mod setters;
mod build_steps;
mod resource;
mod operands;
mod plan;
mod scratch;
mod programmatic;
mod node;
mod symbol;
mod child;
mod library;
mod collective;
mod host_call;
mod chosen_part;
mod rectangle;
mod node_attributes;
mod atomic;
mod extent;
mod handle;
mod alias;
mod group;
mod part;
mod rng;
mod interface;
mod drawing;
mod argument;
mod visibility;
mod promise;
mod types;
mod shape;
mod checked;
mod names;

pub(crate) use expression::{expression, seen as seen_expression, stub as stub_expression};

use super::ast::Group;
use super::editor;
use super::resolve::Graph;
use crate::report::Report;
use graph_plan::Outcome;
use interface::Bodies;
use proc_macro2::TokenStream;
use quote::quote;

/// The parts of a graph's expansion.
#[derive(Default)]
pub(crate) struct Expansion {
    /// Methods without their bodies, which only editors see. (In the bodies, a name of the user's is mentioned so often
    /// that an editor would not find what it means.)
    seen: TokenStream,
    /// Items that only rustc compiles.
    compiled: TokenStream,
    /// Methods for both.
    methods: TokenStream,
    /// Types for both.
    types: TokenStream,
}

/// The items of all graphs, and the messages about them. The statements that editors see come first, so that the rest
/// of the expansion never moves them.
pub(crate) fn items(
    statements: TokenStream,
    mut graphs: Vec<Expansion>,
    groups: Vec<TokenStream>,
    report: &Report,
) -> TokenStream {
    let messages = match report.has_errors() {
        true => report.tokens(),
        false => report.warnings(|block| editor::items(TokenStream::new(), block, TokenStream::new())),
    };
    if graphs.is_empty() {
        graphs.push(Expansion::default());
    }
    let seen = &graphs[0].seen;
    graphs[0].seen = quote!(#statements #seen);
    let items = graphs.into_iter().map(|graph| {
        let (items, types) = (editor::items(graph.seen, graph.compiled, graph.methods), graph.types);
        quote!(#items #types)
    });
    quote!(#(#items)* #(#groups)* #messages)
}

/// The type of a group, whether or not the graphs that take it have mistakes.
pub(crate) fn group(group: &Group, graphs: &[Graph<'_>]) -> TokenStream {
    group::declaration(group, graphs)
}

/// Expands a graph without mistakes.
pub(crate) fn graph(graph: &Graph<'_>, outcome: &Outcome) -> Expansion {
    let (params, plan) = (interface::params(graph, Bodies::Real), plan::plan(graph, outcome));
    let (assertions, generic) = node::assertions(graph, outcome);
    let build = build::build(graph, outcome, &generic);
    let groups = build_steps::group_functions(graph);
    let updates = setters::updates(graph);
    let offered = child_interface::offered(graph, Bodies::Real, &generic);
    let implementation = interface::implementation(graph, quote!(#params #plan #build #offered #groups #updates));
    let bound = child_interface::bound(graph, Bodies::Real);
    let kernels = alias::kernels_aliased(graph);
    let param_graph = setters::param_graph(graph);
    let edges = programmatic::assertions(graph, outcome);
    let warnings = atomic::warnings(graph, outcome);
    Expansion {
        seen: stub_methods(graph),
        compiled: quote!(#kernels #bound #implementation #param_graph #assertions #edges #warnings),
        methods: methods(graph, Bodies::Real),
        types: types(graph, drawing::drawing(graph, outcome)),
    }
}

/// Expands a graph with mistakes: to the same types and signatures, so that uses of it elsewhere give no further
/// errors.
pub(crate) fn stub(graph: &Graph<'_>, report: &Report) -> Expansion {
    let (methods, stubs) = (methods(graph, Bodies::Stub), stub_methods(graph));
    let (kernels, statements) = (alias::kernels_aliased(graph), still_compiled::functions(graph, report));
    let offered = interface::implementation(
        graph,
        child_interface::offered(graph, Bodies::Stub, &TokenStream::new()),
    );
    let bound = child_interface::bound(graph, Bodies::Stub);
    Expansion {
        seen: TokenStream::new(),
        compiled: quote!(#kernels #statements #bound #offered),
        methods: quote!(#methods #stubs),
        types: types(graph, None),
    }
}

/// The methods that are the same for editors and for rustc, and the names of children in their signatures.
fn methods(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let children = alias::children_aliased(graph);
    let methods = interface::methods(graph, &handle::handles(graph, bodies), bodies);
    let groups = group::methods(graph, bodies);
    let nodes = (!graph.is_expression()).then(|| handle::nodes(graph, bodies));
    quote!(#children #methods #groups #nodes)
}

/// The types beside which all else is. `drawing` is documentation.
fn types(graph: &Graph<'_>, drawing: Option<TokenStream>) -> TokenStream {
    let (types, nodes) = (interface::types(graph, drawing), handle::nodes_type(graph));
    let groups = group::types(graph);
    quote!(#types #nodes #groups)
}

/// The methods that differ for editors and for rustc, without their bodies.
fn stub_methods(graph: &Graph<'_>) -> TokenStream {
    let params = interface::params(graph, Bodies::Stub);
    let plan = plan::stub(graph);
    let build = build::stub(graph);
    interface::implementation(graph, quote!(#params #plan #build))
}
