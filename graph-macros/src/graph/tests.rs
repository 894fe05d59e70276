//! The messages of every rule that the macro itself decides, and what a right graph expands to.

mod arguments;
mod closures;
mod expansions;
mod promise;
mod syntax;
mod value;

use super::ast::Input;
use super::{check, expand, parse, resolve};
use crate::report::Report;

/// The messages for a graph's body, in source order.
fn messages(body: &str) -> Vec<String> {
    item_messages(&format!("graph Test<const N: usize> {{\n{body}\n}}"))
}

fn item_messages(text: &str) -> Vec<String> {
    let mut report = Report::default();
    if let Some(Input::Items(items)) = parse::input(text.parse().unwrap(), &mut report)
        && let [item] = &items[..]
    {
        let graph = resolve::resolve(item, &mut report);
        check::check(&graph, &mut report);
    }
    report.messages()
}

/// The first lines of the messages.
fn heads(body: &str) -> Vec<String> {
    messages(body)
        .iter()
        .map(|message| message.lines().next().unwrap().to_owned())
        .collect()
}

fn assert_heads(body: &str, expected: &[&str]) {
    assert_eq!(heads(body), expected, "{body}");
}

const SAMPLE: &str = "
    host input: [f32; N];
    device data: [f32; N];
    host output: [f32; N];
    memcpy upload = input -> data;
    kernel forward = kernel_forward<<<1, N>>>(&mut data) after upload;
    kernel backward = kernel_backward<<<1, N>>>(&mut data) after forward;
    memcpy download = data -> output after backward;";

#[test]
fn the_sample_is_right() {
    assert_heads(SAMPLE, &[]);
    let expansion = expand(
        format!("pub graph Sample<const N: usize> {{ {SAMPLE} }}")
            .parse()
            .unwrap(),
    );
    let file: syn::File = syn::parse2(expansion).expect("the expansion is Rust");
    assert!(
        file.items
            .iter()
            .any(|item| matches!(item, syn::Item::Struct(item) if item.ident == "Sample"))
    );
}

#[test]
fn declaration_order_carries_no_meaning() {
    assert_heads(
        "memcpy down = data -> out after up; memcpy up = input -> data; host out: f32; device data: f32; host input: f32;",
        &[],
    );
}

#[test]
fn launches_may_contain_shifts_and_comparisons() {
    assert_heads(
        "device x: f32; kernel a = f<<<(N >> 2, 1), { N >> 1 }, 4 << 2>>>(&mut x); kernel b = g<<<N >> 3, 1>>>(&mut x) after a;",
        &[],
    );
    assert_heads(
        "device x: [f32; N]; kernel a = f<<<1, N>>>(&mut x[..N / 2], N >> (1));",
        &[],
    );
}

#[test]
fn syntax_errors_are_reported_each_and_parsing_goes_on() {
    assert_heads(
        "host a [f32; 4];\n device b: [f32];\n kernel k = f<<<1>>>(&b);\n kernel l = f<1, 2>(&b);\n memcpy m = a;\n blah blah;\n memset z = b <- ;\n join j after;\n kernel m = f<<<1, 2>>>(&b +);",
        &[
            "expected `: shape` after `a` [syntax]",
            "expected `; length`: the length is part of a shape [syntax]",
            "expected `, block`: a launch is `<<<grid, block>>>` [syntax]",
            "expected `<<<grid, block>>>` after the kernel [syntax]",
            "expected `-> destination` [syntax]",
            "expected a statement, found `blah` [syntax]",
            "expected `value` after `<-` [syntax]",
            "expected the name of a node after `after`: name a node, or remove `after` [syntax]",
            "expected `,`: a borrowed argument is a resource or a part of one [syntax]",
        ],
    );
}

#[test]
fn half_a_statement_takes_nothing_of_the_next() {
    for (half, missing) in [
        ("host b:", "expected a type such as `f32` or `[f32; 1024]` [syntax]"),
        ("param b: f32 =", "expected `value` after `=` [syntax]"),
        (
            "kernel b =",
            "expected `kernel<<<grid, block>>>(arguments)` after `=` [syntax]",
        ),
        ("memcpy b =", "expected `source -> destination` after `=` [syntax]"),
        ("memcpy b = a ->", "expected `destination` after `->` [syntax]"),
        ("memset b = a <-", "expected `value` after `<-` [syntax]"),
        (
            "join b after",
            "expected the name of a node after `after`: name a node, or remove `after` [syntax]",
        ),
        (
            "join b after n,",
            "expected the name of a node after `after`: name a node, or remove `after` [syntax]",
        ),
    ] {
        assert_heads(
            &format!("device a: f32; {half} memset n = a <- 0.0; join j after n;"),
            &[missing],
        );
    }
}

#[test]
fn an_unparsed_statement_is_not_missed_by_others() {
    assert_heads(
        "host a: ;\n device b: f32;\n memcpy m = a -> b;\n memcpy n = b -> -> a after m;\n join j after n;",
        &[
            "expected a type such as `f32` or `[f32; 1024]` [syntax]",
            "expected the name of a resource [syntax]",
        ],
    );
}

#[test]
fn an_unknown_node_causes_no_race() {
    assert_heads(
        &SAMPLE.replace("after upload", "after uplod"),
        &["no node is named `uplod` [unknown-node]"],
    );
}

