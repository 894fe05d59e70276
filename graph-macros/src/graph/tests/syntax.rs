//! Every form of the grammar, and the messages for likely typos.

mod bodies;
mod closures;
mod heads;

use crate::graph::ast::{Action, Argument, Function, Input, Item, Part, ResourceKind, Statement};
use crate::graph::{head, parse};
use crate::report::Report;
use graph_plan::Memory;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

fn parsed(text: &str) -> (Option<Input>, Vec<String>) {
    let mut report = Report::default();
    let input = parse::input(text.parse().unwrap(), &mut report);
    (input, report.messages())
}

/// A graph that is in the grammar.
fn item(text: &str) -> Item {
    match parsed(text) {
        (Some(Input::Items(mut items)), messages) if messages.is_empty() && items.graphs.len() == 1 => {
            items.graphs.remove(0)
        }
        (input, messages) => panic!("{text}: {messages:?}, {input:?}"),
    }
}

/// The graphs of an input that is no expression.
fn items(input: Option<Input>) -> Vec<Item> {
    let Some(Input::Items(items)) = input else {
        panic!("{input:?}")
    };
    items.graphs
}

/// The statements of a body that is in the grammar.
fn body(text: &str) -> Vec<Statement> {
    item(&format!("graph Test {{ {text} }}")).statements
}

