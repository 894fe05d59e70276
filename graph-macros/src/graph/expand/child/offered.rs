//! What a graph offers to those that it is a node of: what can be bound in it, and functions that add and change its nodes.

use super::{function, path};
use crate::graph::ast::{Action, Resource, ResourceKind};
use crate::graph::expand::build::{declare, hidden, nodes, resources_of, update_calls};
use crate::graph::expand::interface::{Bodies, generics, place_type};
use crate::graph::expand::node::generic_assertions;
use crate::graph::expand::part::local;
use crate::graph::expand::programmatic::edges_of_child;
use crate::graph::expand::scratch;
use crate::graph::expand::shape::Shape;
use crate::graph::resolve::{Graph, params};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::ext::IdentExt;
use syn::{Lifetime, Type};

/// Something that can be bound, with its type.
struct Slot<'a> {
    name: &'a Ident,
    ty: TokenStream,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Memory(usize, &'a Resource),
    Value,
    Param,
}

/// Does a child have the resource for itself?
fn is_own(resource: &Resource) -> bool {
    matches!(resource.kind, ResourceKind::Scratch | ResourceKind::Rng)
}

fn slots<'a>(graph: &Graph<'a>) -> Vec<Slot<'a>> {
    let memory = graph.resources.iter().enumerate();
    let memory = memory.filter(|(_, resource)| !is_own(resource));
    let memory = memory.map(|(index, &resource)| Slot {
        name: &resource.name,
        ty: place_type(graph, resource),
        kind: Kind::Memory(index, resource),
    });
    let slot = |name: &'a Ident, ty: &'a Type, kind| Slot {
        name,
        ty: named(ty.to_token_stream()),
        kind,
    };
    let values = graph.values.iter().map(|value| slot(value.name, value.ty, Kind::Value));
    let params = graph
        .params
        .iter()
        .map(|param| slot(&param.name, &param.ty, Kind::Param));
    memory.chain(values).chain(params).collect()
}

/// A type with a name in place of each lifetime that is left out: `build` may leave them out, a type that is returned may not.
fn named(ty: TokenStream) -> TokenStream {
    let lifetime = |span| Lifetime::new("'__bound", span);
    let (mut found, mut tokens) = (TokenStream::new(), ty.into_iter().peekable());
    while let Some(token) = tokens.next() {
        let next =
            |char: char| move |next: &TokenTree| matches!(next, TokenTree::Punct(punct) if punct.as_char() == char);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let span = punct.span();
                found.append(punct);
                if !tokens.peek().is_some_and(next('\'')) {
                    lifetime(span).to_tokens(&mut found);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => match tokens.next() {
                Some(TokenTree::Ident(name)) if name == "_" => lifetime(name.span()).to_tokens(&mut found),
                name => {
                    found.append(punct);
                    found.extend(name);
                }
            },
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), named(group.stream()));
                inner.set_span(group.span());
                found.append(inner);
            }
            other => found.append(other),
        }
    }
    found
}

