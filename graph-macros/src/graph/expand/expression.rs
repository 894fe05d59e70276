//! A graph as an expression: a block that builds it, and the type of its value.
//!
//! The type cannot name anything of the function around it: neither its generics nor the types of its locals. So it is
//! generic over each resource, each param, and the closure with the nodes that mention params. It is in a module, which
//! hides its fields from the user. The user's expressions are all in the block, and see the locals around it.

mod definition;

use super::alias::{child_type, children_aliased, kernels_aliased};
use super::atomic;
use super::build_steps;
use super::interface::Bodies;
use super::names::{hidden, loaded_name, local, nodes_name};
use super::node::{apply, assertions};
use super::programmatic;
use super::resource;
use super::resource::initial;
use super::still_compiled;
use super::types::{changes, children};
use crate::graph::ast::{Form, Resource};
use crate::graph::editor;
use crate::graph::resolve::{Graph, params};
use crate::report::Report;
use graph_plan::Outcome;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// Expands a graph without mistakes.
pub(crate) fn expression(graph: &Graph<'_>, outcome: &Outcome, report: &Report) -> TokenStream {
    let messages = report.tokens();
    let (builder, built) = (hidden("builder"), hidden("graph"));
    let definitions = definition::definitions(graph, Bodies::Real);
    let (kernels, child_graphs) = (kernels_aliased(graph), children_aliased(graph));
    let (assertions, generic) = assertions(graph, outcome);
    let device = device(graph);
    let (owner, target) = (hidden("owner"), builder.to_token_stream());
    let resources = resources(graph, &target);
    let (initial, changing) = (initial(graph), changing(graph));
    let nodes = build_steps::nodes(graph, &target);
    let edges = programmatic::edges(graph, &builder);
    let orders = programmatic::assertions(graph, outcome);
    let warnings = atomic::warnings(graph, outcome);
    let constructed = construct(graph, &quote!(#built));
    let paths = editor::paths();
    quote! {{
        #paths
        #definitions
        #kernels
        #child_graphs
        #assertions
        #orders
        #warnings
        #messages
        #generic
        let mut #owner = __g::GraphBuilder::new(
            #device,
            ::core::concat!("graph@", ::core::file!(), ":", ::core::line!()),
        );
        let #builder = &mut #owner;
        #resources
        #initial
        #changing
        #nodes
        #edges
        ::core::result::Result::map(__g::GraphBuilder::build(#owner), move |#built| #constructed)
    }}
}

/// Expands a graph with mistakes: to its messages, the statements that rustc can compile, and an expression of the
/// right type.
pub(crate) fn stub(graph: &Graph<'_>, report: &Report) -> TokenStream {
    let builder = hidden("builder");
    let nodes = still_compiled::nodes(graph, report, &builder.to_token_stream());
    value(graph, &builder, &report.tokens(), &nodes)
}

/// The part of the expansion that editors see besides the statements: the mistakes, and an expression of the right
/// type.
pub(crate) fn seen(graph: &Graph<'_>, report: &Report) -> TokenStream {
    let messages = match report.has_errors() {
        true => report.tokens(),
        false => TokenStream::new(),
    };
    value(graph, &hidden("builder"), &messages, &TokenStream::new())
}

/// An expression of the type of the graph, which is not built.
fn value(graph: &Graph<'_>, builder: &Ident, messages: &TokenStream, nodes: &TokenStream) -> TokenStream {
    let definitions = definition::definitions(graph, Bodies::Stub);
    let (device, kernels, child_graphs) = (device(graph), kernels_aliased(graph), children_aliased(graph));
    let (resources, initial) = (resources(graph, &builder.to_token_stream()), initial(graph));
    let changing = changes(graph).then(|| {
        let (name, types) = (nodes_name(), types(graph));
        quote!(let #name = __p::changing(|_, _, _, _: #types| ::core::result::Result::Ok(()));)
    });
    let constructed = construct(
        graph,
        &quote!(::core::unreachable!("this graph has mistakes and did not compile")),
    );
    let paths = editor::paths();
    quote! {{
        #paths
        #definitions
        #kernels
        #child_graphs
        #messages
        #[allow(unreachable_code, unused_variables)]
        __p::stub(#device, move |#builder| {
            #resources
            #initial
            #nodes
            #changing
            #constructed
        })
    }}
}

/// The expression before `=>`.
fn device(graph: &Graph<'_>) -> TokenStream {
    match &graph.item.form {
        Form::Expression(device, _) => device.to_token_stream(),
        Form::Item => TokenStream::new(),
    }
}

/// The declarations of all resources. `builder` is a `&mut GraphBuilder`.
fn resources(graph: &Graph<'_>, builder: &TokenStream) -> TokenStream {
    let declare = |resource: &&Resource| match resource.is_moved() {
        true => move_in(resource, builder),
        false => resource::declare(graph, resource, builder, None),
    };
    graph.resources.iter().map(declare).collect()
}

/// Moves a local into the graph. Expressions that mention it later see the `Moved` that was made of it.
fn move_in(resource: &Resource, builder: &TokenStream) -> TokenStream {
    let (name, made, text) = (&resource.name, made(resource), resource.name.to_string());
    let place = local(&resource.name);
    // All has one span, so that rustc says only once that a type is no memory.
    let moved = quote_spanned!(name.span()=> __p::move_in(#builder, #text, #name));
    quote! {
        let #made = #moved;
        let #place = __p::MovedSlot::place(&#made);
    }
}

/// The name of the `Moved` that was made of a local: the local's name, with a span at which no message is reported.
fn made(resource: &Resource) -> Ident {
    let mut name = Ident::clone(&resource.name);
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// The types of all params as a tuple, as the user wrote them.
fn types(graph: &Graph<'_>) -> TokenStream {
    let types = graph.params.iter().map(|param| &param.ty);
    quote!((#(#types,)*))
}

/// The closure that adds, or updates, the nodes that mention params. It keeps the locals that they mention.
fn changing(graph: &Graph<'_>) -> Option<TokenStream> {
    let (name, target, index, function) = (nodes_name(), hidden("target"), hidden("index"), loaded_name());
    let changing = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| !params(graph, node).is_empty());
    let arms = changing.map(|(number, node)| {
        let apply = apply(graph, number, node, &target);
        let variables = graph.variables_up_to(graph.draft.loop_around(number));
        let iterations =
            (!variables.is_empty()).then(|| quote!(let [#(#variables),*] = __p::NodeTarget::iterations(#target);));
        quote!(#number => { #iterations #apply })
    });
    let (params, types) = (graph.params.iter().map(|param| &param.name), types(graph));
    // Places are `Copy`; random numbers are not, so the closure gets a clone of the handle.
    let handles = graph.resources.iter().filter(|resource| resource.random.is_some());
    let handles = handles.map(|resource| {
        let place = local(&resource.name);
        quote!(let #place = ::core::clone::Clone::clone(&#place);)
    });
    changes(graph).then(|| {
        quote! {
            let mut #name = { #(#handles)* __p::changing(
                move |#target, #index, #function, #[allow(unused_variables)] (#(#params,)*): #types| match #index {
                    #(#arms)*
                    _ => ::core::result::Result::Ok(()),
                },
            ) };
        }
    })
}

/// The value of the whole expression, made from the built graph.
fn construct(graph: &Graph<'_>, built: &TokenStream) -> TokenStream {
    let resources = graph.resources.iter().map(|resource| match resource.is_moved() {
        true => made(resource),
        false => local(&resource.name),
    });
    let params = graph.params.iter().map(|param| &param.name);
    let children = children(graph).filter_map(|index| {
        let node = graph.nodes[index];
        let child = node.action.child()?;
        let ty = child_type(graph, node, child);
        Some(quote_spanned!(child.span()=> __p::graph_type::<#ty>()))
    });
    let nodes = changes(graph).then(nodes_name);
    let (module, name) = (definition::module(), &graph.item.name);
    quote! {
        #module::#name::__new(
            #built,
            #(#resources,)*
            #(#params,)*
            #(#children,)*
            #nodes
        )
    }
}
