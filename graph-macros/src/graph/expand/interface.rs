//! What users see of a graph: the type, the accessors of memory and params, the handles of nodes.

use super::anonymous;
use super::argument::{self, kept};
use super::rng;
use super::shape::Shape;
use crate::graph::ast::{Node, Resource, ResourceKind};
use crate::graph::resolve::{Graph, Value};
use graph_plan::Space;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam};

/// Whether methods do something or only have the right type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    Real,
    Stub,
}

impl Bodies {
    /// The body of a method.
    pub(super) fn of(self, real: TokenStream) -> TokenStream {
        match self {
            Bodies::Real => real,
            Bodies::Stub => quote!(::core::unreachable!("this graph has mistakes and did not compile")),
        }
    }
}

/// `impl<..> Name<..> where .. { contents }`
pub(super) fn implementation(graph: &Graph<'_>, contents: TokenStream) -> TokenStream {
    let name = &graph.item.name;
    let generics = generics(graph);
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        impl #parameters #name #arguments #condition {
            #contents
        }
    }
}

/// The type, and that of its host memory.
pub(super) fn types(graph: &Graph<'_>) -> TokenStream {
    let (declaration, memory) = (declaration(graph), memory_type(graph));
    quote!(#declaration #memory)
}

/// The methods that read the same to editors and to rustc: all but `build` and those about params, whose bodies have
/// spans of the user's.
pub(super) fn methods(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let (common, memory) = (common(bodies), memory_method(graph, bodies));
    let resources = graph
        .resources
        .iter()
        .filter(|resource| resource.kind != ResourceKind::Scratch)
        .map(|resource| resource_methods(graph, resource, bodies));
    let translated = graph.is_translated();
    let handles = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(index, _)| !graph.nameless.contains(index))
        .map(|(index, node)| handle(graph, index, node, translated, bodies));
    let methods = implementation(graph, quote!(#common #memory #(#resources)* #(#handles)*));
    let debug = debug(graph, bodies);
    quote!(#methods #debug)
}

/// The accessors of params.
pub(super) fn params(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let getters = (0..graph.params.len()).map(|param| getter(graph, param, bodies));
    let setters = match bodies {
        Bodies::Real => TokenStream::new(), // beside the updates they apply
        Bodies::Stub => (0..graph.params.len())
            .map(|param| setter(graph, param, bodies.of(TokenStream::new())))
            .collect(),
    };
    quote!(#(#getters)* #setters)
}

/// `Debug` as the runtime's graph has it, for whatever its memory holds.
fn debug(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let name = &graph.item.name;
    let generics = generics(graph);
    let (parameters, arguments, condition) = generics.split_for_impl();
    let body = bodies.of(quote!(::core::fmt::Debug::fmt(&self.__graph, f)));
    quote! {
        impl #parameters ::core::fmt::Debug for #name #arguments #condition {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #body }
        }
    }
}

fn declaration(graph: &Graph<'_>) -> TokenStream {
    let item = graph.item;
    let (visibility, generics, docs) = (&item.visibility, generics(graph), &item.attributes.docs);
    let name = &without_suggestions(item.name.clone());
    let condition = &generics.where_clause;
    let places = graph.resources.iter().map(|resource| {
        let (field, ty) = (&resource.name, place_type_at(graph, resource, &quote!(::graph_runtime)));
        quote!(#field: #ty,)
    });
    let params = graph.params.iter().enumerate().map(|(index, param)| {
        let (field, ty) = (&param.name, param_type(graph, index));
        quote!(#field: #ty,)
    });
    let nodes = anonymous::nodes_field(graph);
    let kept = kept(graph).into_iter().map(|Value { name, ty }| quote!(#name: #ty,));
    let marker = marker(&generics);
    let summary = format!(" The graph `{name}`, declared with `cuda_graph!`.");
    let documentation = if docs.is_empty() {
        quote!(#[doc = #summary])
    } else {
        quote!(#(#docs)*)
    };
    quote! {
        #documentation
        #[allow(dead_code, non_snake_case)]
        #visibility struct #name #generics #condition {
            __graph: ::graph_runtime::Graph,
            #(#places)*
            #(#params)*
            #(#kept)*
            #nodes
            __marker: #marker,
        }
    }
}

/// The name of a type at the user's own place, yet not as the user's: else rustc, where it cannot find a type, suggests
/// a type parameter behind this name, and so tells the same mistake again where it has no such suggestion.
fn without_suggestions(mut name: Ident) -> Ident {
    name.set_span(name.span().resolved_at(Span::call_site()));
    name
}

/// Uses every type and lifetime parameter, whether or not a resource does.
pub(super) fn marker(generics: &Generics) -> TokenStream {
    let used = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => {
            let name = &param.ident;
            Some(quote!(#name))
        }
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Const(_) => None,
    });
    quote!(::core::marker::PhantomData<fn() -> (#(#used,)*)>)
}

/// The generics of the type: those of the item, or those made for an expression.
pub(super) fn generics(graph: &Graph<'_>) -> Generics {
    if graph.is_expression() {
        return anonymous::generics(graph);
    }
    graph.item.generics.clone()
}

/// The type of a param, as the interface names it.
fn param_type(graph: &Graph<'_>, param: usize) -> TokenStream {
    if graph.is_expression() {
        return anonymous::param_type(param).to_token_stream();
    }
    graph.params[param].ty.to_token_stream()
}

/// The type of the place of a resource.
pub(super) fn place_type(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    place_type_at(graph, resource, &quote!(__g))
}

/// The type of the place of a resource, where the runtime has this name.
fn place_type_at(graph: &Graph<'_>, resource: &Resource, runtime: &TokenStream) -> TokenStream {
    if graph.is_expression() {
        return anonymous::place_type(graph, resource);
    }
    if resource.random.is_some() {
        return quote!(#runtime::Rng);
    }
    let shape = Shape::of(graph, resource);
    match resource.space() {
        Space::Host => quote!(#runtime::Place<#shape, #runtime::OnHost>),
        Space::Device => quote!(#runtime::Place<#shape, #runtime::OnDevice>),
    }
}

/// The methods that every graph has.
fn common(bodies: Bodies) -> TokenStream {
    let launch = bodies.of(quote!(__g::Graph::launch(&mut self.__graph)));
    let launch_on = bodies.of(quote!(__g::Graph::launch_on(&mut self.__graph, stream)));
    let synchronize = bodies.of(quote!(__g::Graph::synchronize(&self.__graph)));
    let raw = bodies.of(quote!(__g::Graph::raw(&self.__graph)));
    quote! {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> __g::Result<()> { #launch }

        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(&mut self, stream: &__g::CudaStream) -> __g::Result<()> { #launch_on }

        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> __g::Result<()> { #synchronize }

        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<__g::RawGraph> { #raw }
    }
}

fn resource_methods(graph: &Graph<'_>, resource: &Resource, bodies: Bodies) -> TokenStream {
    if resource.random.is_some() {
        return rng::handle(resource, bodies);
    }
    let (name, docs) = (&resource.name, &resource.attributes.docs);
    let name_mut = Ident::new(&format!("{}_mut", name.unraw()), name.span());
    let Lent {
        shared,
        exclusive,
        get,
        get_mut,
    } = lent(graph, resource);
    let (get, get_mut) = (bodies.of(get), bodies.of(get_mut));
    let summary = format!(" Waits for launches in flight and lends `{name}` for reading.");
    let summary_mut = format!(" Waits for launches in flight and lends `{name}` for writing.");
    let get_mut = resource.is_mutable().then(|| {
        quote! {
            #[doc = #summary_mut]
            #(#docs)*
            pub fn #name_mut(&mut self) -> __g::Result<#exclusive> { #get_mut }
        }
    });
    let is_shared = matches!(resource.kind, ResourceKind::Shared { .. });
    let rebind = is_shared.then(|| argument::rebind(graph, resource, bodies));
    quote! {
        #[doc = #summary]
        #(#docs)*
        pub fn #name(&self) -> __g::Result<#shared> { #get }

        #get_mut
        #rebind
    }
}

/// What the accessors of a resource lend, and how.
pub(super) struct Lent {
    pub(super) shared: TokenStream,
    pub(super) exclusive: TokenStream,
    pub(super) get: TokenStream,
    pub(super) get_mut: TokenStream,
}

fn lent(graph: &Graph<'_>, resource: &Resource) -> Lent {
    if graph.is_expression() {
        return anonymous::lent(graph, resource);
    }
    let (name, shape) = (&resource.name, Shape::of(graph, resource));
    let is_shared = matches!(resource.kind, ResourceKind::Shared { .. });
    let (shared, exclusive, read, write) = match (resource.space(), &shape) {
        (Space::Host, _) if is_shared => (
            quote!(__g::HostRef<'_, #shape>),
            quote!(__g::HostMut<'_, #shape>),
            quote!(shared_host),
            quote!(shared_host_mut),
        ),
        (Space::Host, Shape::Fixed(_) | Shape::Inferred) => {
            (quote!(&#shape), quote!(&mut #shape), quote!(host), quote!(host_mut))
        }
        (Space::Host, Shape::Dynamic { .. }) => (
            quote!(&#shape),
            quote!(&mut #shape),
            quote!(host_slice),
            quote!(host_slice_mut),
        ),
        (Space::Device, _) => (
            quote!(__g::DeviceRef<'_, #shape>),
            quote!(__g::DeviceMut<'_, #shape>),
            quote!(device),
            quote!(device_mut),
        ),
    };
    let field = unseen(name);
    Lent {
        get: quote!(__g::Graph::#read(&self.__graph, &self.#field)),
        get_mut: quote!(__g::Graph::#write(&mut self.__graph, &self.#field)),
        shared,
        exclusive,
    }
}

fn getter(graph: &Graph<'_>, param: usize, bodies: Bodies) -> TokenStream {
    let (ty, param, condition) = (param_type(graph, param), graph.params[param], anonymous::cloned(graph));
    let (name, docs) = (&param.name, &param.attributes.docs);
    let summary = format!(" The value of the param `{name}` in the next launch.");
    let this = receiver(name);
    let get = bodies.of(copy(name, &Source::Field(this.clone())));
    quote! {
        #[doc = #summary]
        #(#docs)*
        pub fn #name(&#this) -> #ty #condition { #get }
    }
}

/// Where a copy of a param's value comes from.
pub(super) enum Source {
    /// The field of this receiver.
    Field(Ident),
    /// The variable of the param's name.
    Variable,
    /// This argument of its setter.
    Argument(Ident),
}

/// A copy of a param's value: params are `Clone`, not necessarily `Copy`. All copies of one param have the same span,
/// at its name, so that rustc says only once that a type is not `Clone`. `receiver` is the `self` of the method, or the
/// argument's name.
pub(super) fn copy(name: &Ident, source: &Source) -> TokenStream {
    let here = |ident: &Ident| {
        let mut ident = ident.clone();
        ident.set_span(name.span().resolved_at(ident.span()));
        ident
    };
    let value = match source {
        Source::Field(receiver) => {
            let receiver = here(receiver);
            quote_spanned!(name.span()=> #receiver.#name)
        }
        Source::Variable => name.to_token_stream(),
        Source::Argument(argument) => here(argument).to_token_stream(),
    };
    quote_spanned!(name.span()=> ::core::clone::Clone::clone(&#value))
}

/// `self` in the methods of a param, with the hygiene of its name: rustc underlines only tokens that agree in that.
pub(super) fn receiver(param: &Ident) -> Ident {
    Ident::new("self", param.span())
}

/// `set_x(value)` with the given body.
pub(super) fn setter(graph: &Graph<'_>, param: usize, body: TokenStream) -> TokenStream {
    let (ty, param, condition) = (param_type(graph, param), graph.params[param], anonymous::cloned(graph));
    let (name, docs) = (&param.name, &param.attributes.docs);
    let set = Ident::new(&format!("set_{}", name.unraw()), name.span());
    let (this, value) = (receiver(name), value_name(name));
    let summary =
        format!(" Sets the param `{name}` for later launches: updates exactly the nodes that use it, in place.");
    quote! {
        #[doc = #summary]
        #(#docs)*
        pub fn #set(&mut #this, #value: #ty) -> __g::Result<()> #condition { #body }
    }
}

/// The name of a setter's argument.
pub(super) fn value_name(param: &Ident) -> Ident {
    Ident::new("__value", param.span())
}

/// The field of this name, mentioned where it means nothing to editors.
pub(super) fn unseen(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// The handle of a node. In `for`s it takes the numbers of the iterations, from the outermost.
fn handle(graph: &Graph<'_>, index: usize, node: &Node, translated: bool, bodies: Bodies) -> TokenStream {
    let (name, docs) = (&node.name, &node.attributes.docs);
    let summary = format!(" The node `{name}`.");
    let variables = graph.variables_up_to(graph.draft.loop_around(index));
    let distinct = |(position, variable): (usize, &&Ident)| match variables[..position].contains(variable) {
        true => format_ident!("__iteration_{position}"), // a mistake that was reported
        false => (*variable).clone(),
    };
    let variables: Vec<Ident> = variables.iter().enumerate().map(distinct).collect();
    let (number, text) = (Literal::usize_unsuffixed(index), name.to_string());
    let get = match translated {
        false => quote!(__p::node_handle(&mut self.__graph, #number)),
        true => {
            let values = variables.iter().map(unseen);
            quote!(__p::iteration_handle(&mut self.__graph, #number, #text, &[#(#values),*]))
        }
    };
    let get = bodies.of(get);
    quote! {
        #[doc = #summary]
        #(#docs)*
        pub fn #name(&mut self #(, #variables: ::core::primitive::usize)*) -> __g::NodeHandle<'_> { #get }
    }
}

/// The host resources.
fn host<'a>(graph: &Graph<'a>) -> Vec<&'a Resource> {
    let resources = graph.resources.iter().copied();
    resources
        .filter(|resource| resource.kind == ResourceKind::Host)
        .collect()
}

/// The name of the struct that `memory_mut` returns.
fn memory_name(graph: &Graph<'_>) -> Ident {
    without_suggestions(format_ident!("{}Memory", graph.item.name))
}

/// The struct that `memory_mut` returns.
fn memory_type(graph: &Graph<'_>) -> TokenStream {
    let (item, host) = (graph.item, host(graph));
    if host.is_empty() {
        return TokenStream::new();
    }
    let (visibility, name) = (&item.visibility, memory_name(graph));
    let lifetime = Lifetime::new("'memory", Span::mixed_site());
    let own = generics(graph);
    let mut generics = own.clone();
    generics
        .params
        .insert(0, GenericParam::Lifetime(LifetimeParam::new(lifetime.clone())));
    let condition = generics.where_clause.take();
    let marker = marker(&own);
    let fields = host.iter().map(|resource| {
        let (field, shape) = (&resource.name, memory_shape(graph, resource));
        let summary = format!(" The host resource `{field}`.");
        quote!(#[doc = #summary] pub #field: &#lifetime mut #shape,)
    });
    let summary = format!(" All host memory of a [`{}`], lent at once.", item.name);
    quote! {
        #[doc = #summary]
        #[allow(dead_code, non_snake_case)]
        #visibility struct #name #generics #condition {
            #(#fields)*
            __marker: #marker,
        }
    }
}

/// `memory_mut`.
fn memory_method(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let host = host(graph);
    if host.is_empty() {
        return TokenStream::new();
    }
    let (name, arguments) = (memory_name(graph), arguments(&generics(graph)));
    let taken = host.iter().map(|resource| {
        let (field, take) = (unseen(&resource.name), take(graph, resource));
        quote!(#field: #take(&mut __split, &self.#field)?,)
    });
    let body = bodies.of(quote! {
        let mut __split = __g::Graph::split_host(&mut self.__graph)?;
        ::core::result::Result::Ok(#name { #(#taken)* __marker: ::core::marker::PhantomData })
    });
    quote! {
        /// Waits for launches in flight and lends all host memory at once, for writing.
        pub fn memory_mut(&mut self) -> __g::Result<#name<'_, #(#arguments),*>> { #body }
    }
}

/// The shape of host memory, as the interface names it.
fn memory_shape(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    if graph.is_expression() {
        return anonymous::memory_type(graph, resource);
    }
    Shape::of(graph, resource).to_token_stream()
}

/// The function that takes host memory out of what is lent at once.
fn take(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    match Shape::of(graph, resource) {
        _ if graph.is_expression() => quote!(__p::HostSlot::take),
        Shape::Fixed(_) | Shape::Inferred => quote!(__g::HostSplit::take),
        Shape::Dynamic { .. } => quote!(__g::HostSplit::take_slice),
    }
}

/// The names of all generic parameters, as arguments.
pub(super) fn arguments(generics: &Generics) -> Vec<TokenStream> {
    let name = |param: &GenericParam| match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    };
    generics.params.iter().map(name).collect()
}
