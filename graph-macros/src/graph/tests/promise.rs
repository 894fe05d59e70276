//! The promise of `unsafe` nodes in the documentation of what a graph expands to.

use super::expansions::unfolded;
use super::*;
use std::collections::BTreeMap;

const MEMORY: &str = "
    host input: [u32; 4];
    device index: [u32; 4];
    device x: [f32; 4];
    constant table: [f32; 4] = \"table\";
    rng noise = 7, draws 4;
    param n: u32 = 4;
    memcpy up = input -> index;";

/// The documentation of each method, struct and field. Names of methods that parents of a child call begin with
/// `child`.
fn docs(statements: &str) -> BTreeMap<String, String> {
    let text = format!("pub graph Look(shared: mut device [f32; 4]) {{ {MEMORY} {statements} }}");
    let file = unfolded(syn::parse2(expand(text.parse().unwrap())).expect("the expansion is Rust"));
    let (mut found, mut docs, mut owner) = (BTreeMap::new(), String::new(), "");
    for line in prettyplease::unparse(&file).lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs += doc;
            continue;
        }
        if line.starts_with("#[") {
            continue;
        }
        if line.starts_with("impl") {
            owner = if line.contains("LookNodes") { "child " } else { "" };
        }
        let docs = std::mem::take(&mut docs);
        let line = line.trim_start_matches("pub ");
        for item in ["fn ", "struct "] {
            if let Some(name) = line.strip_prefix(item) {
                let name = name.split(['(', '<', ' ']).next().unwrap();
                found.insert(format!("{owner}{item}{name}"), docs.clone());
            }
        }
    }
    found
}

/// The methods by which other code can change a graph safely.
const CHANGES: [&str; 12] = [
    "fn build",
    "fn input_mut",
    "fn index_mut",
    "fn x_mut",
    "fn table_mut",
    "fn shared_mut",
    "fn rebind_shared",
    "fn memory_mut",
    "fn noise",
    "fn set_n",
    "fn up",
    "fn look",
];

#[test]
fn whatever_can_change_what_an_unsafe_node_relies_on_says_so() {
    for node in [
        "kernel look = unsafe gather<<<1, 4>>>(&index, &mut x, n) after up;",
        "kernel look = unsafe (function)<<<1, 4>>>(&index, &mut x) after up;",
        "raw look = unsafe (&index, &mut x) |graph, after| { todo!() } after up;",
        "capture look = (&index, &mut x) |stream| { unsafe { call(stream) } } after up;",
        "device go: u32; if choose = go { kernel look = unsafe gather<<<1, 4>>>(&index, &mut x, n); } after up;",
    ] {
        let docs = docs(node);
        let section = &docs["struct Look"];
        assert!(section.contains("# Unsafe nodes"), "{section}");
        assert!(section.contains("`look`"), "{section}");
        for part in ["contents", "params", "disabled", "rebound", "child of any graph"] {
            assert!(section.contains(part), "{part}: {section}");
        }
        for method in CHANGES {
            let expected = "[unsafe nodes](#unsafe-nodes)";
            assert!(docs[method].contains(expected), "{method}: {docs:?}");
        }
        for elsewhere in ["struct LookMemory", "child fn up", "child fn look"] {
            assert!(docs[elsewhere].contains("(Look#unsafe-nodes)"), "{elsewhere}: {docs:?}");
        }
    }
}

#[test]
fn graphs_without_unsafe_nodes_have_no_such_promise() {
    let docs = docs("kernel look = gather<<<1, 4>>>(&index, &mut x, n) after up;");
    assert!(CHANGES.iter().all(|method| docs.contains_key(*method)), "{docs:?}");
    assert!(
        docs.values().all(|text| !text.to_lowercase().contains("unsafe")),
        "{docs:?}"
    );
}