/// The action and the `after` list of the only node of a body.
fn node(text: &str) -> (Action, String) {
    match body(text).pop() {
        Some(Statement::Node(node)) => {
            let name = |name: String, programmatic| {
                if programmatic {
                    format!("programmatic({name})")
                } else {
                    name
                }
            };
            let after = node.after.iter();
            let after: Vec<String> = after
                .map(|dependency| name(dependency.name.to_string(), dependency.programmatic.is_some()))
                .collect();
            (node.action, after.join(", "))
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// The messages for a body; parsing goes on after each mistake, so `join last` is always found.
fn mistakes(text: &str) -> Vec<String> {
    let text = format!("graph Test {{ {text}\n join last; }}");
    let (input, messages) = parsed(&text);
    let [item] = &items(input)[..] else { panic!("{text}") };
    let last = item.statements.last().map(|statement| statement.name().to_string());
    assert_eq!(last.as_deref(), Some("last"), "{text}");
    messages
}

/// One mistake gives one message.
fn assert_mistake(text: &str, message: &str) {
    assert_eq!(mistakes(text), [format!("{message} [syntax]")], "{text}");
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

fn arguments(arguments: &[Argument]) -> Vec<String> {
    let argument = |argument: &Argument| match argument {
        Argument::Borrow { mutable, place, .. } => {
            format!(
                "&{}{}{}",
                if mutable.is_some() { "mut " } else { "" },
                place.name,
                "[]".repeat(place.parts.len())
            )
        }
        Argument::Value(value) => text(value),
    };
    arguments.iter().map(argument).collect()
}

#[test]
fn resources_of_each_kind() {
    let kinds: Vec<ResourceKind> = body("host a: f32; device b: [f32; 4]; scratch device: [[f32; 2]; N];")
        .iter()
        .map(|statement| match statement {
            Statement::Resource(resource) => resource.kind,
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [Memory::Host, Memory::Device, Memory::Scratch].map(ResourceKind::Own);
    assert_eq!(kinds, expected);
}

#[test]
fn random_numbers() {
    match &body("rng noise = seed(1, 2), draws 2 * N;")[..] {
        [Statement::Resource(resource)] => {
            let random = resource.random.as_ref().expect("an `rng` has a seed");
            let expected = ("seed (1 , 2)".into(), "2 * N".into());
            assert_eq!((text(&random.seed), text(&random.draws)), expected);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn kernels_from_values_are_unsafe() {
    let (action, after) = node("kernel k = unsafe (modules[0].get(\"f\"))<<<1, N>>>(&mut x) after a;");
    let Action::Kernel(launch) = action else {
        panic!("{action:?}")
    };
    assert!(matches!(launch.function, Function::Value(_)) && launch.unsafety.is_some());
    assert_eq!(after, "a");
}

#[test]
fn places_of_one_and_two_dimensions() {
    let part = |part: &Part| match part {
        Part::Index(index) => text(index),
        Part::Range(range) => range.text(text),
    };
    for (place, expected) in [
        ("x", &[] as &[&str]),
        ("x[..]", &[]),
        ("x[..][..]", &[]),
        ("x[3]", &["3"]),
        ("x[1..4]", &["1..4"]),
        ("x[1..4][..]", &["1..4"]),
        ("x[1..4][..=n]", &["1..4", "..=n"]),
        ("x[..][2..]", &["..", "2.."]),
    ] {
        let (Action::Memset { to, .. }, _) = node(&format!("memset m = {place} <- 0;")) else {
            panic!("{place}")
        };
        assert_eq!(to.parts.iter().map(part).collect::<Vec<_>>(), expected, "{place}");
    }
}

/// At the end of the input, syn has no token to tell a mistake at, and rustc would underline the whole macro.
#[test]
fn each_mistake_is_at_a_token() {
    let statements = "
        #[allow(unused_resource)] pub(in a::b) host a: [[f32; N + 1]; 4]; rng r = 1, draws 2; param p: f32 = 1.0;
        #[cluster(1, 2)] kernel k = unsafe (f.g)<<<(1, 2), B, 3>>>(&mut x[1..2][3], 4) after i, programmatic(j);
        kernel l = a::f<<<1, 2>>>(&x); memcpy m = x[..] -> y after k; memset n = x <- -1;
        call c = |&x, &mut y| { x + y } after k; graph g = a::G::<f32>(x: &mut a, y: 1);
        capture d = (&x) |stream| f(stream); raw w = unsafe (&x) |graph, after| f(graph, after); join j after k,;
        record e = done; if i = x[1] { join o; } else { join q; } after k; while h = x { join s; };
        switch t = x { { join u; } {} }; for v in 0..2 { join z after v; }";
    let graphs = "/// Here.\n #[allow(dead_node)] pub(crate) graph A<const N: usize>(n: usize, w: mut device [f32; N]) where [f32; N]: Sized { join a; }";
    for (head, text) in [
        ("&device() => ", statements),
        ("graph A { ", statements),
        ("", graphs),
        ("#![crate = a::b] ", graphs),
    ] {
        let tokens: Vec<TokenTree> = text.parse::<TokenStream>().unwrap().into_iter().collect();
        for end in usize::from(head.is_empty())..tokens.len() {
            let cut: TokenStream = tokens[..end].iter().cloned().collect();
            let foot = if head.ends_with("{ ") { " }" } else { "" };
            let text = format!("{head}{cut}{foot}");
            let input: TokenStream = text.parse().unwrap();
            let mut report = Report::of(&input);
            let (_, input) = head::runtime(input, &mut report);
            parse::input(input, &mut report);
            for span in report.starts() {
                let whole = format!("{:?}", Span::call_site());
                assert_ne!(format!("{span:?}"), whole, "{text}: {:?}", report.messages());
            }
        }
    }
}

#[test]
fn lists_may_end_with_a_comma() {
    for source in [
        "join j after a,;",
        "kernel k = f<<<(1,), (2, 3,),>>>(&x, 2,) after a,;",
        "kernel k = f<<<1, 2, 3,>>>() after a,;",
        "call c = |&x,| x.len() after a,;",
        "capture c = (&x,) |stream,| f(stream) after a,;",
        "raw r = unsafe (&x,) |graph, after,| f(graph, after) after a,;",
        "graph g = G(data: &mut x,) after a,;",
    ] {
        assert_eq!(node(source).1, "a", "{source}");
    }
    let name = "expected the name of a node after `after`: name a node, or remove `after`";
    for list in [",", "a,,", ", a"] {
        assert_mistake(&format!("join j after {list};"), name);
    }
}

#[test]
fn programmatic_edges() {
    let (_, after) = node("join j after a, programmatic(b,), programmatic;");
    assert_eq!(after, "a, programmatic(b), programmatic");
}

/// Found by mutations, see `crate::mutations`.
#[test]
fn an_rng_that_is_misused_beside_a_syntax_error_is_no_panic() {
    let text = "graph Noise { rng noise = 42, draws 64 kernel draw = noisy<<<1, 64>>>(&mut noise) }";
    let expansion = crate::graph::expand(text.parse().unwrap()).to_string();
    let part = "expected `;` at the end of the statement";
    assert!(expansion.contains(part), "{expansion}");
}
