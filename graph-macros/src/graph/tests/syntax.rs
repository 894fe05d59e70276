//! Every form of the grammar, and the messages for its likely typos.

use crate::graph::ast::{Action, Argument, BuildArgument, Function, Input, Item, Part, ResourceKind, Statement};
use crate::graph::parse;
use crate::report::Report;
use quote::ToTokens;

fn parsed(text: &str) -> (Option<Input>, Vec<String>) {
    let mut report = Report::default();
    let input = parse::input(text.parse().unwrap(), &mut report);
    (input, report.messages())
}

/// A graph that is in the grammar.
fn item(text: &str) -> Item {
    match parsed(text) {
        (Some(Input::Item(item)), messages) if messages.is_empty() => *item,
        (input, messages) => panic!("{text}: {messages:?}, {input:?}"),
    }
}

/// The statements of a body that is in the grammar.
fn body(text: &str) -> Vec<Statement> {
    item(&format!("graph Test {{ {text} }}")).statements
}

/// What the only node of a body does, and what it runs after.
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

/// The messages for a body; parsing goes on behind each mistake, so `join last` is always found.
fn mistakes(text: &str) -> Vec<String> {
    let text = format!("graph Test {{ {text}\n join last; }}");
    let (input, messages) = parsed(&text);
    let Some(Input::Item(item)) = input else {
        panic!("{text}")
    };
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
    assert_eq!(kinds, [ResourceKind::Host, ResourceKind::Device, ResourceKind::Scratch]);
    assert_mistake("scratch s;", "expected `: shape` after `s`");
}

#[test]
fn random_numbers() {
    match &body("rng noise = seed(1, 2), draws 2 * N;")[..] {
        [Statement::Rng(rng)] => assert_eq!(
            (text(&rng.seed), text(&rng.draws)),
            ("seed (1 , 2)".into(), "2 * N".into())
        ),
        other => panic!("{other:?}"),
    }
    assert_mistake("rng noise;", "expected `= seed, draws n` after `noise`");
    assert_mistake("rng noise = ;", "expected a seed: `rng noise = 42, draws 4;`");
    assert_mistake(
        "rng noise = 42;",
        "expected `, draws n`: how many numbers a thread draws at each use",
    );
    assert_mistake(
        "rng noise = 42, 4;",
        "expected `draws n`: how many numbers a thread draws at each use",
    );
    assert_mistake(
        "rng noise = 42, draws;",
        "expected how many numbers a thread draws at each use",
    );
    assert_mistake("rng noise = 42, draws 4", "expected `;` at the end of the statement");
}

#[test]
fn kernels_from_values_are_unsafe() {
    let (action, after) = node("kernel k = unsafe (modules[0].get(\"f\"))<<<1, N>>>(&mut x) after a;");
    let Action::Kernel(launch) = action else {
        panic!("{action:?}")
    };
    assert!(matches!(launch.function, Function::Value(_)) && launch.unsafety.is_some());
    assert_eq!(after, "a");
    assert_mistake(
        "kernel k = (f)<<<1, 1>>>();",
        "expected `unsafe`: a function value is launched as `unsafe (expr)<<<grid, block>>>(arguments)`",
    );
    assert_mistake("kernel k = unsafe ()<<<1, 1>>>();", "expected a function value");
    assert_mistake(
        "kernel k = unsafe (f, g)<<<1, 1>>>();",
        "expected `)`: one function value is launched",
    );
}

