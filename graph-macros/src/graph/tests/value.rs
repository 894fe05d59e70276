//! Nodes that launch function values.

use super::{assert_heads, item_messages};

#[test]
fn their_arguments_are_accesses_as_of_any_kernel() {
    assert_heads(
        "device x: [f32; 4]; kernel a = unsafe (f())<<<1, 4>>>(&mut x); kernel b = unsafe (g)<<<1, 4>>>(&x) after a;",
        &[],
    );
    assert_heads(
        "device x: [f32; 4]; kernel a = unsafe (f)<<<1, 4>>>(&mut x); kernel b = unsafe (f)<<<1, 4>>>(&mut x);",
        &["nodes `a` and `b` can run at the same time and both access `x` [race]"],
    );
    assert_heads(
        "host x: [f32; 4]; kernel a = unsafe (f)<<<1, 2048>>>(&x);",
        &[
            "`block.x` is 2048, over CUDA's limit of 1024 [launch-config]",
            "`x` is host memory, but kernel node `a` needs device memory [wrong-memory]",
        ],
    );
}

#[test]
fn a_build_argument_chooses_and_a_param_does_not() {
    let graph = |heading: &str, function: &str| {
        item_messages(&format!(
            "graph Test({heading}) {{ device x: [f32; 4]; param p: u32 = 1; kernel a = unsafe ({function})<<<1, p>>>(&mut x); }}"
        ))
    };
    assert!(graph("f: CudaFunction", "f").is_empty());
    let expected = ["a `param` chooses what a node launches [syntax]\n\
          note: the kernel of a node is fixed when the graph is built; params change between launches\n\
          help: use a build argument"];
    assert_eq!(graph("", "functions[p as usize]"), expected);
}