/// The name of these lifetimes as a parameter, if there are any.
fn lifetime(graph: &Graph<'_>) -> Option<TokenStream> {
    let values = graph.values.iter().map(|value| value.ty);
    let types = values.chain(graph.params.iter().map(|param| &param.ty));
    let mut types = types.map(|ty| ty.to_token_stream());
    let left_out = |ty: TokenStream| ty.to_string() != named(ty).to_string();
    types.any(left_out).then(|| quote!(<'__bound>))
}

/// The functions that a graph offers.
pub(crate) fn offered(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let slots = slots(graph);
    let types = slots.iter().rev().fold(
        quote!(()),
        |inner, Slot { ty, .. }| quote!((::core::option::Option<#ty>, #inner)),
    );
    let lifetime = lifetime(graph);
    let none = slots
        .iter()
        .fold(quote!(()), |inner, _| quote!((::core::option::Option::None, #inner)));
    let (interface, none) = (interface(graph, &slots, bodies), bodies.of(none));
    let setters = slots
        .iter()
        .enumerate()
        .map(|(index, slot)| setter(graph, index, slot, &types, bodies));
    let (builder, update, bound) = (hidden("builder"), hidden("update"), hidden("bound"));
    let added = bodies.of(added(graph, &slots, &builder, &bound));
    let changed = bodies.of(updated(graph, &slots, &update, &bound));
    quote! {
        #interface
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __slots #lifetime () -> #types { #none }
        #(#setters)*
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add #lifetime (
            #builder: &mut ::graph_runtime::GraphBuilder,
            #bound: #types,
        ) -> ::graph_runtime::Result<()> {
            #added
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update #lifetime (
            #update: &mut ::graph_runtime::Update<'_>,
            #bound: #types,
        ) -> ::graph_runtime::Result<()> {
            #changed
        }
    }
}

/// What makes the type a graph that others can have as a node.
pub(crate) fn declared(graph: &Graph<'_>) -> TokenStream {
    let (name, generics) = (&graph.item.name, generics(graph));
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        impl #parameters ::graph_runtime::private::DeclaredGraph for #name #arguments #condition {}
    }
}

/// The names that can be bound.
fn interface(graph: &Graph<'_>, slots: &[Slot<'_>], bodies: Bodies) -> TokenStream {
    let writes = |resource: usize| {
        let mut accesses = graph.draft.accesses.iter();
        accesses.any(|access| access.resource == resource && access.mode.writes())
    };
    let (mut memory, mut values) = (Vec::new(), Vec::new());
    for slot in slots {
        let name = slot.name.unraw().to_string();
        match slot.kind {
            Kind::Memory(index, _) => {
                let written = writes(index);
                memory.push(quote!((#name, #written)));
            }
            Kind::Value => values.push(quote!((#name, true))),
            Kind::Param => values.push(quote!((#name, false))),
        }
    }
    let name = graph.item.name.to_string();
    let (unconditional, scratch) = match bodies {
        Bodies::Real => (unconditional(graph), scratch::bytes(graph)),
        Bodies::Stub => (quote!(::core::option::Option::None), quote!(0)),
    };
    quote! {
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: #name,
            memory: &[#(#memory),*],
            values: &[#(#values),*],
            unconditional: #unconditional,
            scratch: #scratch,
        };
    }
}

/// The first node that cannot be in a conditional body: one of the graph's, or of those that it has as nodes.
fn unconditional(graph: &Graph<'_>) -> TokenStream {
    let own = graph.draft.nodes.iter().find(|node| !node.kind.may_be_conditional());
    if let Some(node) = own {
        let (name, keyword) = (&*node.name, node.kind.keyword());
        return quote!(::core::option::Option::Some((#name, #keyword)));
    }
    let children = graph.nodes.iter().filter_map(|node| match &node.action {
        Action::Graph(child) => Some(path(graph, node, child)),
        _ => None,
    });
    quote!({
        #[allow(unused_imports)]
        use ::graph_runtime::private::NoGraph as _;
        ::graph_runtime::private::unconditional(&[#(&#children::__INTERFACE),*])
    })
}

/// The function that fills a slot.
fn setter(graph: &Graph<'_>, index: usize, slot: &Slot<'_>, types: &TokenStream, bodies: Bodies) -> TokenStream {
    let (bound, given, place, ty) = (hidden("bound"), hidden("given"), of_index(index), &slot.ty);
    let memory = matches!(slot.kind, Kind::Memory(..));
    let function = function(slot.name, memory);
    let (ty, value) = match slot.kind {
        // Of a length that is known only when the graph is built, an array is also one.
        Kind::Memory(_, resource) if graph.is_dynamic(resource) => (
            quote!(&impl ::graph_runtime::private::BindTo<#ty>),
            quote!(::graph_runtime::private::BindTo::bind(#given)),
        ),
        Kind::Memory(..) => (quote!(&#ty), quote!(::core::clone::Clone::clone(#given))),
        Kind::Value | Kind::Param => (ty.clone(), given.to_token_stream()),
    };
    let lifetime = lifetime(graph);
    let set = bodies.of(quote!(#bound #place = ::core::option::Option::Some(#value);));
    quote! {
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn #function #lifetime (#bound: &mut #types, #given: #ty) { #set }
    }
}

/// `.1.1.0`
fn of_index(index: usize) -> TokenStream {
    let deeper = std::iter::repeat_n(quote!(.1), index);
    deeper.chain([quote!(.0)]).collect()
}

/// What is bound, as local variables; `sink` is the builder that nodes are added to, or the update that changes them.
fn taken(graph: &Graph<'_>, slots: &[Slot<'_>], sink: &Ident, bound: &Ident) -> TokenStream {
    let taken = slots.iter().enumerate().map(|(index, slot)| {
        let (place, text, ty, name) = (of_index(index), slot.name.to_string(), &slot.ty, slot.name);
        let given = quote!(::graph_runtime::private::bound(#bound #place, #sink, #text)?);
        match slot.kind {
            Kind::Memory(_, resource) => {
                let place = local(&resource.name);
                quote!(let #place: #ty = #given;)
            }
            Kind::Value => quote!(let #name: #ty = #given;),
            Kind::Param => TokenStream::new(),
        }
    });
    let first_param = slots.len() - graph.params.len();
    let params = graph.params_in_order().into_iter().map(|param| {
        let (place, name) = (of_index(first_param + param), &graph.params[param].name);
        let (ty, initial) = (&graph.params[param].ty, &graph.params[param].initial);
        quote! {
            let #name: #ty = #initial;
            let #name: #ty = ::core::option::Option::unwrap_or(#bound #place, #name);
        }
    });
    taken.chain(params).collect()
}

/// Adds the nodes to another graph's builder.
fn added(graph: &Graph<'_>, slots: &[Slot<'_>], builder: &Ident, bound: &Ident) -> TokenStream {
    let taken = taken(graph, slots, builder, bound);
    let lengths = slots.iter().filter_map(|slot| length(graph, slot, builder));
    let own = graph.resources.iter().filter(|resource| is_own(resource));
    let own = own.map(|resource| declare(graph, resource, &builder.to_token_stream()));
    let (nodes, edges) = (nodes(graph, &builder.to_token_stream()), edges_of_child(graph, builder));
    let assertions = generic_assertions(graph);
    quote! {
        #assertions
        #taken
        #(#lengths)*
        #(#own)*
        #nodes
        #edges
        ::core::result::Result::Ok(())
    }
}

/// Changes the nodes in another graph that mention params: those of that graph may stand in what they are bound to.
fn updated(graph: &Graph<'_>, slots: &[Slot<'_>], update: &Ident, bound: &Ident) -> TokenStream {
    let changing: Vec<usize> = (0..graph.nodes.len())
        .filter(|&node| !params(graph, graph.nodes[node]).is_empty())
        .collect();
    if changing.is_empty() {
        return quote!(::core::result::Result::Ok(()));
    }
    let taken = taken(graph, slots, update, bound);
    let own = resources_of(graph, &changing).filter(|resource| is_own(resource));
    let own = own.map(|resource| {
        let (place, name) = (local(&resource.name), resource.name.to_string());
        let found = match Shape::of(graph, resource) {
            _ if resource.random.is_some() => quote!(own_rng),
            Shape::Dynamic { row, .. } => quote!(own_slice::<#row>),
            shape => quote!(own::<#shape>),
        };
        quote!(let #place = ::graph_runtime::Update::#found(#update, #name)?;)
    });
    let calls = update_calls(graph, &changing, update);
    quote! {
        #taken
        #(#own)*
        #calls
        ::core::result::Result::Ok(())
    }
}

/// The check that memory has the length that the child declares. As in `build`, where the child is a graph of its own, the length is an
/// argument of what declares memory: so rustc says only once what is wrong with it.
fn length(graph: &Graph<'_>, slot: &Slot<'_>, builder: &Ident) -> Option<TokenStream> {
    let Kind::Memory(_, resource) = slot.kind else {
        return None;
    };
    let Shape::Dynamic { length, .. } = Shape::of(graph, resource) else {
        return None;
    };
    let place = local(&resource.name);
    if let ResourceKind::Shared { .. } = resource.kind {
        return Some(quote!(::graph_runtime::GraphBuilder::require_len(#builder, &#place, #length);));
    }
    let (blank, like) = (hidden("blank"), hidden("like"));
    let declared = declare(graph, resource, &quote!(&mut #blank));
    Some(quote! {
        let #like = {
            let mut #blank = ::graph_runtime::GraphBuilder::blank(#builder);
            #declared
            #place
        };
        ::graph_runtime::GraphBuilder::require_like(#builder, &#place, &#like);
    })
}
