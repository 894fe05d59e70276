//! The interface that a graph offers to parent graphs: the names that can be bound in it, and the functions that add
//! and change its nodes.

use super::alias::child_path;
use super::argument::kept;
use super::atomic;
use super::build_steps;
use super::checked::checked;
use super::child;
use super::interface::Bodies;
use super::names::{hidden, local};
use super::operands::resources_of;
use super::programmatic;
use super::resource;
use super::scratch;
use super::setters::update_calls;
use super::shape::Shape;
use super::types::{arguments, generics, generics_after, marker, marker_value, place_type};
use super::visibility::visibility;
use crate::graph::ast::{Attributes, Param, Resource, ResourceKind};
use crate::graph::resolve::{Graph, Value, params};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Generics, Lifetime, Type, Visibility};

/// A name that can be bound, with its type.
struct Slot<'a> {
    name: &'a Ident,
    ty: TokenStream,
    kind: Kind<'a>,
    /// The attributes of its statement; `None` for a build argument, which all who see the graph can bind.
    statement: Option<&'a Attributes>,
}

impl Slot<'_> {
    /// The visibility of the method that binds it.
    fn visibility(&self, graph: &Graph<'_>) -> TokenStream {
        self.statement
            .map_or_else(|| quote!(pub), |statement| visibility(graph, statement))
    }

    /// Whether it can be bound only where its statement is visible.
    fn is_restricted(&self) -> bool {
        let visibility = self.statement.and_then(|statement| statement.visibility.as_ref());
        visibility.is_some_and(|visibility| !matches!(visibility, Visibility::Public(_)))
    }
}

enum Kind<'a> {
    Memory(usize, &'a Resource),
    Value,
    Param,
}

/// Whether the resource is the child's own, so that it cannot be bound.
fn is_own(resource: &Resource) -> bool {
    match resource.kind {
        ResourceKind::Own(memory) => !memory.is_bindable(),
        ResourceKind::Rng => true,
        ResourceKind::Shared { .. } | ResourceKind::Moved(_) => false,
    }
}

fn slots<'a>(graph: &Graph<'a>) -> Vec<Slot<'a>> {
    let memory = graph.resources.iter().enumerate();
    let memory = memory.filter(|(_, resource)| !is_own(resource));
    let memory = memory.map(|(index, &resource)| Slot {
        name: &resource.name,
        ty: place_type(graph, resource),
        kind: Kind::Memory(index, resource),
        statement: Some(&resource.attributes),
    });
    let slot = |name: &'a Ident, ty: &'a Type, kind, statement| Slot {
        name,
        ty: named(ty.to_token_stream()),
        kind,
        statement,
    };
    let values = graph.values.iter().filter(|value| value.computed.is_none());
    let values = values.map(|value| slot(value.name, value.ty, Kind::Value, None));
    let params = graph
        .params
        .iter()
        .map(|param| slot(&param.name, &param.ty, Kind::Param, Some(&param.attributes)));
    memory.chain(values).chain(params).collect()
}

