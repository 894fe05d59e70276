//! Closures, and the nodes that take a list of memory.

use super::{arguments, mistakes, node, text};
use crate::graph::ast::Action;

#[test]
fn host_functions() {
    for (source, names, body, after) in [
        ("call c = || tick();", "", "tick ()", ""),
        ("call c = | | tick() after a, b;", "", "tick ()", "a, b"),
        ("call c = |&x| { x[0] } after a;", "x", "{ x [0] }", "a"),
        (
            "call c = |&x, &mut y,| y[0] = x[0] after a;",
            "x, mut y",
            "y [0] = x [0]",
            "a",
        ),
        ("call c = |&x| a | b after a;", "x", "a | b", "a"),
        (
            "call c = |&x| if *x { f() } else { g() };",
            "x",
            "if * x { f () } else { g () }",
            "",
        ),
    ] {
        let (Action::Call(call), found) = node(source) else {
            panic!("{source}")
        };
        let parameters: Vec<String> = call
            .parameters
            .iter()
            .map(|parameter| {
                format!(
                    "{}{}",
                    if parameter.mutable.is_some() { "mut " } else { "" },
                    parameter.place.name
                )
            })
            .collect();
        assert_eq!(
            (
                parameters.join(", ").as_str(),
                text(&call.body).as_str(),
                found.as_str()
            ),
            (names, body, after)
        );
    }
}

#[test]
fn a_broken_body_costs_only_its_node() {
    assert_eq!(
        mistakes("call c = |&x| { let y = ; x. }; host x: f32; join j after c;").len(),
        1
    );
    assert_eq!(mistakes("call c = |&x| x. ; join j after c;").len(), 1);
    assert_eq!(mistakes("capture c = (&a) |s| f(s,, 1); join j after c;").len(), 1);
    assert_eq!(
        mistakes("raw c = unsafe (&a) |g, after| { g. }; join j after c;").len(),
        1
    );
    assert_eq!(mistakes("kernel k = f<<<1, 1>>>(&a, b.); join j after k;").len(), 1);
    assert_eq!(mistakes("graph k = F(a: b.); join j after k;").len(), 1);
}

#[test]
fn child_graphs() {
    for (source, path, names, bound) in [
        ("graph g = Layer();", "Layer", "", ""),
        ("graph g = Layer(x: &a) after b;", "Layer", "x", "&a"),
        (
            "graph g = Layer<N>(x: &mut a, lr: 0.5);",
            "Layer < N >",
            "x, lr",
            "&mut a; 0.5",
        ),
        (
            "graph g = nets::Layer::<{ N * 2 }, f32>(x: &a[1],);",
            "nets :: Layer :: < { N * 2 } , f32 >",
            "x",
            "&a[]",
        ),
        (
            "graph g = ::nets::Layer(x: f(1, 2));",
            ":: nets :: Layer",
            "x",
            "f (1 , 2)",
        ),
    ] {
        let (Action::Graph(child), _) = node(source) else {
            panic!("{source}")
        };
        let (bindings, values): (Vec<_>, Vec<_>) = child
            .bindings
            .into_iter()
            .map(|binding| (binding.name.to_string(), binding.argument))
            .unzip();
        let found = (text(&child.path), bindings.join(", "), arguments(&values).join("; "));
        assert_eq!(found, (path.to_owned(), names.to_owned(), bound.to_owned()));
    }
}

#[test]
fn captures() {
    let (Action::Library(capture), after) =
        node("capture gemm = (&a, &b[0], &mut c, 2.0) |stream| blas.gemm(stream, a, b, c)? after x;")
    else {
        panic!()
    };
    assert_eq!(arguments(&capture.arguments), ["&a", "&b[]", "&mut c", "2.0"]);
    let expected = ("stream".to_owned(), "x".to_owned());
    assert_eq!((capture.handle.to_string(), after), expected);
    assert_eq!(text(&capture.body), "blas . gemm (stream , a , b , c) ?");
}

#[test]
fn raw_nodes() {
    let (Action::Library(raw), after) = node("raw r = unsafe (&mut a) |graph, after| { add(graph, after) } after x;")
    else {
        panic!()
    };
    assert_eq!(
        (raw.handle.to_string(), raw.after.map(|after| after.to_string())),
        ("graph".to_owned(), Some("after".to_owned()))
    );
    let expected = (vec!["&mut a".to_owned()], "x".to_owned());
    assert_eq!((arguments(&raw.arguments), after), expected);
}

#[test]
fn events() {
    let (Action::Event(event), after) = node("record r = events.done() after x;") else {
        panic!()
    };
    assert_eq!((text(&event), after), ("events . done ()".to_owned(), "x".to_owned()));
    assert!(matches!(node("wait w = done;"), (Action::Event(_), _)));
}
