//! The messages of every rule that the macro itself decides, and what a right graph expands to.

mod expansions;
mod promise;
mod syntax;

use super::ast::Input;
use super::{check, expand, groups, parse, resolve, values};
use crate::report::Report;

/// The messages for a graph's body, in source order.
fn messages(body: &str) -> Vec<String> {
    item_messages(&format!("graph Test<const N: usize> {{\n{body}\n}}"))
}

fn item_messages(text: &str) -> Vec<String> {
    let mut report = Report::default();
    if let Some(Input::Items(mut items)) = parse::input(text.parse().unwrap(), &mut report) {
        let groups = groups::taken(&mut items, &mut report);
        items
            .graphs
            .iter_mut()
            .for_each(|item| values::typed(item, &mut report));
        if let [item] = &items.graphs[..] {
            let graph = resolve::resolve(item, &mut report);
            check::check(&graph, &mut report);
            groups::shapes(&groups, &[graph], &mut report);
        }
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
    let text = format!("pub graph Sample<const N: usize> {{ {SAMPLE} }}");
    let file: syn::File = syn::parse2(expand(text.parse().unwrap())).expect("the expansion is Rust");
    let is_sample = |item: &syn::Item| matches!(item, syn::Item::Struct(item) if item.ident == "Sample");
    assert!(file.items.iter().any(is_sample));
}

/// Graphs without a mistake. (Those with one are in `ui-tests/cases/`.)
const RIGHT: [&str; 19] = [
    // The order of declarations carries no meaning.
    "graph Test { memcpy down = data -> out after up; memcpy up = input -> data;
         host out: f32; device data: f32; host input: f32; }",
    // Launches may contain shifts and comparisons.
    "graph Test { device x: f32; kernel a = f<<<(N >> 2, 1), { N >> 1 }, 4 << 2>>>(&mut x);
         kernel b = g<<<N >> 3, 1>>>(&mut x) after a; }",
    "graph Test { device x: [f32; N]; kernel a = f<<<1, N>>>(&mut x[..N / 2], N >> (1)); }",
    // Parts that are disjoint do not race.
    "graph Test { device x: [f32; 8]; memset a = x[0] <- 0.0; memset b = x[1] <- 0.0; memset c = x[2..4] <- 0.0;
         memset d = x[4..] <- 0.0; }",
    "graph Test { device x: [f32; 8]; memset a = x[..N] <- 0.0; memset b = x[N..] <- 0.0; }",
    "graph Test { device x: [f32; 8]; memset a = x[..N / 2] <- 0.0; memset b = x[N / 2..] <- 0.0; }",
    // A node may have the name of memory that has no accessor.
    "graph Test { host out: f32; memcpy up = q -> out after q; scratch q: f32; memset q = q <- 1.0; array k: [f32; 8];
         host texels: [f32; 8]; memcpy k = texels -> k; kernel see = sample<<<1, 1>>>(&k) after k; }",
    // So are the fields of different groups, and different fields.
    "group Layer { q: mut device [f32; 4], k: mut device [[f32; d]; 2] }
     graph Test(n: usize, d: usize, layers: [Layer; n], others: [Layer; 2]) {
         each i in 0..n { memset a = layers[i].q <- 1.0; memset b = layers[i].k[1] <- 1.0; memset k = layers[i].k[0] <- 1.0; }
         each i in 1..n { memset c = layers[i - 1].q <- 2.0 after a; }
         memset d1 = others[0].q <- 0.0; memset e = others[1].q[2..] <- 0.0; memset q = others[1].q[..2] <- 0.0; }",
    // Ranges may end at the length, or begin there.
    "graph Test { device x: [f32; 8]; memset a = x[8..] <- 0.0; memset b = x[..8] <- 0.0; }",
    // rustc compares shapes of const generics.
    "graph Test<const N: usize> { host a: [f32; N]; device b: [f32; 8]; memcpy m = a -> b; }",
    // Kernels read module variables, and the host sets them.
    "graph Test { constant table: [f32; 4] = \"table\"; }",
    // Values stand wherever `build` can evaluate them, and build arguments are lengths.
    "graph Test(n: usize, from: usize, value: f32) {
         device x: [[f32; 4]; n * 2]; device y: [[f32; 4]; n];
         param rate: f32 = value;
         memset clear = x[..from] <- value;
         memset rest = x[from..] <- value;
         memset row = y[n - 1] <- 0.0;
         kernel k = f<<<n as u32, 32, n>>>(&mut x[..n], n, rate * value) after clear, rest; }",
    "graph Test(n: usize) { host x: [[f32; n]; 4]; device y: [[f32; n]; 4]; memcpy m = x -> y; }",
    // Memory that is shared as `mut` is written.
    "graph Test(n: usize, w: device [f32; n], out: mut host [f32; n]) { memcpy m = w -> out; }",
    "#[allow(needless_mut)] graph Test(w: mut device f32) { device x: f32; memcpy m = w -> x; }",
    // Arguments of function values are accesses as of any kernel.
    "graph Test { device x: [f32; 4]; kernel a = unsafe (f())<<<1, 4>>>(&mut x);
         kernel b = unsafe (g)<<<1, 4>>>(&x) after a; }",
    // A build argument may choose what is launched.
    "graph Test(f: CudaFunction) { device x: [f32; 4]; param p: u32 = 1; kernel a = unsafe (f)<<<1, p>>>(&mut x); }",
    // The names that closures bind are theirs.
    "graph Test { host x: f32; host y: f32; host graph: f32; device d: [f32; 4]; param p: f32 = 1.0; memset s = d <- p;
         call a = |&x| { let (y, Some(p)) = f(x) else { return }; g(y, p) };
         call b = |&x| v.iter().for_each(|y| h(*y)) after a;
         call c = |&x, &y, &graph| match x { y => y.graph, p @ 1.0 => p } after b;
         raw e = unsafe (&d) |graph, after| i(graph, after) after s;
         call f = || { y::g(); self::p(); y(); p!(p); m.y(1).p } after c; }",
    // A closure that unpacks the parts of a resource may give one of them its name.
    "graph Test { device d: [[f32; 4]; 2];
         capture b = (&d[0], &mut d[1]) |stream| { let (c, d) = stream.memory(); f(c, d) }; }",
];

#[test]
fn right_graphs_have_no_mistakes() {
    for text in RIGHT {
        assert_eq!(item_messages(text), [""; 0], "{text}");
    }
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

/// A name that is bound twice is nobody's. (rustc refuses the pattern, too, so that this is no case of the tables.)
#[test]
fn a_name_of_two_borrows_is_nobodys() {
    let expected = "call node `a` uses `h`, which it borrows twice [syntax]";
    assert_heads("host h: [f32; 4]; call a = |&h, &h| f(h);", &[expected]);
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
    let silenced = format!("#[allow(unused-resource, redundant-edge)] graph Test {{ {body} }}");
    assert_eq!(item_messages(&silenced), [""; 0]);
    assert_heads("#[allow(race)] join a;", &["no warning is named `race` [syntax]"]);
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
