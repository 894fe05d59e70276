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
fn a_missing_semicolon_costs_one_message() {
    assert_heads(
        "host a: f32\n device b: f32;\n memcpy m = a -> b\n join j after m;",
        &[
            "expected `;` at the end of the statement [syntax]",
            "expected `;` at the end of the statement [syntax]",
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
fn only_kernels_read_random_numbers() {
    assert_heads(
        "rng r = 7, draws 4;\n device d: [f32; 4];\n kernel k = f<<<1, 1>>>(&mut r);\n memset m = r <- 0;\n kernel l = f<<<1, 1>>>(&r[0], &mut d);\n param p: u64 = 1;\n rng s = p, draws 1;",
        &[
            "node `k` gets the `rng` `r` as `&mut`, but it advances by itself [access]",
            "`r` is an `rng`, which only kernels can use, and only as a whole [wrong-memory]",
            "`r` is an `rng`, which only kernels can use, and only as a whole [wrong-memory]",
            "a `param` says how the `rng` `s` begins [syntax]",
        ],
    );
}

#[test]
fn one_namespace_holds_names_and_accessors() {
    assert_heads(
        "host x: f32;\n device x: f32;\n memcpy launch = x -> x_mut;\n device lr_: f32;\n param lr: f32 = 1.0;\n join set_lr;\n join y_mut;\n device y: f32;",
        &[
            "the name `x` is declared twice [duplicate-name]",
            "`launch` has the name of a method of every graph [duplicate-name]",
            "no resource is named `x_mut` [unknown-resource]",
            "`set_lr` has the name of an accessor of `lr` [duplicate-name]",
            "the accessor `y_mut` of `y` has the name of node `y_mut` [duplicate-name]",
        ],
    );
}

#[test]
fn unknown_names_suggest_the_nearest() {
    let found = messages(
        "host input: f32; device data: f32; memcpy upload = inptu -> data; join all after uplaod; join b after data;",
    );
    assert_eq!(
        found,
        [
            "no resource is named `inptu` [unknown-resource]\nhelp: did you mean `input`?",
            "no node is named `uplaod` [unknown-node]\nhelp: did you mean `upload`?",
            "`data` is no node, so `b` cannot run after it [unknown-node]\nhelp: name the node that uses it",
        ]
    );
}

#[test]
fn resources_and_params_are_not_mixed_up() {
    assert_heads(
        "device data: f32; param lr: f32 = 1.0; join j; kernel a = f<<<1, 1>>>(data, &lr, &j);",
        &[
            "resource `data` is passed by value [syntax]",
            "`lr` is a `param`, not a resource [unknown-resource]",
            "`j` is a node, not a resource [unknown-resource]",
        ],
    );
    assert_heads(
        "device data: [f32; 8]; param n: usize = 1; memset m = data[n] <- 0.0;",
        &["a `param` selects a part of `data` [syntax]"],
    );
}

#[test]
fn a_missing_edge_is_one_race() {
    let body = SAMPLE.replace(" after upload", "");
    assert_eq!(
        messages(&body),
        [
            "nodes `upload` and `forward` can run at the same time and both access `data` [race]\n\
         note: `upload` writes `data` (line 6), `forward` writes it (line 7)\n\
         help: write `after upload` before the `;` of `forward`",
        ]
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
fn literals_are_held_against_lengths() {
    assert_heads(
        "device x: [[f32; 4]; 8]; memset a = x[8] <- 0.0;",
        &["index 8 is out of bounds of `x`, which has 8 elements [out-of-bounds]"],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[2..9] <- 0.0;",
        &["range 2..9 is out of bounds of `x`, which has 8 elements [out-of-bounds]"],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[9..] <- 0.0;",
        &["range 9.. is out of bounds of `x`, which has 8 elements [out-of-bounds]"],
    );
    assert_heads(
        "device x: [f32; N]; memset a = x[5..3] <- 0.0;",
        &["range 5..3 is invalid for `x` [out-of-bounds]"],
    );
    assert_heads(
        "device x: [f32; 8]; memset a = x[8..] <- 0.0; memset b = x[..8] <- 0.0;",
        &[],
    );
}

#[test]
fn copies_keep_the_shape() {
    assert_eq!(
        messages("host a: [[f32; 4]; 8]; device b: [f32; 32]; memcpy m = a -> b;"),
        [
            "a memcpy from `[[f32; 4]; 8]` to `[f32; 32]` changes the shape [shape-mismatch]\n\
         note: `a` is `[[f32; 4]; 8]`, `b` is `[f32; 32]`\n\
         help: copy between resources of one shape, or between ranges of one length",
        ]
    );
    assert_heads(
        "host a: [f32; 4]; device b: [f32; 8]; memcpy m = a -> b;",
        &["a memcpy from `[f32; 4]` to `[f32; 8]` changes the shape [shape-mismatch]"],
    );
    assert_heads(
        "host a: [f32; 4]; device b: [[f32; 4]; 8]; memcpy m = a -> b[3]; memcpy n = a[1..3] -> b[3];",
        &[
            "a memcpy from `[f32; 2]` to `[f32; 4]` changes the shape [shape-mismatch]",
            "nodes `m` and `n` can run at the same time and both access `b` [race]",
        ],
    );
    assert_heads("host a: [f32; N]; device b: [f32; 8]; memcpy m = a -> b;", &[]); // rustc decides
}

#[test]
fn literal_dimensions_are_held_against_cudas_limits() {
    assert_heads(
        "device x: f32; kernel a = f<<<0, (32, 64)>>>(&mut x);",
        &[
            "`grid.x` is 0, but must be at least 1 [launch-config]",
            "a block of 2048 threads is over CUDA's limit of 1024 [launch-config]",
        ],
    );
    assert_heads(
        "device x: f32; kernel a = f<<<(1, 70_000), (1, 1, N)>>>(&mut x);",
        &["`grid.y` is 70000, over CUDA's limit of 65535 [launch-config]"],
    );
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
}

#[test]
fn four_different_mistakes_are_four_errors() {
    assert_heads(
        "host input: [f32; 8]; device data: [f32; 8]; device other: [f32; 4];
         memcpy upload = input -> data;
         kernel forward = f<<<1, 8>>>(&mut data);
         memcpy narrow = data -> other after forward;
         join a after b; join b after a;
         memset zero = other[4] <- 0.0 after narrow, forwrd;",
        &[
            "nodes `upload` and `forward` can run at the same time and both access `data` [race]",
            "a memcpy from `[f32; 8]` to `[f32; 4]` changes the shape [shape-mismatch]",
            "nodes run after each other in a cycle: `a` -> `b` -> `a` [cycle]",
            "index 4 is out of bounds of `other`, which has 4 elements [out-of-bounds]",
            "no node is named `forwrd` [unknown-node]",
        ],
    );
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
        .split("GraphBuilder :: ")
        .flat_map(|rest| rest.split("Declare :: "))
        .filter_map(|rest| rest.split_whitespace().next())
        .filter(|call| ["begin_while", "begin_body", "end_body", "join", "memset"].contains(call))
        .collect();
    let mut expected = vec!["begin_while", "begin_body"];
    expected.extend(["join"; 150]);
    expected.extend(["memset", "end_body"]);
    expected.extend(["join"; 60]);
    assert_eq!(calls, expected);
}
