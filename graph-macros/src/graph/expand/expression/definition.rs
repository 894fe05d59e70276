//! The type of a graph that is an expression: its definition, and the methods that graphs as items do not have.

use crate::graph::ast::Resource;
use crate::graph::editor;
use crate::graph::expand::handle::handles;
use crate::graph::expand::interface;
use crate::graph::expand::interface::{Bodies, implementation};
use crate::graph::expand::names::{Source, copy};
use crate::graph::expand::setters::{param_graph_of, setter};
use crate::graph::expand::types::{children, expression_child, expression_param};
use crate::graph::expand::types::{generics, marker_value, nodes_field, place_type, resource_type};
use crate::graph::resolve::{Graph, params};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The name of the module of the type.
pub(super) fn module() -> Ident {
    Ident::new("__cuda_graph", Span::mixed_site())
}

/// The module with the type and all its methods.
pub(super) fn definitions(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let types = interface::types(graph, None);
    let interface = interface::methods(graph, &handles(graph, bodies), bodies);
    let (paths, params) = (editor::paths(), implementation(graph, interface::params(graph, bodies)));
    let parts = parts(graph, bodies);
    let plan = bodies.of(quote!(__g::Graph::plan(&self.__graph)));
    let setters = (0..graph.params.len()).filter(|_| bodies == Bodies::Real);
    let setters = setters.map(|param| setter(graph, param));
    let changes = (0..graph.params.len()).map(|param| change(graph, param));
    let param_graph = (bodies == Bodies::Real).then(|| param_graph_of(graph, changes, &[]));
    let new = new(graph);
    let methods = implementation(
        graph,
        quote! {
            #new
            #(#setters)*

            /// The graph as data: nodes, what they touch, the edges that are lowered, levels.
            pub fn plan(&self) -> __g::Plan { #plan }
        },
    );
    let module = module();
    quote! {
        #[allow(dead_code, non_snake_case, unreachable_pub, unused_variables, clippy::all, clippy::pedantic)]
        mod #module {
            #paths
            #types
            #interface
            #params
            #methods
            #param_graph
            #parts
        }
    }
}

/// The constructor. It is needed since the fields are private.
fn new(graph: &Graph<'_>) -> TokenStream {
    let places = graph.resources.iter().map(|resource| {
        let (name, ty) = (&resource.name, place_type(graph, resource));
        quote!(#name: #ty)
    });
    let params = graph.params.iter().enumerate().map(|(index, param)| {
        let (name, ty) = (&param.name, expression_param(index));
        quote!(#name: #ty)
    });
    let children = children(graph).map(expression_child);
    let fields = graph.resources.iter().map(|resource| &*resource.name);
    let fields = fields.chain(graph.params.iter().map(|param| &param.name));
    let nodes = nodes_field(graph);
    let nodes_value = nodes
        .is_some()
        .then(|| quote!(__nodes: ::core::cell::RefCell::new(__nodes),));
    let nodes = nodes.map(|_| quote!(__nodes: F,));
    let marker = marker_value(&generics(graph));
    quote! {
        #[doc(hidden)]
        pub fn __new(
            __graph: __g::Graph,
            #(#places,)*
            #(#params,)*
            #(_: ::core::marker::PhantomData<#children>,)*
            #nodes
        ) -> Self {
            Self {
                __graph,
                #(#fields,)*
                #nodes_value
                #marker
            }
        }
    }
}

/// The changes of the nodes that mention a param; `None` if no node does.
fn change(graph: &Graph<'_>, param: usize) -> Option<TokenStream> {
    let affected = (0..graph.nodes.len()).filter(|&node| params(graph, graph.nodes[node]).contains(&param));
    let affected: Vec<usize> = affected.collect();
    let this = Source::Field(Ident::new("self", Span::call_site()));
    let values = graph.params.iter().map(|other| copy(&other.name, &this));
    let changes = affected.iter().map(|&node| {
        let change = quote! {
            nodes(
                &mut __p::AnyTarget::Update(update),
                #node,
                ::core::option::Option::None,
                ::core::clone::Clone::clone(&values),
            )
        };
        let checked = quote!({
            #change?;
            __g::Update::check_reached(update, #node)
        });
        match graph.loops_around(node).len() {
            0 => quote!(#checked?;),
            depth => quote!(__g::Update::each(update, #node, |update, _: [_; #depth]| #checked)?;),
        }
    });
    (!affected.is_empty()).then(|| {
        quote! {{
            let values = (#(#values,)*);
            let nodes = &mut *::core::cell::RefCell::borrow_mut(&self.__nodes);
            #(#changes)*
            ::core::result::Result::Ok(())
        }}
    })
}

/// `into_parts`, and the struct of moved locals that it returns.
fn parts(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let slot = quote!(__p::MovedSlot);
    let moved: Vec<&Resource> = graph
        .resources
        .iter()
        .copied()
        .filter(|resource| resource.is_moved())
        .collect();
    let fields: Vec<&Ident> = moved.iter().map(|resource| &*resource.name).collect();
    let types: Vec<Ident> = moved.iter().map(|resource| resource_type(graph, resource)).collect();
    let name = format_ident!("{}Parts", graph.item.name);
    let body = bodies.of(quote! {
        __g::Graph::synchronize(&self.__graph)?;
        ::core::mem::drop(self.__graph);
        ::core::result::Result::Ok(#name {
            #(#fields: #slot::give_back(self.#fields)?,)*
        })
    });
    let method = implementation(
        graph,
        quote! {
            /// Waits for launches in flight, and gives back the locals that were moved into the graph.
            pub fn into_parts(self) -> __g::Result<#name<#(<#types as #slot>::Handle),*>> { #body }
        },
    );
    quote! {
        /// The locals that were moved into a graph, given back.
        #[derive(Debug)]
        pub struct #name<#(#types),*> {
            #(pub #fields: #types,)*
        }
        #method
    }
}
