//! The view of editors, also with a name put in at the cursor: the text before the cursor must not change.

use super::statement::body;
use crate::graph::expand;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// All tokens, separated by spaces.
fn words(tokens: TokenStream) -> String {
    let word = |token| match token {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            format!("{open} {} {close} ", words(group.stream()))
        }
        token => format!("{token} "),
    };
    let text: String = tokens.into_iter().map(word).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that statements become this Rust.
fn assert_seen(statements: &str, expected: &str) {
    let wanted = words(tokens(expected));
    assert_eq!(words(body(tokens(statements), &[])), wanted, "{statements}");
}

#[test]
fn memory_and_params_are_variables_whatever_their_order() {
    assert_seen(
        "memcpy up = x -> y[1..]; host x: [[f32; 4]; N]; /// Here.\n #[allow(unused_resource)] scratch y: f32; param p: f32 = A * 2.0;",
        "let _: usize = 4; let _: usize = N; let mut x: ::graph_runtime::Place<[[f32; 4]; N], ::graph_runtime::OnHost>;
         let mut y: ::graph_runtime::Place<f32, ::graph_runtime::OnDevice>;
         let mut p: f32 = A * 2.0;
         let _ = &(x); let _ = &(y[1..]);",
    );
}

#[test]
fn iterations_of_nodes_are_values_where_their_variables_are() {
    assert_seen(
        "each i in 0..4 { join k after k(i - 1), start; } join start; join end after programmatic(k);",
        "for i in (0..4) { let _ = (); } let _ = (); let _ = ();
         { let k: ::graph_runtime::NodeId; let start: ::graph_runtime::NodeId; let end: ::graph_runtime::NodeId;
           for i in (0..4) { let _ = (k, (i - 1), start); } let _ = ((k)); }",
    );
}

#[test]
fn visibilities_come_before_constants() {
    assert_seen(
        "pub(in a::b) device x: f32; /// Here.\n pub memset m = x <- 1.0 pub(crate) join j;",
        "pub(in a::b) const _: () = (); pub const _: () = (); pub(crate) const _: () = ();
         let mut x: ::graph_runtime::Place<f32, ::graph_runtime::OnDevice>; let _ = &(x); let _ = &(1.0); let _ = ();",
    );
}

#[test]
fn kernels_are_calls() {
    assert_seen(
        "kernel k = unsafe a::b<<<(N >> 2, 1), B.x, 64>>>(&mut x[2], p * 2);",
        "let _ = ((N >> 2, 1), B.x, 64); unsafe { a::b::call(&mut x[2], p * 2) };",
    );
    assert_seen(
        "kernel k = unsafe (f)<<<1, 1>>>(&x);",
        "let _ = (1, 1); let _ = (f); let _ = (&x);",
    );
}

#[test]
fn nodes_are_variables_only_where_their_order_is_told() {
    assert_seen(
        "join a; kernel b = f<<<1, 1>>>() after programmatic(a), c; for i in 0..n { join c after a; }",
        "let _ = (); let _ = (1, 1); unsafe { f::call() }; for i in (0..n) { let _ = (); }
         { let a: ::graph_runtime::NodeId; let b: ::graph_runtime::NodeId; let c: ::graph_runtime::NodeId;
           let _ = ((a), c); let _ = (a); }",
    );
}

#[test]
fn edges_that_accesses_imply_are_a_variable_of_their_own() {
    assert_seen(
        "#![after(auto)] join a; join b after auto, a;",
        "let _ = (); let _ = ();
         { let auto: ::graph_runtime::NodeId; let a: ::graph_runtime::NodeId; let b: ::graph_runtime::NodeId;
           let _ = (auto, a); }",
    );
}

#[test]
fn stand_ins_get_what_the_builder_gives_them() {
    assert_seen(
        "capture c = (&x, &mut y) |s| { f(s) } else |a, b| { *b = *a; } after n;",
        "::graph_runtime::GraphBuilder::capture_or_else(
             loop {}, \"\", (&x, &mut y,), |s| {{ f(s) }}, |(a, b,)| {{ *b = *a; }});
         { let c: ::graph_runtime::NodeId; let _ = (n); }",
    );
}