#[test]
fn places_of_one_and_two_dimensions() {
    let part = |part: &Part| match part {
        Part::Index(index) => text(index),
        Part::Range { start, end, inclusive } => {
            let bound = |bound: &Option<Box<syn::Expr>>| bound.as_ref().map_or_else(String::new, text);
            format!(
                "{}{}{}",
                bound(start),
                if *inclusive { "..=" } else { ".." },
                bound(end)
            )
        }
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
    assert_mistake(
        "memset m = x[0][1][2] <- 0;",
        "at most two indices or ranges select a part; a third is not supported",
    );
}

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
                    parameter.name
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
    assert_mistake("call c;", "expected `= |&input, &mut output| expression` after `c`");
    assert_mistake("call c = f(x);", "expected `|&input, &mut output| expression`");
    assert_mistake(
        "call c = move |&x| f(x);",
        "expected `|`: the closure of a `call` moves what it captures",
    );
    for parameter in ["x", "&", "&mut", "&mut 3"] {
        assert_mistake(
            &format!("call c = |{parameter}| f(x);"),
            "expected `&name` or `&mut name`: a `call` borrows resources by their names",
        );
    }
    for parameter in ["&x: &[f32]", "&x[0]", "&x &y", "&x f()"] {
        assert_mistake(
            &format!("call c = |{parameter}| f(x);"),
            "expected `,` or `|`: a parameter of a `call` is the name of a resource and has its type",
        );
    }
    assert_mistake("call c = |&x|;", "expected an expression after `|..|`");
    assert_mistake("call c = |&x| after a;", "expected an expression after `|..|`");
    assert_mistake("call c = |&x| { f(x) }", "expected `;` at the end of the statement");
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
    assert_mistake("graph g;", "expected `= Graph(name: &memory)` after `g`");
    assert_mistake(
        "graph g = Layer;",
        "expected `(name: &memory)`: what the graph's resources are bound to",
    );
    assert_mistake("graph g = 3;", "expected the path of a graph");
    assert_mistake(
        "graph g = Layer(&a);",
        "expected `name: &memory`: what a graph takes is bound by name",
    );
    assert_mistake(
        "graph g = Layer(x = &a);",
        "expected `name: &memory`: what a graph takes is bound by name",
    );
    assert_mistake("graph g = Layer(x: );", "expected what `x` is bound to");
    assert_mistake(
        "graph g = Layer(x: &a y: &b);",
        "expected `,`: a borrowed argument is a resource or a part of one",
    );
    assert_mistake("graph g = Layer(x: 1 y: &b);", "expected `,`");
}

#[test]
fn captures() {
    let (Action::Capture(capture), after) =
        node("capture gemm = (&a, &b[0], &mut c, 2.0) |stream| blas.gemm(stream, a, b, c)? after x;")
    else {
        panic!()
    };
    assert_eq!(arguments(&capture.arguments), ["&a", "&b[]", "&mut c", "2.0"]);
    assert_eq!(
        (capture.stream.to_string(), after),
        ("stream".to_owned(), "x".to_owned())
    );
    assert_eq!(text(&capture.body), "blas . gemm (stream , a , b , c) ?");
    assert_mistake(
        "capture c = |s| f(s);",
        "expected `(&input, &mut output) |stream| expression`",
    );
    assert_mistake("capture c = (&a) f(a);", "expected `|stream| expression`");
    assert_mistake("capture c = (&a) || f(a);", "expected `|stream| expression`");
    assert_mistake("capture c = (&a) |1| f(a);", "expected a name for the stream");
    assert_mistake("capture c = (&a) |s, t| f(a);", "expected `|`");
    assert_mistake("capture c = (&a) |s|;", "expected an expression after `|..|`");
    assert_mistake("capture c = (&a) |s| f(s)", "expected `;` at the end of the statement");
}

#[test]
fn raw_nodes() {
    let (Action::Raw(raw), after) = node("raw r = unsafe (&mut a) |graph, after| { add(graph, after) } after x;")
    else {
        panic!()
    };
    assert_eq!(
        (raw.graph.to_string(), raw.after.to_string()),
        ("graph".to_owned(), "after".to_owned())
    );
    assert_eq!(
        (arguments(&raw.arguments), after),
        (vec!["&mut a".to_owned()], "x".to_owned())
    );
    assert_mistake(
        "raw r = (&a) |g, after| f();",
        "expected `unsafe`: nobody checks what a `raw` node does",
    );
    assert_mistake(
        "raw r = unsafe |g, after| f();",
        "expected `(&input, &mut output) |graph, after| expression`",
    );
    assert_mistake("raw r = unsafe (&a) f();", "expected `|graph, after| expression`");
    assert_mistake(
        "raw r = unsafe (&a) |g| f();",
        "expected `, after|`: a name for the nodes that come before",
    );
    assert_mistake(
        "raw r = unsafe (&a) |g, 1| f();",
        "expected a name for the nodes that come before",
    );
}