/// A type in which each lifetime that is left out is named. In parameters of `build` they may be left out, but not in
/// other types.
fn named(ty: TokenStream) -> TokenStream {
    let (mut found, mut tokens) = (TokenStream::new(), ty.into_iter().peekable());
    while let Some(token) = tokens.next() {
        let next =
            |char: char| move |next: &TokenTree| matches!(next, TokenTree::Punct(punct) if punct.as_char() == char);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let span = punct.span();
                found.append(punct);
                if !tokens.peek().is_some_and(next('\'')) {
                    bound_lifetime(span).to_tokens(&mut found);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => match tokens.next() {
                Some(TokenTree::Ident(name)) if name == "_" => bound_lifetime(name.span()).to_tokens(&mut found),
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

/// The lifetime that names those that are left out, if there are any.
fn lifetime(graph: &Graph<'_>) -> Option<Lifetime> {
    let mut types = graph.scalar_values().map(|scalar| scalar.ty.to_token_stream());
    let left_out = |ty: TokenStream| ty.to_string() != named(ty).to_string();
    types.any(left_out).then(|| bound_lifetime(Span::call_site()))
}

fn bound_lifetime(span: Span) -> Lifetime {
    Lifetime::new("'__bound", span)
}

/// A lifetime as the only parameter of a function.
fn angled(lifetime: Option<Lifetime>) -> Option<TokenStream> {
    lifetime.map(|lifetime| quote!(<#lifetime>))
}

/// The items that a graph offers to parent graphs and to its own `build`: the functions that bind names, and the one
/// function that declares its nodes.
pub(super) fn offered(graph: &Graph<'_>, bodies: Bodies, asserted: &TokenStream) -> TokenStream {
    let (slots, bound_type) = (slots(graph), bound_type(graph));
    let names = slots.iter().map(|slot| slot.name);
    let marker = marker_value(&bound_generics(graph));
    let unbound = bodies.of(quote!(__Bound { #(#names: ::core::option::Option::None,)* #marker }));
    let interface = interface(graph, &slots, bodies);
    let visible = slots.iter().filter(|slot| slot.is_restricted()).map(|slot| {
        let (visibility, visible) = (slot.visibility(graph), child::visible(slot.name));
        quote!(#[doc(hidden)] #visibility const #visible: bool = true;)
    });
    let scalars = (bodies == Bodies::Real).then(|| scalars(graph, &bound_type));
    let declare = declare(graph, &slots, &bound_type, bodies, asserted);
    let update = update(graph, &slots, &bound_type, bodies);
    let lifetime = angled(lifetime(graph));
    let assertions = (!asserted.is_empty()).then(|| quote!(const __ASSERTED: () = { #asserted };));
    quote! {
        #interface
        #[doc(hidden)]
        pub fn __unbound #lifetime () -> #bound_type { #unbound }
        #(#visible)*
        #scalars
        #assertions
        #declare
        #update
    }
}

/// The struct with a slot for each name that can be bound, and the methods that bind them. It is an item beside the
/// graph's type.
pub(super) fn bound(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let (generics, slots) = (bound_generics(graph), slots(graph));
    let (parameters, arguments, condition) = generics.split_for_impl();
    let marker = marker(&generics);
    let fields = slots.iter().map(|slot| {
        let (visibility, name, ty) = (slot.visibility(graph), slot.name, &slot.ty);
        quote!(#visibility #name: ::core::option::Option<#ty>,)
    });
    // Only `build` binds fields of groups.
    let is_field = |slot: &&Slot<'_>| matches!(slot.kind, Kind::Memory(_, resource) if resource.is_field());
    let settable = slots.iter().filter(|slot| !is_field(slot));
    let setters = settable.map(|slot| setter(graph, slot, bodies));
    quote! {
        #[doc(hidden)]
        pub struct __Bound #parameters #condition { #(#fields)* #marker }
        impl #parameters __Bound #arguments #condition { #(#setters)* }
    }
}

/// The generics of that struct: those of the graph, after the lifetime of types that leave theirs out.
fn bound_generics(graph: &Graph<'_>) -> Generics {
    match lifetime(graph) {
        Some(lifetime) => generics_after(graph, &lifetime),
        None => generics(graph),
    }
}

/// The type of that struct.
fn bound_type(graph: &Graph<'_>) -> TokenStream {
    let arguments = arguments(&bound_generics(graph));
    quote!(__Bound<#(#arguments),*>)
}

/// The constant that lists the names that can be bound.
fn interface(graph: &Graph<'_>, slots: &[Slot<'_>], bodies: Bodies) -> TokenStream {
    let (mut memory, mut values) = (Vec::new(), Vec::new());
    for slot in slots {
        let name = slot.name.unraw().to_string();
        match slot.kind {
            Kind::Memory(index, resource) => {
                let name = if resource.is_field() {
                    resource.name.to_string()
                } else {
                    name
                };
                // A graph with mistakes may have kernels that do not exist.
                let usage = match bodies {
                    Bodies::Real => atomic::usage(graph, index),
                    Bodies::Stub => atomic::usage_as_written(graph, index),
                };
                memory.push(quote!((#name, #usage)));
            }
            Kind::Value => values.push(quote!((#name, true))),
            Kind::Param => values.push(quote!((#name, false))),
        }
    }
    let restricted = slots.iter().filter(|slot| slot.is_restricted());
    let restricted = restricted.map(|slot| slot.name.unraw().to_string());
    let name = graph.item.name.to_string();
    let restricted: Vec<String> = restricted.collect();
    let restricted = (!restricted.is_empty()).then(|| quote!(restricted: &[#(#restricted),*],));
    let values = (!values.is_empty()).then(|| quote!(values: &[#(#values),*],));
    let known = (bodies == Bodies::Real).then(|| {
        let (unconditional, scratch) = (unconditional(graph), scratch::size(graph));
        let unconditional = unconditional.map(|found| quote!(unconditional: #found,));
        let scratch = scratch.map(|size| quote!(scratch: #size,));
        quote!(#unconditional #scratch)
    });
    quote! {
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: #name,
            memory: &[#(#memory),*],
            #values
            #restricted
            #known
            ..__p::Interface::EMPTY
        };
    }
}

/// The first node, of the graph or of its child graphs, that cannot be in a conditional body.
fn unconditional(graph: &Graph<'_>) -> Option<TokenStream> {
    let own = graph.draft.nodes.iter().find(|node| !node.kind.may_be_conditional());
    if let Some(node) = own {
        let (name, keyword) = (&*node.name, node.kind.keyword());
        return Some(quote!(::core::option::Option::Some((#name, #keyword))));
    }
    let children = graph.nodes.iter();
    let children = children.filter_map(|node| Some(child_path(graph, node, node.action.child()?)));
    let children: Vec<TokenStream> = children.collect();
    (!children.is_empty()).then(|| {
        quote!({
            use __p::NoGraph as _;
            __p::Interface::unconditional_in(&[#(&#children::__INTERFACE),*])
        })
    })
}

/// The method that binds a slot.
fn setter(graph: &Graph<'_>, slot: &Slot<'_>, bodies: Bodies) -> TokenStream {
    let (given, name, ty) = (hidden("given"), slot.name, &slot.ty);
    let function = child::function(name, matches!(slot.kind, Kind::Memory(..)));
    let (ty, value) = match slot.kind {
        // If the child takes the length when it is built, an array fits, too.
        Kind::Memory(_, resource) if graph.is_dynamic(resource) => {
            (quote!(&impl __p::BindTo<#ty>), quote!(__p::BindTo::bind(#given)))
        }
        Kind::Memory(..) => (quote!(&#ty), quote!(*#given)),
        Kind::Value | Kind::Param => (ty.clone(), given.to_token_stream()),
    };
    let visibility = slot.visibility(graph);
    let set = bodies.of(quote!(self.#name = ::core::option::Option::Some(#value);));
    quote!(#visibility fn #function(&mut self, #given: #ty) { #set })
}

/// The function that returns the values and params of a graph with params, as a tuple: the bound values, or else the
/// initial values of params.
fn scalars(graph: &Graph<'_>, bound_type: &TokenStream) -> TokenStream {
    if graph.params.is_empty() {
        return TokenStream::new();
    }
    let (bound, owner) = (hidden("bound"), hidden("graph"));
    let taken = scalars_taken(graph, &bound, &owner);
    let names = graph.scalar_values().map(|scalar| scalar.name);
    let types = scalar_types(graph);
    let lifetime = angled(lifetime(graph));
    quote! {
        fn __scalars #lifetime (
            #bound: &mut #bound_type,
            #owner: &impl __p::NodeTarget,
        ) -> __g::Result<(#(#types,)*)> {
            #taken
            ::core::result::Result::Ok((#(#names,)*))
        }
    }
}

/// Takes the values and params out of the bound slots, as local variables.
fn scalars_taken(graph: &Graph<'_>, bound: &Ident, owner: &Ident) -> TokenStream {
    let given = graph.values.iter().filter(|value| value.computed.is_none());
    let values = given.map(|Value { name, ty, .. }| {
        let (text, ty) = (name.to_string(), named(ty.to_token_stream()));
        quote!(let #name: #ty = __p::Interface::bound(#bound.#name.take(), #owner, #text)?;)
    });
    let params = graph.params_in_order().into_iter().map(|param| {
        let Param { name, ty, initial, .. } = graph.params[param];
        let initial = checked(graph, initial);
        quote! {
            let #name: #ty = #initial;
            let #name: #ty = ::core::option::Option::unwrap_or(#bound.#name.take(), #name);
        }
    });
    let computed = graph.computed_in_order().into_iter().map(|(name, ty, value)| {
        let value = checked(graph, value);
        quote!(let #name: #ty = #value;)
    });
    values.chain(computed).chain(params).collect()
}

/// The types of the values and params.
fn scalar_types(graph: &Graph<'_>) -> impl Iterator<Item = TokenStream> {
    graph.scalar_values().map(|scalar| named(scalar.ty.to_token_stream()))
}

/// Takes the values and params out of the bound slots, as local variables of the functions that declare and change
/// nodes.
fn take_scalars(graph: &Graph<'_>, bound: &Ident, owner: &Ident) -> TokenStream {
    if graph.params.is_empty() {
        return scalars_taken(graph, bound, owner);
    }
    let names = graph.scalar_values().map(|scalar| scalar.name);
    quote!(let (#(#names,)*) = Self::__scalars(&mut #bound, #owner)?;)
}

/// The mention of the assertions about a generic graph. They are one constant, so that rustc reports a failure once for
/// each instance. It has the span of the graph's name.
pub(super) fn assert(graph: &Graph<'_>, asserted: &TokenStream) -> Option<TokenStream> {
    let span = graph.item.name.span();
    (!asserted.is_empty()).then(|| quote_spanned!(span=> let () = Self::__ASSERTED;))
}

/// The one function that declares the graph's nodes, for its own `build` and for parent graphs. Memory that is not
/// bound is the graph's own.
fn declare(
    graph: &Graph<'_>,
    slots: &[Slot<'_>],
    bound_type: &TokenStream,
    bodies: Bodies,
    asserted: &TokenStream,
) -> TokenStream {
    let (owner, bound, builder, built) = (hidden("owner"), hidden("bound"), hidden("builder"), hidden("graph"));
    let target = builder.to_token_stream();
    let scalars = take_scalars(graph, &bound, &builder);
    let resources = graph.resources.iter().map(|resource| {
        let bindable = slots.iter().any(|slot| *slot.name == *resource.name);
        let bound = bindable.then(|| bound.clone());
        resource::declare(graph, resource, &target, bound.as_ref())
    });
    let (nodes, edges) = (build_steps::nodes(graph, &target), programmatic::edges(graph, &builder));
    let fields = graph.resources.iter().map(|resource| {
        let (field, place) = (&resource.name, local(&resource.name));
        quote!(#field: #place,)
    });
    let (params, kept) = (graph.params.iter().map(|param| &param.name), kept(graph));
    let kept = kept.iter().map(|value| value.name);
    let (assert, marker) = (assert(graph, asserted), marker_value(&generics(graph)));
    let body = bodies.of(quote! {
        #assert
        let #builder = #owner.builder();
        #scalars
        #(#resources)*
        #nodes
        #edges
        #owner.finish(move |#built| Self {
            __graph: #built,
            #(#fields)*
            #(#params,)*
            #(#kept,)*
            #marker
        })
    });
    let changed = (bodies == Bodies::Real).then(|| quote!(mut));
    let taken = mutably(graph, bodies);
    let lifetime = lifetime(graph).map(|lifetime| quote!(#lifetime,));
    quote! {
        #[doc(hidden)]
        pub fn __declare<#lifetime __Owner: __p::Owner>(
            #changed #owner: __Owner,
            #taken #bound: #bound_type,
        ) -> __g::Result<__Owner::Declared<Self>> {
            #body
        }
    }
}

/// `mut` for the bound slots, if scalars are taken out of them.
fn mutably(graph: &Graph<'_>, bodies: Bodies) -> Option<TokenStream> {
    let given = graph.values.iter().any(|value| value.computed.is_none());
    let scalars = given || !graph.params.is_empty();
    (scalars && bodies == Bodies::Real).then(|| quote!(mut))
}

/// The function that changes the nodes that mention params, for a parent graph whose own params may be bound to them.
/// `None` if there are no such nodes.
fn update(graph: &Graph<'_>, slots: &[Slot<'_>], bound_type: &TokenStream, bodies: Bodies) -> Option<TokenStream> {
    let changing: Vec<usize> = (0..graph.nodes.len())
        .filter(|&node| !params(graph, graph.nodes[node]).is_empty())
        .collect();
    if changing.is_empty() {
        return None;
    }
    let (update, bound) = (hidden("update"), hidden("bound"));
    let places = resources_of(graph, &changing).map(|resource| {
        let (place, name, field) = (local(&resource.name), resource.name.to_string(), &resource.name);
        let found = match Shape::of(graph, resource) {
            _ if slots.iter().any(|slot| *slot.name == *resource.name) => {
                return quote!(let #place = __p::Interface::bound(#bound.#field, #update, #name)?;);
            }
            _ if resource.random.is_some() => quote!(own_rng),
            Shape::Dynamic { row, .. } => quote!(own_slice::<#row>),
            Shape::Table { element, lengths } => {
                return quote!(let #place = __g::Update::own_table::<#element, _>(#update, #name, [#(#lengths),*])?;);
            }
            shape @ (Shape::Fixed(_) | Shape::Inferred) => quote!(own::<#shape>),
        };
        quote!(let #place = __g::Update::#found(#update, #name)?;)
    });
    let scalars = take_scalars(graph, &bound, &update);
    let calls = update_calls(graph, &changing, &update);
    let body = bodies.of(quote! {
        #scalars
        #(#places)*
        #calls
        ::core::result::Result::Ok(())
    });
    let taken = mutably(graph, bodies);
    let lifetime = angled(lifetime(graph));
    Some(quote! {
        #[doc(hidden)]
        pub fn __update #lifetime (#update: &mut __g::Update<'_>, #taken #bound: #bound_type) -> __g::Result<()> {
            #body
        }
    })
}
