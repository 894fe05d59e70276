//! One node as tokens: the call that adds or updates it, and the compile-time assertions about it.

use super::alias::{allowed, has_generic_kernels, kernel, kernel_at, launches, own_kernel};
use super::atomic;
use super::child;
use super::chosen_part::{Chosen, is_chosen};
use super::collective;
use super::extent;
use super::host_call;
use super::interface::Bodies;
use super::library;
use super::names::{loaded_name, local};
use super::node_attributes;
use super::part::{borrow, borrow_on_device, bounds_assertions, buffer, generic, inner, on_device, spanned_call};
use super::rectangle::{columns, memset};
use super::symbol;
use crate::graph::ast::{Action, Argument, Extent, Function, Launch, Node, Place};
use crate::graph::constant::{argument, is_constant, is_large_literal, is_of_any_type};
use crate::graph::resolve::Graph;
use crate::span::ends;
use graph_plan::{Outcome, unordered_launches};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr;
use syn::Expr;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The call that adds a node that mentions no param. It has the span of the node's name, which rustc marks beside a
/// wrong argument.
pub(super) fn add(graph: &Graph<'_>, node: &Node, builder: &TokenStream) -> TokenStream {
    let (name, span) = (node.name.to_string(), node.name.span());
    match &node.action {
        Action::Kernel(launch) => {
            let function = loaded(node).map(|function| quote!(::core::option::Option::Some(#function)));
            let (dimensions, call) = (dimensions(graph, node, launch), call(graph, node, launch, function));
            quote_spanned!(span=> let _ = #builder.kernel(#name, #dimensions, #call);)
        }
        Action::Memcpy { from, to } if from.is_rectangle() || to.is_rectangle() => {
            let (source, destination) = (columns(graph, from, false), columns(graph, to, true));
            quote_spanned!(span=> let _ = #builder.memcpy_2d(#name, #source, #destination);)
        }
        Action::Memcpy { from, to } => {
            let (source, destination) = (borrow(graph, from, false), borrow(graph, to, true));
            quote_spanned!(span=> let _ = #builder.memcpy(#name, #source, #destination);)
        }
        Action::Memset { to, value } => {
            let (method, place) = memset(graph, to, span);
            let (element, value) = (element(graph, to), value_to_set(graph, to, value));
            quote_spanned!(span=> let _ = #builder.#method::<_, #element>(#name, #place, #value);)
        }
        Action::Conditional(conditional) => {
            let condition = borrow_on_device(graph, &conditional.condition, false);
            let method = Ident::new(&format!("begin_{}", node.kind.keyword()), span);
            quote_spanned!(span=> let _ = __p::Declare::#method(#builder, #name, #condition);)
        }
        Action::Call(call) => host_call::call(graph, node, call, builder),
        Action::Library(library) => library::add(graph, node, library, builder),
        Action::Event(event) => host_call::event(graph, node, event, builder),
        Action::Graph(child) => child::add(graph, node, child, builder),
        Action::Collective(collective) => collective::add(graph, node, collective, builder),
        Action::Join => quote_spanned!(span=> let _ = #builder.join(#name);),
    }
}

/// The call that adds a node to a builder, or updates it in a graph. Both are the same expression.
pub(super) fn apply(graph: &Graph<'_>, index: usize, node: &Node, target: &Ident) -> TokenStream {
    let (name, span) = (node.name.to_string(), node.name.span());
    let trait_path = quote_spanned!(span=> __p::NodeTarget);
    let chosen = Chosen {
        graph,
        index,
        name: &node.name,
        target,
    };
    match &node.action {
        Action::Kernel(launch) => {
            let function = loaded(node).map(|_| loaded_name().to_token_stream());
            let (dimensions, call) = (dimensions(graph, node, launch), call(graph, node, launch, function));
            quote_spanned!(span=> #trait_path::kernel(#target, #index, #name, #dimensions, #call))
        }
        Action::Memcpy { from, to } => chosen.memcpy(from, to),
        Action::Memset { to, value } if is_chosen(graph, to) => {
            let (element, value) = (element(graph, to), value_to_set(graph, to, value));
            chosen.memset(to, &element, &value)
        }
        Action::Memset { to, value } => {
            let (_, place) = memset(graph, to, span);
            let (element, value) = (element(graph, to), value_to_set(graph, to, value));
            let set = quote_spanned!(span=> __p::Memset::new::<_, #element>(#place, #value));
            quote_spanned!(span=> #trait_path::memset(#target, #index, #name, #set))
        }
        Action::Graph(child) => child::apply(graph, index, node, child, target),
        // These mention no param, or only in expressions that are fixed when the graph is built.
        Action::Call(_)
        | Action::Library(_)
        | Action::Join
        | Action::Event(_)
        | Action::Conditional(_)
        | Action::Collective(_) => {
            quote!(::core::result::Result::Ok(()))
        }
    }
}

/// `Launch::new(grid, block)` at the user's tokens. Without `unsafe`, it also demands a kernel that is declared `safe`.
/// If that fails, rustc does not report the call of an unsafe function in the same body as well.
fn dimensions(graph: &Graph<'_>, node: &Node, launch: &Launch) -> TokenStream {
    let span = launch.function.span();
    let passed = |extent: &Extent| extent::passed(graph, extent, span);
    let (grid, block) = (passed(&launch.grid), passed(&launch.block));
    let dimensions = match (launch.path(), launch.unsafety) {
        (Some(_), None) => {
            let kernel = kernel_at(graph, node, span);
            quote_spanned!(span=> __p::launch::<#kernel>(#grid, #block))
        }
        (None, _) | (_, Some(_)) => quote_spanned!(span=> __g::Launch::new(#grid, #block)),
    };
    let dimensions = match &launch.shared {
        Some(shared) => quote_spanned!(span=> __g::Launch::shared(#dimensions, #shared)),
        None => dimensions,
    };
    node_attributes::launched(node, dimensions, passed)
}

/// The function value that a node launches, as an expression of type `CudaFunction`.
pub(super) fn loaded(node: &Node) -> Option<TokenStream> {
    let Function::Value(value) = &node.action.launch()?.function else {
        return None;
    };
    let (span, expr) = (value.span(), &value.expr);
    Some(quote_spanned!(span=> __g::LoadedFunction::loaded(&(#expr))))
}

/// The kernel call of a node, in `unsafe` if the user wrote that. `function` is the function value that is launched, if
/// the user wrote no path.
fn call(graph: &Graph<'_>, node: &Node, launch: &Launch, function: Option<TokenStream>) -> TokenStream {
    let declared = function.is_none();
    let arguments = launch.arguments.iter().enumerate();
    let arguments = arguments.map(|(index, argument)| match argument {
        Argument::Borrow { and, mutable, place } => {
            let place = on_device(graph, place, mutable.is_some());
            quote!(#and #mutable #place)
        }
        Argument::Value(value) if declared => by_value(value, kernel_at(graph, node, value.span()), index),
        Argument::Value(value) => value.to_token_stream(),
    });
    match function {
        Some(function) => call_of_value(launch, function, arguments),
        None => {
            let kernel = kernel_at(graph, node, launch.function.span());
            let instance = !launch.generics().is_empty() && own_kernel(graph, launch).is_some();
            call_of_path(launch, &kernel, quote!(#(#arguments),*), instance)
        }
    }
}

/// The by-value argument of this index of a declared kernel. An integer parameter takes integers of any type, so it
/// does not tell rustc the type of an expression. Then rustc takes literals for an `i32`, which not all of them fit,
/// and an expression that takes the type that is expected of it has none. Both get a type here.
fn by_value(value: &Expr, kernel: TokenStream, index: usize) -> TokenStream {
    let span = value.span();
    if is_large_literal(value) {
        return quote_spanned!(span=> __p::literal(#value));
    }
    if is_of_any_type(value) {
        let function = format_ident!("__value{index}", span = span);
        return quote_spanned!(span=> #kernel::#function(#value));
    }
    value.to_token_stream()
}

/// `loaded_call(function, [arguments])`. If the user wrote no `unsafe`, rustc reports that at the function.
fn call_of_value(launch: &Launch, function: TokenStream, arguments: impl Iterator<Item = TokenStream>) -> TokenStream {
    let arguments = launch.arguments.iter().zip(arguments).map(|(argument, tokens)| {
        let (constructor, span) = match argument {
            Argument::Borrow { and, mutable: None, .. } => ("read", and.span),
            Argument::Borrow { and, .. } => ("write", and.span),
            Argument::Value(value) => ("value", value.span()),
        };
        let constructor = Ident::new(constructor, span);
        quote_spanned!(span=> __g::CallArgument::#constructor(#tokens))
    });
    let (span, name) = (launch.function.span(), loaded_name());
    let call = quote_spanned!(span=> __p::loaded_call(#name, [#(#arguments),*]));
    let call = match launch.unsafety {
        Some(unsafety) => quote_spanned!(unsafety.span=> #unsafety { #call }),
        None => call,
    };
    quote!({ let #name = #function; #call })
}

/// `kernel::__launch(arguments)`; `instance` says whether the kernel is an alias of an instance of a generic one.
fn call_of_path(launch: &Launch, kernel: &TokenStream, arguments: TokenStream, instance: bool) -> TokenStream {
    let mut arguments = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, arguments);
    // The callee's span reaches from the path to `>>>`, so that rustc suggests to replace only the arguments. The whole
    // call of an instance is at the place of the path: see `alias::kernels_aliased`.
    let (closing, parens) = match instance {
        true => (launch.function.span(), launch.function.span()),
        false => (launch.closing, launch.parens),
    };
    arguments.set_span(parens);
    let function = Ident::new("__launch", closing);
    let callee = quote_spanned!(launch.function.span()=> #kernel::#function);
    let call = match launch.unsafety {
        Some(unsafety) => quote_spanned!(unsafety.span=> #unsafety { #callee #arguments }),
        None => quote!(#callee #arguments),
    };
    if !instance {
        return call;
    }
    // If there is no such instance, which the alias reports, a function of a trait replaces the one that is missing.
    let types: Vec<Ident> = (0..launch.arguments.len())
        .map(|index| format_ident!("A{index}"))
        .collect();
    let missing = Bodies::Stub.of(TokenStream::new());
    quote! {{
        #[allow(dead_code)]
        trait __Missing { fn #function<#(#types),*>(#(_: #types),*) -> __g::KernelCall<0> { #missing } }
        impl<T: ?::core::marker::Sized> __Missing for T {}
        #call
    }}
}

/// The value that a memset sets.
fn value_to_set(graph: &Graph<'_>, to: &Place, value: &Expr) -> TokenStream {
    match graph.resource(to).map(|index| graph.resources[index]) {
        Some(resource) if resource.is_moved() => {
            let place = local(&resource.name);
            quote_spanned!(value.span()=> __p::element_of(&#place, #value))
        }
        _ => value.to_token_stream(),
    }
}

/// The type of the elements of a place's resource, as it is declared. If the declared type is a name for an array, its
/// parts are selected.
fn element(graph: &Graph<'_>, place: &Place) -> TokenStream {
    let Some(resource) = graph.resource(place).map(|index| graph.resources[index]) else {
        return quote!(_);
    };
    if place.parts.len() > resource.shape.lengths.len() && !resource.is_moved() {
        return inner(resource, place.parts.len());
    }
    resource.shape.element.to_token_stream()
}

/// All assertions about the nodes of a graph: as items beside the type, which `cargo check` evaluates, and as
/// statements that depend on the graph's generics, which are evaluated where the graph is used.
pub(super) fn assertions(graph: &Graph<'_>, outcome: &Outcome) -> (TokenStream, TokenStream) {
    let atomic = atomic::assertions(graph, outcome).into_iter();
    let atomic = atomic.map(|(node, span, tokens)| Assertion {
        node: graph.nodes[node],
        span,
        tokens,
    });
    let (mut generic, mut plain): (Vec<_>, Vec<_>) = each(graph)
        .into_iter()
        .chain(atomic)
        .partition(|assertion| self::generic(graph, assertion.tokens.clone()));
    let generic_kernels = has_generic_kernels(graph);
    let kernels = unordered_kernels(graph, outcome)
        .into_iter()
        .chain(first_writes(graph, outcome));
    for assertion in kernels {
        match generic_kernels && self::generic(graph, assertion.tokens.clone()) {
            true => generic.push(assertion),
            false => plain.push(assertion),
        }
    }
    let (allowed, mut numbers) = (allowed(graph), HashMap::<&Ident, usize>::new());
    let item = |Assertion { node, span, tokens }| {
        let number = numbers.entry(&node.name).or_default();
        *number += 1;
        // rustc's message says that the evaluation of the constant with this name failed.
        let name = match *number {
            1 => format_ident!("NODE_{}", node.name.unraw(), span = span),
            number => format_ident!("NODE{number}_{}", node.name.unraw(), span = span),
        };
        quote_spanned!(span=> #allowed const #name: () = #tokens;)
    };
    let statement = |Assertion { span, tokens, .. }| quote_spanned!(span=> const { #tokens };);
    let mut items: TokenStream = plain.into_iter().map(item).collect();
    let mut generic: TokenStream = generic.into_iter().map(statement).collect();
    let (more, more_generic) = symbol::assertions(graph, outcome);
    items.extend(more);
    generic.extend(more_generic);
    (items, generic)
}

/// A compile-time assertion.
struct Assertion<'a> {
    /// The node that it is about.
    node: &'a Node,
    /// The beginning of the user's tokens that it is about.
    span: Span,
    /// The call that asserts.
    tokens: TokenStream,
}

/// For each kernel that gets scratch memory as `&mut` before any other node has written it, the assertion that it does
/// not load from there. Only constants of the kernel's type tell that.
fn first_writes<'a>(graph: &Graph<'a>, outcome: &Outcome) -> Vec<Assertion<'a>> {
    let assertion = |&access: &usize| {
        let (place, start) = graph.accesses[access];
        let node = graph.nodes[graph.draft.accesses[access].node];
        let launch = node.action.launch()?;
        launch.path()?;
        let passed =
            |argument: &Argument| matches!(argument, Argument::Borrow { place: passed, .. } if ptr::eq(passed, place));
        let param = launch.arguments.iter().position(passed)?;
        let (kernel, name, memory) = (kernel(graph, node), node.name.to_string(), place.name.to_string());
        let function = quote_spanned!(start=> __p::KernelChecks::<#kernel>::initializes);
        let tokens = spanned_call(function, quote!(#name, #memory, #param), place.end);
        Some(Assertion {
            node,
            span: start,
            tokens,
        })
    };
    outcome.first_writes.iter().filter_map(assertion).collect()
}

/// For each two kernels with nodes that can run at the same time, the assertion that they share no module-scope
/// variable that one of them writes. Only constants of the kernels' types tell which variables they touch.
fn unordered_kernels<'a>(graph: &Graph<'a>, outcome: &Outcome) -> Vec<Assertion<'a>> {
    let launches = launches(graph);
    let assertion = |(first, second): (usize, usize)| {
        let (first, second) = (graph.nodes[launches[first].0], graph.nodes[launches[second].0]);
        let (kernel, other) = (kernel(graph, first), kernel(graph, second));
        let (name, other_name) = (first.name.to_string(), second.name.to_string());
        let function = quote_spanned! {second.name.span()=>
            __p::KernelChecks::<#kernel>::variable_race::<#other>
        };
        let span = second.name.span();
        let tokens = spanned_call(function, quote!(#name, #other_name), span);
        Assertion {
            node: second,
            span,
            tokens,
        }
    };
    let pairs = unordered_launches(&graph.draft, &outcome.order, &launches);
    pairs.into_iter().map(assertion).collect()
}

/// The assertions about single nodes. Equal ones are made once: a large graph launches the same kernels over and over.
fn each<'a>(graph: &Graph<'a>) -> Vec<Assertion<'a>> {
    let mut found = Vec::new();
    let mut launches: Vec<LaunchAssertion<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for &node in &graph.nodes {
        for place in node.action.places() {
            let (assertions, span) = (bounds_assertions(graph, place).into_iter(), place.name.span());
            found.extend(assertions.map(|tokens| Assertion { node, span, tokens }));
        }
        let children = child::assertions(graph, node).into_iter();
        found.extend(children.map(|(span, tokens)| Assertion { node, span, tokens }));
        let Some(launch) = node.action.launch() else { continue };
        let (Some(path), Some(operands)) = (launch.path(), operands(graph, node, launch)) else {
            continue;
        };
        match known.entry(quote!(#path #operands).to_string()) {
            Entry::Occupied(entry) => launches[*entry.get()].nodes.push(node.name.to_string()),
            Entry::Vacant(entry) => {
                entry.insert(launches.len());
                launches.push(LaunchAssertion {
                    node,
                    launch,
                    operands,
                    nodes: vec![node.name.to_string()],
                });
            }
        }
    }
    found.extend(launches.iter().map(|assertion| Assertion {
        node: assertion.node,
        span: assertion.launch.function.span(),
        tokens: assertion.tokens(graph),
    }));
    found
}

/// The assertion of contracts and of the kernel's own limits, for all nodes that launch it in the same way.
struct LaunchAssertion<'a> {
    /// The first such node, at which a failure is reported.
    node: &'a Node,
    launch: &'a Launch,
    operands: TokenStream,
    /// The names of all such nodes.
    nodes: Vec<String>,
}

impl LaunchAssertion<'_> {
    fn tokens(&self, graph: &Graph<'_>) -> TokenStream {
        let (kernel, nodes, operands) = (kernel(graph, self.node), &self.nodes, &self.operands);
        let span = self.launch.function.span();
        let check = if any_typed(graph, self.node, self.launch) {
            "check_dimensions"
        } else {
            "check_launch"
        };
        let check = Ident::new(check, span);
        let function = quote_spanned!(span=> __p::#check::<#kernel>);
        let memory = self.launch.arguments.iter().map(|argument| match argument {
            Argument::Borrow { place, .. } => place.name.to_string(),
            Argument::Value(_) => String::new(),
        });
        let operands = quote!(&[#(#nodes),*], &[#(#memory),*], #operands);
        let whole = spanned_call(function, operands, self.launch.parens);
        let extents = self.extents(graph);
        match extents.is_empty() {
            true => whole,
            false => quote!({ #(#extents;)* #whole }),
        }
    }

    /// The assertions of a grid or block that a constant names, each at its own tokens. Limits of literals are known
    /// before.
    fn extents(&self, graph: &Graph<'_>) -> Vec<TokenStream> {
        let nodes = &self.nodes;
        let both = [(&self.launch.grid, false), (&self.launch.block, true)].into_iter();
        let named = both.filter(|(extent, _)| extent::is_typed(graph, extent));
        named
            .map(|(extent, is_block)| {
                let (start, end) = ends(&extent.whole);
                let function = quote_spanned!(start=> __p::check_extent);
                // With the span of the launch's own call, so that rustc reports a wrong type once.
                let known = extent::known(graph, extent, self.launch.function.span());
                spanned_call(function, quote!(&[#(#nodes),*], #is_block, #known), end)
            })
            .collect()
    }
}

/// The grid, block, shared memory and arguments of a launch as constants; `None` if a dimension is not constant.
fn operands(graph: &Graph<'_>, node: &Node, launch: &Launch) -> Option<TokenStream> {
    let variables = graph.variables();
    let cluster = node.attributes.node.cluster.as_ref().map(|(_, cluster)| cluster);
    let mut dimensions = launch
        .grid
        .parts
        .iter()
        .chain(&launch.block.parts)
        .chain(&launch.shared)
        .chain(cluster.iter().flat_map(|cluster| &cluster.parts));
    if !dimensions.all(|expr| is_constant(expr, &variables)) {
        return None;
    }
    // (`quote!(0)` would parse it each time.)
    let shared = launch.shared.as_ref().map_or_else(
        || Literal::i128_unsuffixed(0).into_token_stream(),
        |shared| extent::bytes(graph, shared),
    );
    let unknown = || quote!(__p::plan::Argument::Unknown);
    let arguments = launch.arguments.iter().map(|passed| match passed {
        Argument::Borrow { place, .. } => buffer(graph, place).unwrap_or_else(unknown),
        // The type of `None` is known in the call alone.
        Argument::Value(_) if passed.is_none() => quote!(__p::plan::Argument::Bytes([0; 16], 8)),
        Argument::Value(value) => argument(value, &variables),
    });
    if any_typed(graph, node, launch) {
        let span = launch.function.span();
        let extents = extents(node, launch).map(|extent| extent::known(graph, extent, span));
        return Some(quote!(&[#(#extents),*], #shared, &[#(#arguments),*]));
    }
    let extents = extents(node, launch).map(extent::values);
    Some(quote!(&[#(#extents),*], #shared, &[#(#arguments),*]))
}

/// Grid and block of a launch, and the cluster of its node if it has one.
fn extents<'a>(node: &'a Node, launch: &'a Launch) -> impl Iterator<Item = &'a Extent> {
    let cluster = node.attributes.node.cluster.iter().map(|(_, cluster)| cluster);
    [&launch.grid, &launch.block].into_iter().chain(cluster)
}

/// Whether only rustc knows if one of the extents is an integer or a tuple.
fn any_typed(graph: &Graph<'_>, node: &Node, launch: &Launch) -> bool {
    extents(node, launch).any(|extent| extent::is_typed(graph, extent))
}
