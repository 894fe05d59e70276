//! The interface of a graph: the type, and the accessors of memory and params.

use super::argument::{argument_type, kept};
use super::names::{Source, copy, receiver, unseen, value_name};
use super::promise;
use super::shape::Shape;
use super::types::{
    arguments, cloned, generics, generics_after, lent, marker, marker_value, memory_lent, nodes_field, param_type,
    place_type_at, resource_type,
};
use super::visibility::visibility;
use crate::graph::ast::{Attributes, Resource, ResourceKind};
use crate::graph::check::mapped::is_unfit;
use crate::graph::resolve::{Graph, Value};
use crate::span::ends;
use graph_plan::{Accessors, Space};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Generics, Index, Lifetime, Visibility};

/// Whether methods have their bodies, or stubs of the right type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    Real,
    Stub,
}

impl Bodies {
    /// The body of a method: `real`, or a stub.
    pub(super) fn of(self, real: TokenStream) -> TokenStream {
        match self {
            Bodies::Real => real,
            Bodies::Stub => quote!(::core::unreachable!("this graph has mistakes and did not compile")),
        }
    }
}

/// `impl<..> Name<..> where .. { contents }`
pub(super) fn implementation(graph: &Graph<'_>, contents: TokenStream) -> TokenStream {
    implementation_of(graph, None, contents)
}

/// The same for a trait, which the tokens `of` name, with `for` after it.
fn implementation_of(graph: &Graph<'_>, of: Option<TokenStream>, contents: TokenStream) -> TokenStream {
    let name = &graph.item.name;
    let generics = generics(graph);
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        impl #parameters #of #name #arguments #condition {
            #contents
        }
    }
}