#[test]
fn events() {
    let (Action::Record(event), after) = node("record r = events.done() after x;") else {
        panic!()
    };
    assert_eq!((text(&event), after), ("events . done ()".to_owned(), "x".to_owned()));
    assert!(matches!(node("wait w = done;"), (Action::Wait(_), _)));
    assert_mistake("record r;", "expected `= event` after `r`");
    assert_mistake("wait w = ;", "expected an event");
    assert_mistake("wait w = after r;", "expected an event");
}

#[test]
fn conditionals() {
    let (Action::If(condition), after) =
        node("if i = flags[2] { join a; for k in 0..2 { join b; } } else { while w = more { join c; }; } after x;")
    else {
        panic!()
    };
    assert_eq!(
        (condition.condition.name.to_string(), after),
        ("flags".to_owned(), "x".to_owned())
    );
    assert_eq!(condition.then.statements.len(), 2);
    assert_eq!(condition.otherwise.map(|body| body.statements.len()), Some(1));
    let (Action::Switch(switch), _) = node("switch s = which { { join a; } {} { join b; } };") else {
        panic!()
    };
    assert_eq!(
        switch
            .cases
            .iter()
            .map(|case| case.statements.len())
            .collect::<Vec<_>>(),
        [1, 0, 1]
    );

    assert_mistake("if i { join a; };", "expected `= flag { .. }` after `i`");
    assert_mistake("if i = { join a; };", "expected the name of a resource");
    let brace = "expected `{ .. }`: a condition is one `u32` in device memory, and nodes follow it";
    assert_mistake("if i = flag > 0 { join a; };", brace);
    assert_mistake("while w = flag;", brace);
    assert_mistake("if i = flag { join a; }", "expected `;` at the end of the statement");
    assert_mistake(
        "if i = flag {} else if j = flag {};",
        "expected `{ .. }` after `else`: another `if` is a node inside it",
    );
    assert_mistake(
        "if i = flag {}; else {}",
        "expected a statement, found `else`: `else` follows the body of an `if`, before its `;`",
    );
    let case = "expected `{ .. }`: a `switch` holds a body for each value from 0 on, and nothing else";
    assert_mistake("switch s = which { join a; };", case);
    assert_mistake("switch s = which { {}, {} };", case);
    assert_mistake("switch s = which {};", case);
}

#[test]
fn loops() {
    let statements =
        body("for layer in 0..N { kernel k = f<<<1, 1>>>(&w[layer]); for j in 0..2 { join a; }; } join b;");
    let [Statement::For(repeated), Statement::Node(_)] = &statements[..] else {
        panic!("{statements:?}")
    };
    assert_eq!(
        (repeated.variable.to_string(), text(&repeated.range)),
        ("layer".into(), "0 .. N".into())
    );
    assert_eq!(repeated.statements.len(), 2);

    assert_mistake("for i 0..2 { join a; }", "expected `in range { .. }` after `i`");
    assert_mistake("for i in { join a; }", "expected a range such as `0..N`");
    assert_mistake("for i in 0..2;", "expected `{ .. }`: the nodes that are repeated");
    assert_mistake(
        "for i in 0..2 { join a; } after b;",
        "a `for` has no `after`: its nodes have",
    );
    assert_mistake("for 1 in 0..2 { join a; }", "expected a name after `for`");
}

#[test]
fn bodies_hold_nodes() {
    for (statement, keyword) in [
        ("device x: f32;", "device"),
        ("param x: f32 = 1.0;", "param"),
        ("rng x = 1, draws 2;", "rng"),
    ] {
        for (body, inside) in [
            ("for i in 0..2 { STATEMENT }", "for"),
            ("while w = flag { STATEMENT };", "while"),
        ] {
            assert_mistake(
                &body.replace("STATEMENT", statement),
                &format!("expected a node or a `for`, found `{keyword}`: declare `x` outside of the `{inside}`"),
            );
        }
    }
}