#[test]
fn disjoint_parts_do_not_race() {
    assert_heads(
        "device x: [f32; 8]; memset a = x[0] <- 0.0; memset b = x[1] <- 0.0; memset c = x[2..4] <- 0.0; memset d = x[4..] <- 0.0;",
        &[],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[..N] <- 0.0; memset b = x[N..] <- 0.0;",
        &[],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[..N / 2] <- 0.0; memset b = x[N / 2..] <- 0.0;",
        &[],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[..=3] <- 0.0; memset b = x[3..] <- 0.0;",
        &["nodes `a` and `b` can run at the same time and both access `x` [race]"],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[f()] <- 0.0; memset b = x[f()] <- 0.0;",
        &["nodes `a` and `b` can run at the same time and both access `x` [race]"],
    );
}

#[test]
fn ranges_may_end_at_the_length() {
    assert_heads(
        "device x: [f32; 8]; memset a = x[8..] <- 0.0; memset b = x[..8] <- 0.0;",
        &[],
    );
}

#[test]
fn rustc_compares_shapes_of_const_generics() {
    assert_heads("host a: [f32; N]; device b: [f32; 8]; memcpy m = a -> b;", &[]); // rustc decides
}

#[test]
fn warnings_can_be_silenced_at_the_statement_or_for_the_graph() {
    let body = "device x: f32; device y: f32; memset a = x <- 0.0; join b after a; join c after a, b;";
    assert_heads(
        body,
        &[
            "no node uses `y` [unused-resource]",
            "`c` already runs after `a` [redundant-edge]",
        ],
    );
    let silenced = body
        .replace("device y", "#[allow(unused_resource)] device y")
        .replace("join c", "#[allow(redundant-edge)] join c");
    assert_heads(&silenced, &[]);
    assert_eq!(
        item_messages(&format!(
            "#[allow(unused-resource, redundant-edge)] graph Test {{ {body} }}"
        )),
        [] as [&str; 0]
    );
    assert_heads("#[allow(race)] join a;", &["no warning is named `race` [syntax]"]);
    assert_heads("constant table: [f32; 4] = \"table\";", &[]); // kernels read it, and the host sets it
}

/// The indices of the params and nodes that rustc compiles although the graph has mistakes.
fn intact(body: &str) -> (Vec<usize>, Vec<usize>) {
    let expansion = expand(format!("graph Test(n: usize) {{\n{body}\n}}").parse().unwrap()).to_string();
    assert!(expansion.contains("compile_error"), "{body}");
    let with = |prefix: &str| {
        (0..9)
            .filter(|index| expansion.contains(&format!("fn {prefix}{index} ")))
            .collect()
    };
    (with("__initial_"), with("__added_"))
}

#[test]
fn of_a_graph_with_mistakes_rustc_compiles_what_has_none() {
    let right = "host x: [f32; 4];
        device y: [f32; 4];
        param p: f32 = A;
        memcpy a = x -> y;
        memset b = y <- p;
        call c = |&x| B(x, n) after a;";
    let wrong = "join d after nobody;";
    assert_eq!(intact(&format!("{right}{wrong}")), (vec![0], vec![0, 1, 2]));
    // A race is nothing that rustc would find; the wrong memory is.
    let wrong = "kernel d = f<<<1, 1>>>(&x);
        kernel e = f<<<1, 1>>>(&mut y, C);
        kernel g = f<<<1, 1>>>(&z);";
    assert_eq!(intact(&format!("{right}{wrong}")), (vec![0], vec![0, 1, 2, 4]));
    // Text that cannot be parsed has no value that others could mention.
    let wrong = "param q: f32 = ;
        param r: f32 = q * 2.0;
        memset d = y <- q;
        memset e = y <- r;";
    assert_eq!(intact(&format!("{right}{wrong}")), (vec![0], vec![0, 1, 2, 4]));
}

#[test]
fn a_graph_with_mistakes_keeps_its_interface() {
    let text = "pub graph Test<const N: usize> { host a: [f32; N]; param lr: f32 = 0.1; join j after nobody; }";
    let expansion = expand(text.parse().unwrap()).to_string();
    for signature in [
        "pub fn build",
        "pub fn launch",
        "pub fn a (",
        "pub fn a_mut (",
        "pub fn set_lr",
        "pub fn lr",
        "pub fn j (",
        "pub fn memory_mut",
    ] {
        assert!(expansion.contains(signature), "{signature} in {expansion}");
    }
    assert_eq!(expansion.matches("compile_error").count(), 1);
    assert!(!expansion.contains("GraphBuilder ::"));
}

/// Large graphs are added by several functions, which may part a body.
#[test]
fn bodies_may_be_parted_by_functions() {
    let joins =
        |prefix: &str, count: usize| -> String { (0..count).map(|index| format!("join {prefix}{index};")).collect() };
    let body = format!("{} memset stop = more <- 0;", joins("inner", 150));
    let text = format!(
        "graph Large {{ device more: u32; while repeat = more {{ {body} }}; {} }}",
        joins("outer", 60)
    );
    let expansion = expand(text.parse().unwrap()).to_string();
    let (_, functions) = expansion.split_once("fn __nodes_0").expect("several functions");
    let calls: Vec<&str> = functions
        .split("builder . ")
        .flat_map(|rest| rest.split("Declare :: "))
        .filter_map(|rest| rest.split([' ', '(']).next())
        .filter(|call| ["begin_while", "begin_body", "end_body", "join", "memset"].contains(call))
        .collect();
    let mut expected = vec!["begin_while", "begin_body"];
    expected.extend(["join"; 150]);
    expected.extend(["memset", "end_body"]);
    expected.extend(["join"; 60]);
    assert_eq!(calls, expected);
}