/// A method that is made for a statement, after `fn`, with the documentation and the visibility of that. `promise` is
/// the sentence about `unsafe` nodes.
pub(super) fn method(
    graph: &Graph<'_>,
    attributes: &Attributes,
    summary: String,
    promise: Option<TokenStream>,
    method: TokenStream,
) -> TokenStream {
    let docs = &attributes.docs;
    let method = match &attributes.visibility {
        Some(visibility @ Visibility::Restricted(_)) => underlined(quote!(fn #method), ends(visibility)),
        _ => quote!(fn #method),
    };
    let visibility = visibility(graph, attributes);
    quote! {
        #[doc = #summary]
        #(#docs)*
        #promise
        #visibility #method
    }
}

/// A method whose signature begins and ends at these places. rustc underlines that where the method is private.
fn underlined(method: TokenStream, (start, end): (Span, Span)) -> TokenStream {
    let mut tokens: Vec<TokenTree> = method.into_iter().collect();
    let is_end = |token: &TokenTree| match token {
        TokenTree::Ident(word) => word == "where",
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    };
    let last = tokens.iter().position(is_end).map(|end| end.saturating_sub(1));
    for (index, place) in [(Some(0), start), (last, end)] {
        if let Some(token) = index.and_then(|index| tokens.get_mut(index)) {
            token.set_span(token.span().located_at(place));
        }
    }
    tokens.into_iter().collect()
}

/// A struct that is made for the graph, with these generics, documentation and fields.
pub(super) fn structure(
    graph: &Graph<'_>,
    name: Ident,
    mut generics: Generics,
    documentation: TokenStream,
    fields: TokenStream,
) -> TokenStream {
    let visibility = &graph.item.attributes.visibility;
    let (condition, marker) = (generics.where_clause.take(), marker(&self::generics(graph)));
    quote! {
        #documentation
        #[allow(dead_code, non_snake_case)]
        #visibility struct #name #generics #condition {
            #fields
            #marker
        }
    }
}

/// The graph's type, and the type of its host memory. `drawing` is the end of its documentation.
pub(super) fn types(graph: &Graph<'_>, drawing: Option<TokenStream>) -> TokenStream {
    let (declaration, memory) = (declaration(graph, drawing), memory_type(graph));
    quote!(#declaration #memory)
}

/// The methods that are the same for editors and for rustc. `build` and the methods about params are not, since their
/// bodies have spans of the user's. `handles` are the methods that return handles of nodes.
pub(super) fn methods(graph: &Graph<'_>, handles: &TokenStream, bodies: Bodies) -> TokenStream {
    let (common, memory) = (common(bodies), memory_method(graph, bodies));
    let resources = graph.resources.iter().filter(|resource| !resource.is_field());
    let resources = resources.map(|resource| resource_methods(graph, resource, bodies));
    let methods = implementation(graph, quote!(#common #memory #(#resources)* #handles));
    let (debug, any_graph) = (debug(graph, bodies), any_graph(graph, bodies));
    quote!(#methods #debug #any_graph)
}

/// The accessors of params.
pub(super) fn params(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let getters = (0..graph.params.len()).map(|param| getter(graph, param, bodies));
    let setters = match bodies {
        Bodies::Real => TokenStream::new(), // `updates` makes them
        Bodies::Stub => (0..graph.params.len())
            .map(|param| setter(graph, param, bodies.of(TokenStream::new())))
            .collect(),
    };
    let edit = edit(graph, bodies);
    quote!(#(#getters)* #setters #edit)
}

/// `edit`.
fn edit(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let condition = cloned(graph);
    let first = graph.params.first();
    let this = first.map_or_else(|| Ident::new("self", Span::call_site()), |param| receiver(&param.name));
    let source = Source::Field(this.clone());
    let values = graph.params.iter().map(|param| copy(&param.name, &source));
    let exchanges = graph.params.iter().enumerate().map(|(index, param)| {
        let (field, index) = (unseen(&param.name), Index::from(index));
        quote!(::core::mem::swap(&mut graph.#field, &mut params.#index);)
    });
    let body = bodies.of(if graph.params.is_empty() {
        quote!(__p::edit_nodes(#this, |graph| &mut graph.__graph, change))
    } else {
        quote!(__p::edit(#this, change, (#(#values,)*), |graph, params| { #(#exchanges)* }))
    });
    quote! {
        /// Makes all changes of params, memory and nodes that `change` requests, or none, before the next launch.
        pub fn edit<__R: __g::EditResult>(
            &mut #this,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> #condition { #body }
    }
}

/// `Debug`, which shows the runtime's graph. It has no bounds on the types of elements.
fn debug(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let body = bodies.of(quote!(::core::fmt::Debug::fmt(&self.__graph, f)));
    let method = quote!(fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #body });
    implementation_of(graph, Some(quote!(::core::fmt::Debug for)), method)
}

/// `AnyGraph`, whose methods need only the runtime's graph.
fn any_graph(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let get = bodies.of(quote!(::core::convert::From::from(&self.__graph)));
    let get_mut = bodies.of(quote!(::core::convert::From::from(&mut self.__graph)));
    let methods = quote! {
        fn __graph(&self) -> __p::LentGraph<&__g::Graph> { #get }
        fn __graph_mut(&mut self) -> __p::LentGraph<&mut __g::Graph> { #get_mut }
    };
    implementation_of(graph, Some(quote!(__g::AnyGraph for)), methods)
}

fn declaration(graph: &Graph<'_>, drawing: Option<TokenStream>) -> TokenStream {
    let (item, docs) = (graph.item, &graph.item.attributes.docs);
    let name = without_suggestions(item.name.clone());
    let places = graph.resources.iter().map(|resource| {
        let (field, ty) = (&resource.name, place_type_at(graph, resource, &quote!(::graph_runtime)));
        quote!(#field: #ty,)
    });
    let params = graph.params.iter().enumerate().map(|(index, param)| {
        let (field, ty) = (&param.name, param_type(graph, index));
        quote!(#field: #ty,)
    });
    let nodes = nodes_field(graph);
    let kept = kept(graph)
        .into_iter()
        .map(|Value { name, ty, .. }| quote!(#name: #ty,));
    let summary = format!(" The graph `{name}`, declared with `cuda_graph!`.");
    let documentation = if docs.is_empty() {
        quote!(#[doc = #summary])
    } else {
        quote!(#(#docs)*)
    };
    let promise = promise::section(graph);
    let fields = quote!(__graph: ::graph_runtime::Graph, #(#places)* #(#params)* #(#kept)* #nodes);
    structure(
        graph,
        name,
        generics(graph),
        quote!(#documentation #promise #drawing),
        fields,
    )
}

/// The name of a type with the user's position, but not with the user's hygiene. Otherwise, if rustc cannot find
/// another type, it suggests a type parameter after this name, and it reports the same mistake again without that
/// suggestion.
pub(super) fn without_suggestions(mut name: Ident) -> Ident {
    name.set_span(name.span().resolved_at(Span::call_site()));
    name
}

/// The methods that every graph has.
fn common(bodies: Bodies) -> TokenStream {
    let launch = bodies.of(quote!(__g::Graph::launch(&mut self.__graph)));
    let launch_on = bodies.of(quote!(__g::Graph::launch_on(&mut self.__graph, stream)));
    let launch_async = bodies.of(quote!(__g::Graph::launch_async(&mut self.__graph)));
    let synchronize = bodies.of(quote!(__g::Graph::synchronize(&self.__graph)));
    let raw = bodies.of(quote!(__g::Graph::raw(&self.__graph)));
    quote! {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> __g::Result<()> { #launch }

        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(&mut self, stream: &__g::CudaStream) -> __g::Result<()> { #launch_on }

        /// Launches the graph on its own stream, and returns a future that resolves when this launch has ended.
        pub fn launch_async(&mut self) -> __g::Result<__g::LaunchFuture> { #launch_async }

        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> __g::Result<()> { #synchronize }

        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<__g::RawGraph> { #raw }
    }
}

fn resource_methods(graph: &Graph<'_>, resource: &Resource, bodies: Bodies) -> TokenStream {
    if resource.random.is_some() {
        return rng_handle(graph, resource, bodies);
    }
    match resource.memory().accessors() {
        Accessors::Lent => lent_methods(graph, resource, bodies),
        Accessors::Handle => mapped_handle(graph, resource, bodies),
        Accessors::None if graph.has_namesake(resource) => TokenStream::new(),
        Accessors::None => no_accessor(resource, bodies),
    }
}

fn lent_methods(graph: &Graph<'_>, resource: &Resource, bodies: Bodies) -> TokenStream {
    let (name, attributes) = (&resource.name, &resource.attributes);
    let lent = lent(graph, resource);
    let (shared, get) = (lent.shared, bodies.of(lent.get));
    let summary = format!(" Waits for launches in flight and lends `{name}` for reading.");
    let signature = quote!(#name(&self) -> __g::Result<#shared> { #get });
    let get = method(graph, attributes, summary, None, signature);
    let get_mut = resource.is_mutable().then(|| {
        let name_mut = Ident::new(&format!("{}_mut", name.unraw()), name.span());
        let (exclusive, get_mut) = (lent.exclusive, bodies.of(lent.get_mut));
        let summary = format!(" Waits for launches in flight and lends `{name}` for writing.");
        let signature = quote!(#name_mut(&mut self) -> __g::Result<#exclusive> { #get_mut });
        method(graph, attributes, summary, promise::mention(graph), signature)
    });
    let is_shared = matches!(resource.kind, ResourceKind::Shared { .. });
    let rebind = is_shared.then(|| rebind(graph, resource, bodies));
    quote!(#get #get_mut #rebind)
}

/// A method that cannot be called, since no type has the `reason`: a trait whose message says why there is no accessor.
/// Bounds without a lifetime would be an error even if nothing calls the method.
fn no_accessor(resource: &Resource, bodies: Bodies) -> TokenStream {
    let name = &resource.name;
    let reason = format_ident!("{}HasNoAccessor", format!("{:?}", resource.memory()));
    let lifetime = Lifetime::new("'__a", Span::call_site());
    let body = bodies.of(quote!(::core::unreachable!()));
    quote! {
        #[doc(hidden)]
        pub fn #name<#lifetime>(&#lifetime self) -> __g::Result<&#lifetime ()> where &#lifetime Self: __p::#reason { #body }
    }
}

fn getter(graph: &Graph<'_>, param: usize, bodies: Bodies) -> TokenStream {
    let (ty, param, condition) = (param_type(graph, param), graph.params[param], cloned(graph));
    let name = &param.name;
    let summary = format!(" The value of the param `{name}` in the next launch.");
    let this = receiver(name);
    let get = bodies.of(copy(name, &Source::Field(this.clone())));
    let signature = quote!(#name(&#this) -> #ty #condition { #get });
    method(graph, &param.attributes, summary, None, signature)
}

/// `set_x(value)` with the given body.
pub(super) fn setter(graph: &Graph<'_>, param: usize, body: TokenStream) -> TokenStream {
    let (ty, param, condition) = (param_type(graph, param), graph.params[param], cloned(graph));
    let name = &param.name;
    let set = Ident::new(&format!("set_{}", name.unraw()), name.span());
    let (this, value) = (receiver(name), value_name(name));
    let summary =
        format!(" Sets the param `{name}` for later launches: updates exactly the nodes that use it, in place.");
    let signature = quote!(#set(&mut #this, #value: #ty) -> __g::Result<()> #condition { #body });
    method(graph, &param.attributes, summary, promise::mention(graph), signature)
}

/// The host resources.
fn host<'a>(graph: &Graph<'a>) -> Vec<&'a Resource> {
    let resources = graph.resources.iter().copied();
    resources
        .filter(|resource| matches!(resource.kind, ResourceKind::Own(memory) if memory.space() == Space::Host))
        .collect()
}

/// The name of the struct that `memory_mut` returns.
fn memory_name(graph: &Graph<'_>) -> Ident {
    without_suggestions(format_ident!("{}Memory", graph.item.name))
}

/// The struct that `memory_mut` returns.
fn memory_type(graph: &Graph<'_>) -> TokenStream {
    let host = host(graph);
    if host.is_empty() {
        return TokenStream::new();
    }
    let lifetime = Lifetime::new("'memory", Span::mixed_site());
    let generics = generics_after(graph, &lifetime);
    let fields = host.iter().map(|resource| {
        let (field, lent) = (&resource.name, memory_lent(graph, resource, &lifetime));
        let visibility = visibility(graph, &resource.attributes);
        let summary = format!(" The host resource `{field}`.");
        quote!(#[doc = #summary] #visibility #field: #lent,)
    });
    let summary = format!(" All host memory of a [`{}`], lent at once.", graph.item.name);
    let promise = promise::mention_elsewhere(graph);
    let documentation = quote!(#[doc = #summary] #promise);
    structure(graph, memory_name(graph), generics, documentation, quote!(#(#fields)*))
}

/// `memory_mut`.
fn memory_method(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let host = host(graph);
    if host.is_empty() {
        return TokenStream::new();
    }
    let (name, generics) = (memory_name(graph), generics(graph));
    let (arguments, marker) = (arguments(&generics), marker_value(&generics));
    let taken = host.iter().map(|resource| {
        let (field, take) = (unseen(&resource.name), take(graph, resource));
        quote!(#field: #take(&mut __split, &self.#field)?,)
    });
    let body = bodies.of(quote! {
        let mut __split = __g::Graph::split_host(&mut self.__graph)?;
        ::core::result::Result::Ok(#name { #(#taken)* #marker })
    });
    let promise = promise::mention(graph);
    quote! {
        /// Waits for launches in flight and lends all host memory at once, for writing.
        #promise
        pub fn memory_mut(&mut self) -> __g::Result<#name<'_, #(#arguments),*>> { #body }
    }
}

/// The function that takes one piece of host memory out of a `HostSplit`.
fn take(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    if graph.is_expression() {
        return quote!(__p::HostSlot::take);
    }
    let take = Shape::of(graph, resource).function("take", Span::call_site());
    quote!(__g::HostSplit::#take)
}

/// The method that returns the handle of random numbers.
pub(super) fn rng_handle(graph: &Graph<'_>, resource: &Resource, bodies: Bodies) -> TokenStream {
    let name = &resource.name;
    let summary = format!(" The random numbers `{name}`: their seed.");
    let field = unseen(name);
    let get = bodies.of(quote!(__g::Graph::rng(
        &mut self.__graph,
        ::core::borrow::Borrow::<__g::Rng>::borrow(&self.#field),
    )));
    let signature = quote!(#name(&mut self) -> __g::RngHandle<'_> { #get });
    method(graph, &resource.attributes, summary, promise::mention(graph), signature)
}

/// The method that returns a handle to mapped memory.
fn mapped_handle(graph: &Graph<'_>, resource: &Resource, bodies: Bodies) -> TokenStream {
    let name = &resource.name;
    let summary =
        format!(" A handle to `{name}`, by which the host accesses it while the graph runs. Waits for nothing.");
    let field = unseen(name);
    let (element, get) = if graph.is_expression() {
        let slot = resource_type(graph, resource);
        let get = quote!(__p::MappedSlot::handle(&self.#field, &self.__graph));
        (quote!(<#slot as __p::MappedSlot>::Element), get)
    } else {
        let element = match is_unfit(resource) {
            true => quote!(::core::primitive::u32), // its own were reported
            false => resource.shape.element.to_token_stream(),
        };
        // If the elements are no words, rustc says so at their type.
        let get = quote!(__g::Graph::mapped::<#element, _>(&self.__graph, &self.#field));
        (element, get)
    };
    let get = bodies.of(get);
    let signature = quote!(#name(&self) -> __g::Result<__g::MappedHost<#element>> { #get });
    method(graph, &resource.attributes, summary, promise::mention(graph), signature)
}

/// `rebind_x` of shared memory.
pub(super) fn rebind(graph: &Graph<'_>, memory: &Resource, bodies: Bodies) -> TokenStream {
    let (name, argument) = (&memory.name, argument_type(graph, memory));
    let rebind = Ident::new(&format!("rebind_{}", name.unraw()), name.span());
    let summary = format!(" Puts other memory in the place of `{name}` for later launches: see `Graph::rebind`.");
    let field = unseen(name);
    let body = bodies.of(quote!(__p::rebind(&mut self.__graph, &self.#field, memory)));
    let promise = promise::mention(graph);
    quote! {
        #[doc = #summary]
        #promise
        pub fn #rebind(&mut self, memory: #argument) -> __g::Result<()> { #body }
    }
}