#[test]
fn parsing_goes_on_inside_bodies() {
    let text = "graph Test {
        if i = flag { memcpy m = a; blah; join j after m; } else { join; join k; };
        for n in 0..2 { memset s = b; join l after s; }
    }";
    let (input, messages) = parsed(text);
    assert_eq!(
        messages,
        [
            "expected `-> destination` [syntax]",
            "expected a statement, found `blah` [syntax]",
            "expected a name after `join` [syntax]",
            "expected `<- value` [syntax]",
        ]
    );
    let Some(Input::Item(item)) = input else { panic!() };
    assert_eq!(item.unparsed, ["m", "s"]);
    let [Statement::Node(node), Statement::For(repeated)] = &item.statements[..] else {
        panic!()
    };
    let Action::If(condition) = &node.action else { panic!() };
    assert_eq!((condition.then.unparsed.len(), condition.then.statements.len()), (1, 1));
    assert_eq!(condition.otherwise.as_ref().map(|body| body.statements.len()), Some(1));
    assert_eq!(repeated.statements.len(), 1);
}

#[test]
fn keywords_inside_expressions_start_no_statement() {
    assert_eq!(
        mistakes("kernel k = f<<<1, 1>>>(if a { 1 } else { 2 }) 3; join j after k;").len(),
        1
    );
    assert_eq!(mistakes("call k = 3 if a == b { f() }; join j after k;").len(), 1);
}

#[test]
fn programmatic_edges() {
    let (_, after) = node("join j after a, programmatic(b), programmatic;");
    assert_eq!(after, "a, programmatic(b), programmatic");
    assert_mistake(
        "join j after programmatic();",
        "expected the name of a node in `programmatic(..)`",
    );
    assert_mistake(
        "join j after programmatic(a, b);",
        "expected `)`: each edge has a `programmatic(..)` of its own",
    );
}

#[test]
fn attributes_of_nodes() {
    let statements = body(
        "#[priority(-2)] #[cluster(2, 1)] #[cooperative] #[disabled] kernel k = f<<<1, 1>>>(); #[disabled] memset m = x <- 0;",
    );
    let [Statement::Node(kernel), Statement::Node(memset)] = &statements[..] else {
        panic!()
    };
    let attributes = &kernel.attributes.node;
    assert_eq!(attributes.present().len(), 4);
    assert_eq!(
        attributes
            .priority
            .as_ref()
            .map(|(_, priority)| text(priority))
            .as_deref(),
        Some("- 2")
    );
    assert_eq!(
        attributes.cluster.as_ref().map(|(_, extent)| extent.parts.len()),
        Some(2)
    );
    assert!(memset.attributes.node.disabled.is_some());

    for (attribute, message) in [
        ("#[priority]", "expected `#[priority(n)]`"),
        ("#[priority = 2]", "expected `#[priority(n)]`"),
        ("#[priority(1, 2)]", "expected `#[priority(n)]`"),
        ("#[cluster]", "expected `#[cluster(x, y, z)]`"),
        ("#[cluster()]", "expected `#[cluster(x, y, z)]`"),
        ("#[cluster(1, 2, 3, 4)]", "expected `#[cluster(x, y, z)]`"),
        ("#[cooperative(true)]", "expected `#[cooperative]`"),
        ("#[disabled = true]", "expected `#[disabled]`"),
        ("#[disabled] #[disabled]", "`#[disabled]` is given twice"),
        ("#[priority(1)] #[priority(2)]", "`#[priority]` is given twice"),
        (
            "#[disable]",
            "`#[disable]` is not supported here: did you mean `#[disabled]`?",
        ),
        (
            "#[inline]",
            "`#[inline]` is not supported here: use `///` or `#[allow(rule)]`",
        ),
    ] {
        assert_mistake(&format!("{attribute} kernel k = f<<<1, 1>>>();"), message);
    }
}

