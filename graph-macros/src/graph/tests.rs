//! The messages of every rule that the macro itself decides, and what a right graph expands to.

mod arguments;
mod closures;
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

/// The expansions of some graphs read as the checked-in files do. `UPDATE_EXPANSIONS=1 cargo test -p
/// graph-macros` writes it anew.
#[test]
fn expansions_read_as_checked_in() {
    let with_param = "pub(crate) graph Scale {
        device data: [[f32; 4]; 8];
        param factor: f32 = 0.5;
        memset clear = data[HALF..] <- 0.0;
        kernel scale = unsafe kernels::scale<<<1, 4>>>(&mut data[..HALF], factor * 2.0, 4);
    }";
    let with_function = "graph Loaded(functions: Functions) {
        device data: [f32; 64];
        param factor: f32 = 0.5;
        kernel first = unsafe (functions.first)<<<1, 64>>>(&mut data, 64u32);
        kernel second = unsafe (functions.second)<<<1, 64>>>(&data[..32], factor) after first;
    }";
    let with_bodies = "graph Loop {
        device more: u32;
        device data: [f32; 4];
        param factor: f32 = 0.5;
        while repeat = more {
            kernel scale = scale<<<1, 4>>>(&mut data, factor);
            if choice = more {} else {
                memset stop = more <- 0;
            } after scale;
        };
    }";
    let with_scratch = "graph Layer<const N: usize> {
        device x: [f32; N];
        scratch hidden: [[f32; N]; 4];
        scratch query: [f32; N];
        kernel ask = copy<<<1, N>>>(&x, &mut query);
        kernel answer = copy<<<1, N>>>(&query, &mut hidden) after ask;
        memcpy back = hidden[0] -> x after answer;
    }";
    let with_loops = "graph Layers(n: usize) {
        device weights: [[f32; 4]; n];
        device data: [f32; 4];
        param factor: f32 = 0.5;
        for layer in 0..n {
            kernel scale = scale<<<1, 4>>>(&weights[layer], &mut data, factor);
            for i in 0..4 {
                if choice = flags[i] { memset one = data[i] <- 1.0; } after scale;
            }
        }
        memset last = data <- factor after choice;
        device flags: [u32; 4];
    }";
    let with_tables = "graph Rows(n: usize, d: usize, w: device [[f32; d]; n]) {
        host input: [[f32; d]; n];
        device cube: [[[f32; 16]; d]; n];
        scratch half: [[f32; d]; 4];
        param factor: f32 = 0.5;
        memcpy up = input[..4] -> half;
        memset clear = cube[n - 1][1..d] <- factor;
        kernel scale = scale<<<1, 4>>>(&w[2], &half[1][..d], 4) after up;
        call look = |&input| look(input);
    }";
    for (name, text) in [
        ("tables", with_tables.to_owned()),
        ("sample", format!("pub graph Sample<const N: usize> {{ {SAMPLE} }}")),
        ("param", with_param.to_owned()),
        ("function", with_function.to_owned()),
        ("bodies", with_bodies.to_owned()),
        ("scratch", with_scratch.to_owned()),
        ("loops", with_loops.to_owned()),
    ] {
        let file: syn::File = syn::parse2(expand(text.parse().unwrap())).expect("the expansion is Rust");
        assert_reads_as_checked_in(name, &unfolded(file));
    }
    let expression = "&device =>
        host output: [f32; n];
        param factor: f32 = 0.5;
        memset set = data <- factor * step;
        memcpy down = data -> output after set;";
    let expansion = expand(expression.parse().unwrap());
    syn::parse2::<syn::ExprBlock>(expansion.clone()).expect("the expansion is a block");
    let compiled = innermost(expansion); // after the view of editors
    assert_reads_as_checked_in(
        "expression",
        &syn::parse_quote!(fn main() { let graph = { #compiled }; }),
    );
}

/// The argument for rustc of the last macro in an expansion: the last group in its last group.
fn innermost(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let groups = |tokens: proc_macro2::TokenStream| {
        tokens.into_iter().filter_map(|token| match token {
            proc_macro2::TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
    };
    let block = groups(tokens).last().expect("a block");
    let value = groups(block).last().expect("a value");
    let call = groups(value).last().expect("a macro");
    groups(call).last().expect("two groups")
}

fn assert_reads_as_checked_in(name: &str, file: &syn::File) {
    let expansion = prettyplease::unparse(file);
    let path = format!("{}/tests/expansions/{name}.rs", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_EXPANSIONS").is_some() {
        std::fs::write(&path, &expansion).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expansion == expected,
        "the expansion differs from {path}; it is now\n{expansion}"
    );
}

/// The view of editors and the items for rustc, each with its `cfg` rather than as an argument of one macro.
fn unfolded(mut file: syn::File) -> syn::File {
    for item in &mut file.items {
        let syn::Item::Const(item) = item else { continue };
        let syn::Expr::Block(block) = &mut *item.expr else {
            continue;
        };
        let call = |stmt: &syn::Stmt| matches!(stmt, syn::Stmt::Macro(call) if call.mac.path.is_ident("__either"));
        let Some(position) = block.block.stmts.iter().position(call) else {
            continue;
        };
        let syn::Stmt::Macro(call) = block.block.stmts.remove(position) else {
            continue;
        };
        let halves = call.mac.tokens.clone().into_iter();
        let conditions: [syn::Attribute; 2] = [
            syn::parse_quote!(#[cfg(rust_analyzer)]),
            syn::parse_quote!(#[cfg(not(rust_analyzer))]),
        ];
        let items = halves.zip(conditions).flat_map(|(half, condition)| {
            let proc_macro2::TokenTree::Group(half) = half else {
                panic!("two groups");
            };
            let half: syn::File = syn::parse2(half.stream()).expect("items");
            let items = half.items.into_iter();
            items.map(move |item| syn::parse_quote!(#condition #item))
        });
        let items: Vec<syn::Stmt> = items.collect();
        block
            .block
            .stmts
            .retain(|stmt| !matches!(stmt, syn::Stmt::Item(syn::Item::Macro(_)))); // `__either` itself
        block.block.stmts.splice(1..1, items);
    }
    file
}
