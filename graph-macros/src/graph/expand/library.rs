//! `capture` and `raw` nodes: closures that call libraries or CUDA, and get addresses of memory under the memory's
//! names.

use super::host_call::clones;
use super::part::borrow;
use crate::graph::ast::{Argument, Library, Node, StandIn};
use crate::graph::resolve::Graph;
use crate::span::ends;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, Expr, Macro, Path, Stmt};

/// The call that adds captured library calls, or nodes that a `raw` node adds. The closure of a `raw` node is inside
/// the author's `unsafe`, and may have `unsafe` blocks of its own.
pub(super) fn add(graph: &Graph<'_>, node: &Node, library: &Library, builder: &TokenStream) -> TokenStream {
    let (name, span, handle) = (node.name.to_string(), node.name.span(), &library.handle);
    let (clones, arguments) = (clones(graph, node), arguments(graph, &library.arguments));
    let names = names(&library.arguments, handle);
    let content = content(&library.body);
    let ending = ending(content);
    let Some((unsafety, after)) = library.unsafety.zip(library.after.as_ref()) else {
        let body = match ending {
            Ending::Nothing => quote!(#content; ::core::result::Result::Ok(())),
            ending => result(content, ending, quote_spanned!(span=> __p::captured)),
        };
        let calls = quote_spanned! {span=>
            move |#handle: &__g::CaptureStream<'_, _>| -> ::core::result::Result<(), __g::BoxError> {
                let #names = __g::CaptureStream::memory(#handle);
                #body
            }
        };
        let Some(stand_in) = &library.stand_in else {
            return quote_spanned! {span=> #[allow(unused_variables, unreachable_code)] {
                #clones
                let _ = #builder.capture(#name, #arguments, #calls,);
            } };
        };
        let both = [calls, self::stand_in(stand_in, span)].map(|closure| match clones.is_empty() {
            true => closure,
            false => quote!({ #clones #closure }),
        });
        return quote_spanned! {span=> #[allow(unused_variables, unused_mut, unreachable_code)] {
            #clones
            let _ = #builder.capture_or_else(#name, #arguments, #(#both),*);
        } };
    };
    let body = result(content, ending, quote_spanned!(span=> __p::added));
    let raw_node = quote_spanned!(span=> __p::CUgraphNode);
    let add = quote_spanned! {span=>
        #builder.raw(
            #name,
            #arguments,
            move |#handle: &__g::RawNode<'_, _>, #after: &[#raw_node]|
                -> ::core::result::Result<#raw_node, __g::BoxError>
            {
                let #names = __g::RawNode::memory(#handle);
                #body
            },
        )
    };
    let add = quote_spanned!(unsafety.span=> #unsafety { #add });
    quote_spanned!(span=> #[allow(unused_variables, unreachable_code, unused_unsafe)] { #clones let _ = #add; })
}

/// The host function that stands for library calls. The view of a table that it writes is passed by value, so that must
/// be mutable; any other parameter may be.
fn stand_in(StandIn { names, body }: &StandIn, span: Span) -> TokenStream {
    let names = names.iter().map(|name| match name == "_" {
        true => quote!(#name),
        false => quote!(mut #name),
    });
    quote_spanned!(span=> move |(#(#names,)*)| #body)
}

/// The tuple of arguments.
fn arguments(graph: &Graph<'_>, arguments: &[Argument]) -> TokenStream {
    let arguments = arguments.iter().map(|argument| match argument {
        Argument::Borrow { mutable, place, .. } => borrow(graph, place, mutable.is_some()),
        Argument::Value(value) => quote!(__g::ByValue(#value)),
    });
    quote!((#(#arguments,)*))
}

/// The pattern that binds memory to its names in the closure. A name is bound if it is borrowed once, and is not the
/// name of the closure's parameter.
fn names(arguments: &[Argument], parameter: &Ident) -> TokenStream {
    let name = |argument: &Argument| match argument {
        Argument::Borrow { place, .. } => Some(place.name.short().clone()),
        Argument::Value(_) => None,
    };
    let all: Vec<Option<Ident>> = arguments.iter().map(name).collect();
    let bound = all.iter().map(|name| {
        let unique = all.iter().filter(|other| *other == name).count() == 1;
        match name.as_ref().filter(|&name| unique && name != parameter) {
            Some(name) => name.to_token_stream(),
            None => quote!(_),
        }
    });
    quote!((#(#bound,)*))
}

/// The body without the braces around a single expression: in the place where the expansion has it, rustc would call
/// them needless.
fn content(body: &Expr) -> &Expr {
    match body {
        Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => match &block.block.stmts[..] {
            [Stmt::Expr(only, None)] => content(only),
            _ => body,
        },
        Expr::Group(group) => content(&group.expr),
        _ => body,
    }
}

/// A closure's body as an expression whose type is a `Result`. If its value is none, `convert` makes one of it.
fn result(body: &Expr, ending: Ending, convert: TokenStream) -> TokenStream {
    match ending {
        Ending::Result => {
            let mut body = body.clone();
            write_plainly(&mut body);
            body.to_token_stream()
        }
        Ending::Nothing | Ending::Value => quote!(#convert(#body)),
    }
}

/// Writes `Ok(..)` in the place of `Result::Ok(..)` where an expression ends. `Result` may be a name for a type with
/// another error than that of the closure, such as `graph_runtime::Result`.
fn write_plainly(body: &mut Expr) {
    let block = |block: &mut Block| {
        if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
            write_plainly(last);
        }
    };
    match body {
        Expr::Block(body) => block(&mut body.block),
        Expr::Unsafe(body) => block(&mut body.block),
        Expr::Group(body) => write_plainly(&mut body.expr),
        Expr::If(body) => {
            block(&mut body.then_branch);
            if let Some((_, otherwise)) = &mut body.else_branch {
                write_plainly(otherwise);
            }
        }
        Expr::Match(body) => body.arms.iter_mut().for_each(|arm| write_plainly(&mut arm.body)),
        Expr::Call(call) => {
            if let Expr::Path(function) = &mut *call.func
                && is_ok_of_result(&function.path)
            {
                let span = ends(&function.path).0;
                *call.func = Expr::Verbatim(quote_spanned!(span=> ::core::result::Result::Ok));
            }
        }
        _ => {}
    }
}

/// Whether the path is `Result::Ok`, perhaps with the modules that `Result` is in, but without types: with them, rustc
/// knows the type of the error.
fn is_ok_of_result(path: &Path) -> bool {
    let segments: Vec<_> = path.segments.iter().collect();
    let [.., ty, variant] = &segments[..] else { return false };
    let is_plain = segments.iter().all(|segment| segment.arguments.is_none());
    is_plain && ty.ident == "Result" && variant.ident == "Ok"
}

/// The way in which an expression ends, as far as the text tells.
enum Ending {
    /// It ends with `Ok(..)` or `Err(..)`, or does not end.
    Result,
    /// It ends without a value.
    Nothing,
    /// It ends with another value.
    Value,
}

impl Ending {
    /// The ending of several branches: a `Result` if all of them end with one.
    fn of_all(branches: impl IntoIterator<Item = Self>) -> Self {
        let mut branches = branches.into_iter();
        match branches.all(|branch| matches!(branch, Ending::Result)) {
            true => Ending::Result,
            false => Ending::Value,
        }
    }
}

fn ending(body: &Expr) -> Ending {
    let block = |block: &Block| match block.stmts.last() {
        Some(Stmt::Expr(last, None)) => ending(last),
        Some(Stmt::Macro(last)) if diverges(&last.mac) => Ending::Result,
        Some(Stmt::Macro(last)) if last.semi_token.is_none() => Ending::Value,
        _ => Ending::Nothing,
    };
    match body {
        Expr::Group(body) => ending(&body.expr),
        Expr::Block(body) if body.label.is_none() => block(&body.block),
        Expr::Unsafe(body) => block(&body.block),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.is_ident("Ok") || path.path.is_ident("Err") => Ending::Result,
            Expr::Path(path) if is_ok_of_result(&path.path) => Ending::Result,
            _ => Ending::Value,
        },
        Expr::If(body) => match &body.else_branch {
            Some((_, otherwise)) => Ending::of_all([block(&body.then_branch), ending(otherwise)]),
            None => Ending::Value,
        },
        Expr::Match(body) => Ending::of_all(body.arms.iter().map(|arm| ending(&arm.body))),
        Expr::Return(_) => Ending::Result,
        Expr::Macro(body) if diverges(&body.mac) => Ending::Result,
        _ => Ending::Value,
    }
}

fn diverges(called: &Macro) -> bool {
    let never = ["panic", "todo", "unimplemented", "unreachable"];
    let name = called.path.segments.last();
    name.is_some_and(|name| never.iter().any(|never| name.ident == never))
}