#[test]
fn closures_borrow_what_they_name() {
    assert_seen(
        "host x: [u32; 4]; call c = |&x| { x.len() | 1 } after n; capture d = (&x) |s| f(s)?;",
        "let _: usize = 4; let mut x: ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnHost>;
         let _ = (&x); { let x: &[u32; 4]; {{ x.len() | 1 }} }
         unsafe { ::graph_runtime::GraphBuilder::capture(loop {}, \"\", (&x,), |s| { f(s)? }) };
         { let c: ::graph_runtime::NodeId; let d: ::graph_runtime::NodeId; let _ = (n); }",
    );
}

#[test]
fn closures_get_what_the_builder_gives_them() {
    assert_seen(
        "raw r = unsafe (&mut x) |graph, after| after.len() after n;",
        "unsafe { ::graph_runtime::GraphBuilder::raw(loop {}, \"\", (&mut x,), |graph, after| { after.len() }) };
         { let r: ::graph_runtime::NodeId; let _ = (n); }",
    );
    // A local that is moved into the graph.
    assert_seen(
        "call c = |&mut x| x[0]",
        "let _ = (&mut x); { let x: &mut _ = __lent(x); { x[0] } }",
    );
}

#[test]
fn bodies_are_blocks() {
    assert_seen(
        "if i = x { join a after b; } else { graph g = m::G(data: &mut y); } after c; switch s = z { { join d; } { } };",
        "let _ = &(x); { let _ = (); { let a: ::graph_runtime::NodeId; let _ = (b); } } { let _: m::G; let _ = (&mut y); }
         let _ = &(z); { let _ = (); } { }
         { let i: ::graph_runtime::NodeId; let s: ::graph_runtime::NodeId; let _ = (c); }",
    );
}

#[test]
fn what_is_half_typed_is_passed_on() {
    assert_seen(
        "join j after",
        "let _ = (); { let j: ::graph_runtime::NodeId; let _ = (); }",
    );
    assert_seen("kernel k =", "let _ = (); unsafe { ::call() };");
    assert_seen("kernel k = a::", "let _ = (); unsafe { a::::call() };");
    assert_seen("kernel k = f<<<1, N.", "let _ = (1, N.); unsafe { f::call() };");
    assert_seen("memcpy m = x ->", "let _ = &(x); let _ = &();");
    assert_seen("memset m = x <- N.;", "let _ = &(x); let _ = &(N.);");
    assert_seen("param p: f32 =", "let mut p: f32 =;");
    assert_seen("kernle k = f", "");
}

#[test]
fn a_statement_ends_where_the_next_begins() {
    assert_seen(
        "kernel k = f memcpy m = x -> y #[doc] device z: f32 join j after m record r = e",
        "let mut z: ::graph_runtime::Place<f32, ::graph_runtime::OnDevice>;
         let _ = (); unsafe { f::call() }; let _ = &(x); let _ = &(y); let _ = (); let _ = (e);
         { let k: ::graph_runtime::NodeId; let m: ::graph_runtime::NodeId; let j: ::graph_runtime::NodeId;
           let r: ::graph_runtime::NodeId; let _ = (m); }",
    );
    assert_seen(
        "memset m = x <- if device == graph::host { 1 } else { 2 };",
        "let _ = &(x); let _ = &(if device == graph::host { 1 } else { 2 });",
    );
}

/// The arguments of the one macro of an expansion: for editors and for rustc.
fn halves(text: &str) -> [String; 2] {
    let groups = |tokens: TokenStream| {
        tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
    };
    let constant = groups(expand(tokens(text))).nth(3).expect("the body of the constant");
    let tokens: Vec<TokenTree> = constant.into_iter().collect();
    let name = tokens
        .iter()
        .rposition(|token| token.to_string() == "__either")
        .expect("the name of the macro");
    let call = groups(tokens[name..].iter().cloned().collect())
        .next()
        .expect("its call");
    let halves: Vec<String> = groups(call).map(words).collect();
    halves.try_into().expect("two halves")
}

#[test]
fn graphs_are_functions_of_their_generics_and_arguments() {
    let [seen, compiled] = halves(
        "pub graph A<const N: usize, T: Fn() -> u8>(n: usize, w: mut device [T; N]) where T: Pod { join a after b; }
         graph B { join b after a; }",
    );
    for part in [
        "impl<const N: usize, T: Fn() -> u8> __Editor for A<N, T> where T: Pod",
        "let mut n: usize; let mut w: ::graph_runtime::Place<[T; N], ::graph_runtime::OnDevice>;",
        "impl __Editor for B",
    ] {
        let part = &words(tokens(part));
        assert!(seen.contains(part), "{part} in {seen}");
    }
    assert!(!compiled.contains("__Editor"), "{compiled}");
}

#[test]
fn editors_and_rustc_each_see_an_expression_once() {
    let [seen, compiled] = halves("graph G { device x: f32; kernel k = f<<<GRID, 1>>>(&mut x, VALUE.y); }");
    for expression in ["VALUE . y", "GRID"] {
        assert_eq!(seen.matches(expression).count(), 1, "{seen}");
        assert!(compiled.contains(expression), "{compiled}");
    }
    let [seen, compiled] = halves("graph G { device x: f32; kernel k = f<<<GRID, 1>>>(&mut y, VALUE.y); }");
    assert_eq!(seen.matches("VALUE . y").count(), 1, "{seen}");
    assert!(!compiled.contains("VALUE"), "{compiled}");
}

/// rust-analyzer puts a name in at the cursor, and looks it up at the same place in the other expansion.
#[test]
fn a_name_put_in_at_the_cursor_moves_nothing_before_it() {
    const NAME: &str = "rulezz";
    for statement in [
        "kernel k = |<<<1, N>>>(&mut data);",
        "kernel k = kern|",
        "kernel k = a::|;",
        "kernel k = f<<<A.|, N>>>(&mut data);",
        "kernel k = f<<<1, |>>>(&mut data);",
        "kernel k = f<<<1, A.|",
        "kernel k = f<<<1, N>>>(|);",
        "kernel k = f<<<1, N>>>(&mut |);",
        "kernel k = f<<<1, N>>>(&mut data, A.|);",
        "memcpy m = | -> data;",
        "memcpy m = data -> |",
        "memset m = data[|] <- 0.0;",
        "memset m = data <- |;",
        "param p: |;",
        "param p: f32 = A.|;",
        "device x: [|; 4];",
        "device x: [f32; A.|];",
        "constant x: [f32; A.|] = \"x\";",
        "join j after |;",
        "join j after data, |;",
        "call c = |&data| data.|;",
        "if i = | { join j; }",
        "while w = data { memset m = data <- A.|; }",
        "for i in 0..A.| { join j; }",
        "graph g = G(x: &|);",
        "record r = A.|;",
        "pub(in |) device y: f32;",
        "pub(crate) kernel k = kern|",
        "pub(|) join j;",
    ] {
        let (before, behind) = statement.rsplit_once('|').unwrap();
        for (head, foot) in [
            ("graph G { device data: f32;", "}"),
            ("graph G { device data: f32; kernel broken = ", "}"),
            ("graph F { join a; } graph G { device data: f32;", "join b after a; }"),
            ("&device =>", ""),
        ] {
            let expansion = |name| words(expand(tokens(&format!("{head} {before}{name}{behind} {foot}"))));
            let (as_it_is, with_name) = (expansion(""), expansion(NAME));
            let place = with_name.find(NAME).expect("the name is in the expansion");
            let same = &with_name[..place];
            assert!(as_it_is.starts_with(same), "{head} {statement}: {same}");
        }
    }
}

#[test]
fn constants_are_memory_without_their_names() {
    let [seen, _] = halves("graph G { constant table: [f32; N] = \"table\"; memset m = table <- A.x; }");
    let part = &words(tokens(
        "let mut table: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>;",
    ));
    assert!(seen.contains(part), "{part} in {seen}");
    assert!(seen.contains("A . x"), "{seen}");
}
