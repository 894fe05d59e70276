//! Build arguments.

use super::item_messages;

fn assert_messages(text: &str, expected: &[&str]) {
    let heads: Vec<String> = item_messages(text)
        .iter()
        .map(|message| message.lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(heads, expected, "{text}");
}

#[test]
fn values_stand_wherever_build_can_evaluate_them() {
    assert_messages(
        "graph Test(n: usize, from: usize, value: f32) {
            device x: [[f32; 4]; n * 2]; device y: [[f32; 4]; n];
            param rate: f32 = value;
            memset clear = x[..from] <- value;
            memset rest = x[from..] <- value;
            memset row = y[n - 1] <- 0.0;
            kernel k = f<<<n as u32, 32, n>>>(&mut x[..n], n, rate * value) after clear, rest;
        }",
        &[],
    );
}

#[test]
fn any_length_is_a_build_argument() {
    assert_messages(
        "graph Test(n: usize) { host x: [[f32; n]; 4]; device y: [[f32; n]; 4]; memcpy m = x -> y; }",
        &[],
    );
    assert_messages(
        "graph Test() { param n: usize = 4; device x: [f32; n]; memset m = x <- n as f32; }",
        &["a `param` gives a length of `x` [syntax]"],
    );
}

#[test]
fn arguments_share_the_namespace() {
    assert_messages(
        "graph Test(n: usize, n: u32, launch: f32, x_mut: f32) { device x: f32; param p: f32 = 0.0; memset m = x <- p; join n; }",
        &[
            "the name `n` is declared twice [duplicate-name]",
            "`launch` has the name of a method of every graph [duplicate-name]",
            "the accessor `x_mut` of `x` has the name of build argument `x_mut` [duplicate-name]",
            "node `n` has the name of build argument `n` [duplicate-name]",
        ],
    );
}

#[test]
fn only_mutable_memory_is_written() {
    assert_messages(
        "graph Test(n: usize, w: device [f32; n], out: mut host [f32; n]) { memcpy m = w -> out; }",
        &[],
    );
    assert_eq!(
        item_messages("graph Test(\nw: device f32) { memset a = w <- 0.0; kernel k = f<<<1, 1>>>(&mut w) after a; }"),
        [
            "node `a` writes `w`, which is shared without `mut` [access]\nnote: `w` is declared on line 2\nhelp: declare it `w: mut device ..`"
        ]
    );
    let needless = "graph Test(w: mut device f32) { device x: f32; memcpy m = w -> x; }";
    assert_messages(
        needless,
        &["`w` is shared as `mut`, but no node writes it [needless-mut]"],
    );
    assert_messages(&format!("#[allow(needless_mut)] {needless}"), &[]);
    assert_messages(
        "graph Test(w: host f32) { join a; join w_mut after a; join rebind_w after w_mut; }",
        &["`rebind_w` has the name of an accessor of `w` [duplicate-name]"],
    );
}