#[test]
fn attributes_of_nodes_belong_on_nodes() {
    let kernel = "belongs on a `kernel` node";
    for (attribute, statement, message) in [
        (
            "#[priority(1)]",
            "memcpy m = a -> b;",
            format!("`#[priority]` {kernel}, not on a `memcpy`"),
        ),
        (
            "#[cluster(2)]",
            "join j;",
            format!("`#[cluster]` {kernel}, not on a `join`"),
        ),
        (
            "#[cooperative]",
            "for i in 0..2 {}",
            format!("`#[cooperative]` {kernel}, not on a `for`"),
        ),
        (
            "#[disabled]",
            "device x: f32;",
            "`#[disabled]` belongs on a `kernel`, `memcpy` or `memset` node, not on a `device`".to_owned(),
        ),
    ] {
        assert_mistake(&format!("{attribute} {statement}"), &message);
    }
    let (_, messages) = parsed("#[cooperative] graph Test {}");
    assert_eq!(
        messages,
        [format!("`#[cooperative]` {kernel}, not on a `graph` [syntax]")]
    );
}

#[test]
fn build_arguments() {
    let item = item(
        "graph Test<const D: usize>(n: usize, d: device::Size, w: device [[f32; D]; n], out: mut host f32,) where [(); D]: Sized {}",
    );
    let described: Vec<String> = item
        .arguments
        .iter()
        .map(|argument| match argument {
            BuildArgument::Value { name, ty } => format!("{name}: {}", text(ty)),
            BuildArgument::Memory {
                name,
                mutable,
                space,
                shape,
            } => {
                format!(
                    "{name}: {}{space:?} of {}",
                    if mutable.is_some() { "mut " } else { "" },
                    shape.lengths.len()
                )
            }
        })
        .collect();
    assert_eq!(
        described,
        ["n: usize", "d: device :: Size", "w: Device of 2", "out: mut Host of 0"]
    );
    assert!(item.generics.where_clause.is_some());

    for (arguments, message) in [
        ("n", "expected `: type` or `: device shape` after `n`"),
        (
            "mut w: device f32",
            "expected a name: `mut` stands before `device` or `host`, as in `data: mut device [f32; 4]`",
        ),
        ("w: mut [f32; 4]", "expected `device` or `host` after `mut`"),
        ("w: device", "expected a type such as `f32` or `[f32; 1024]`"),
        ("w: ", "expected a type such as `usize`, or `device` and a shape"),
        ("w: scratch [f32; 4]", "expected `,` after the build argument"),
        ("3", "expected the name of a build argument"),
    ] {
        let (input, messages) = parsed(&format!("graph Test({arguments}, last: usize) {{ join a; }}"));
        assert_eq!(messages, [format!("{message} [syntax]")], "{arguments}");
        let Some(Input::Item(item)) = input else {
            panic!("{arguments}")
        };
        assert_eq!((item.arguments.len(), item.statements.len()), (1, 1), "{arguments}");
    }
}

#[test]
fn expressions() {
    for (source, device) in [
        ("&device => join a; join b after a;", "& device"),
        ("device => join a; join b;", "device"),
        ("graph.device() => join a; join b;", "graph . device ()"),
        ("match x { a => &a } => join a; join b;", "match x { a => & a }"),
    ] {
        match parsed(source) {
            (Some(Input::Expression(graph)), messages) => {
                assert_eq!(messages, [] as [&str; 0], "{source}");
                assert_eq!((text(&graph.device).as_str(), graph.statements.len()), (device, 2));
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    for (source, message) in [
        ("&device join a; join b;", "expected `=> statements` after the device"),
        (
            "&device, => join a; join b;",
            "expected `=> statements` after the device",
        ),
        ("&device. => join a; join b;", "expected identifier"),
        ("=> join a; join b;", "expected an expression"),
        ("&device => memset a = b; join a; join b;", "expected `<- value`"),
    ] {
        match parsed(source) {
            (Some(Input::Expression(graph)), messages) => {
                assert_eq!(messages.len(), 1, "{source}: {messages:?}");
                assert!(messages[0].starts_with(message), "{source}: {messages:?}");
                assert_eq!(graph.statements.len(), 2, "{source}");
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    let (input, messages) = parsed("device join a;");
    assert!(input.is_none());
    assert_eq!(
        messages,
        ["expected a declaration such as `pub graph Name { .. }` [syntax]"]
    );
}
