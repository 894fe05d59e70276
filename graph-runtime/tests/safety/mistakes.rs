//! Graphs that are wrong: what `build` says of them.

use crate::common::*;

#[cuda_kernels("tests/kernels/partial.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn plain(out: &mut [u32]);
    #[requires(threads <= out.len())]
    safe fn one_bit(out: &mut [u32]);
}

fn builder() -> GraphBuilder {
    GraphBuilder::new(&Device::emulator(), "Test")
}

/// The text of `build`'s error without its first line, which names the graph.
fn mistakes(builder: GraphBuilder) -> String {
    let error = builder.build().expect_err("the graph has mistakes");
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let text = error.to_string();
    let (first, rest) = text.split_once('\n').expect("more than one line");
    assert!(first.starts_with("graph `Test` has "), "{first}");
    rest.to_owned()
}

#[test]
fn a_cycle() {
    let mut builder = builder();
    let (a, b) = (builder.join("a"), builder.join("b"));
    in_order(&mut builder, &[b, a, b]);
    assert!(mistakes(builder).starts_with("nodes run after each other in a cycle: `a` -> `b` -> `a` [cycle]\n"));
}

#[test]
fn a_race_and_parts_that_do_not_meet() {
    let mut builder = builder();
    let mut data = builder.device::<[f32; 8]>("data");
    builder.kernel("scale", Launch::new(1, 8), scale::call(&mut data, 2.0, 8));
    builder.memset("clear", &mut data.rows(4..), 0.0_f32);
    let expected = "nodes `scale` and `clear` can run at the same time and both access `data` [race]\n\
         note: `scale` writes `data`, `clear` writes `data[16..32]`\n\
         help: add `scale` to the `after` list of `clear`, or add `clear` to the `after` list of `scale`";
    assert_eq!(mistakes(builder), expected);

    let mut builder = GraphBuilder::new(&Device::emulator(), "Test");
    let data = builder.device::<[f32; 8]>("data");
    builder.kernel("scale", Launch::new(1, 4), scale::call(&mut data.rows(..4), 2.0, 4));
    builder.memset("clear", &mut data.rows(4..), 0.0_f32);
    builder.build().expect("no mistakes");
}

#[test]
fn a_race_over_a_variable_of_the_module() {
    let mut builder = builder();
    let mut a = builder.device::<[u32; 1]>("a");
    let mut b = builder.device::<[u32; 1]>("b");
    builder.kernel("first", Launch::new(1, 1), count::call(&mut a));
    builder.kernel("second", Launch::new(1, 1), count::call(&mut b));
    let text = mistakes(builder);
    assert!(text.contains("both access `counter` [race]"), "{text}");
    assert!(text.contains("module-scope variable"), "{text}");
}

#[test]
fn an_aliased_argument_and_a_copy_onto_itself() {
    let mut builder = builder();
    let mut data = builder.device::<[f32; 8]>("data");
    let same = data.whole();
    builder.kernel("axpy", Launch::new(1, 8), saxpy::call(2.0, &same, &mut data, 8));
    let text = mistakes(builder);
    let first = text.lines().next().unwrap_or_default();
    first.begins("node `axpy` gets `data` ");
    first.ends("[aliased-argument]");

    let mut builder = self::builder();
    let data = builder.device::<[f32; 8]>("data");
    builder.memcpy("shift", &data.rows_from::<6>(0), &mut data.rows_from::<6>(2));
    let text = mistakes(builder);
    text.begins("node `shift` copies `data` onto itself [aliased-argument]\n");
}

#[test]
fn places_out_of_bounds_and_copies_of_different_lengths() {
    let mut builder = builder();
    let data = builder.device::<[[f32; 4]; 8]>("data");
    builder.memset("row", &mut data.row(8), 0.0_f32);
    builder.kernel("range", Launch::new(1, 4), scale::call(&mut data.rows(6..9), 1.0, 4));
    let expected = "node `row` uses an index or range outside `data` [out-of-bounds]\n\
         note: `data` has 128 bytes\n\
         node `range` uses an index or range outside `data` [out-of-bounds]\n\
         note: `data` has 128 bytes";
    assert_eq!(mistakes(builder), expected);

    let mut builder = self::builder();
    let from = builder.host_slice::<f32>("from", 4);
    let mut to = builder.device::<[f32; 8]>("to");
    builder.memcpy("upload", &from, &mut to);
    let expected = "node `upload` copies 16 bytes of `from` to 32 bytes of `to` [shape-mismatch]\n\
         help: copy between places of one length";
    assert_eq!(mistakes(builder), expected);
}

#[test]
fn launch_dimensions() {
    let mut builder = builder();
    let mut data = builder.device::<[f32; 2048]>("data");
    let nodes = [
        builder.kernel("empty", Launch::new(0, 8), scale::call(&mut data, 2.0, 8)),
        builder.kernel("wide", Launch::new(1, 2048), scale::call(&mut data, 2.0, 8)),
        builder.kernel("deep", Launch::new((1, 70_000), 8), scale::call(&mut data, 2.0, 8)),
        builder.kernel("many", Launch::new(1, (64, 32)), scale::call(&mut data, 2.0, 8)),
        builder.kernel("limited", Launch::new(1, 512), bounded::call(&mut data)),
    ];
    in_order(&mut builder, &nodes);
    let expected = "node `empty`: `grid.x` is 0, but must be at least 1 [launch-config]\n\
         help: a launch is `<<<blocks, threads per block>>>`; to launch nothing, put the node into an `if`, or disable \
         it by `set_enabled(false)`\n\
         node `wide`: `block.x` is 2048, over CUDA's limit of 1024 [launch-config]\n\
         help: use more blocks of fewer threads\n\
         node `deep`: `grid.y` is 70000, over CUDA's limit of 65535 [launch-config]\n\
         help: spread the work over the other dimensions, or over a loop in the kernel\n\
         node `many`: a block of 2048 threads is over CUDA's limit of 1024 [launch-config]\n\
         help: use more blocks of fewer threads\n\
         node `limited`: a block of 512 threads is over the kernel's own limit (`.maxntid`) of 256 [launch-config]\n\
         note: the kernel is `bounded`";
    assert_eq!(mistakes(builder), expected);
}

#[test]
fn contracts() {
    let mut builder = builder();
    let data = builder.device::<[f32; 64]>("data");
    let mut out = builder.device::<[u32; 64]>("out");
    builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data.rows(..32), 2.0, 64));
    builder.kernel("index", Launch::new(3, 32), fill_index::call(&mut out));
    let expected = "node `scale`: kernel `scale` requires `n <= data.len()` [contract]\n\
         note: here n = 64, data.len() = 32\n\
         help: make `n` at most 32, or pass at least 64 elements as `data`\n\
         node `index`: kernel `fill_index` requires `threads <= out.len()` [contract]\n\
         note: here threads = 96, out.len() = 64\n\
         help: launch at most 64 threads, or pass at least 96 elements as `out`";
    assert_eq!(mistakes(builder), expected);
}

/// Launches like the one before are not checked again; these differ in one thing each.
#[test]
fn launches_that_look_like_the_one_before() {
    let mut builder = builder();
    let mut data = builder.device::<[f32; 64]>("data");
    let mut part = data.rows(..32);
    let launch = Launch::new(1, 64);
    let nodes = [
        builder.kernel("right", launch, scale::call(&mut data, 2.0, 64)),
        builder.kernel("same", launch, scale::call(&mut data, 2.0, 64)),
        builder.kernel("value", launch, scale::call(&mut data, 2.0, 65)),
        builder.kernel("after_wrong", launch, scale::call(&mut data, 2.0, 65)),
        builder.kernel("right_again", launch, scale::call(&mut data, 2.0, 64)),
        builder.kernel("buffer", launch, scale::call(&mut part, 2.0, 64)),
        builder.kernel("dimensions", Launch::new(1, 2000), scale::call(&mut data, 2.0, 64)),
    ];
    in_order(&mut builder, &nodes);
    let text = mistakes(builder);
    let wrong = text
        .lines()
        .filter_map(|line| line.strip_prefix("node `")?.split('`').next());
    let wrong: Vec<&str> = wrong.collect();
    assert_eq!(wrong, ["value", "after_wrong", "buffer", "dimensions"], "{text}");
}

#[test]
fn names_that_are_taken() {
    let mut builder = builder();
    builder.host::<f32>("data");
    builder.device::<f32>("data");
    builder.join("join");
    builder.join("join");
    builder.join("data");
    let expected = "two resources are named `data` [duplicate-name]\n\
         help: rename one of them\n\
         two nodes are named `join` [duplicate-name]\n\
         help: rename one of them\n\
         a resource and a node are both named `data` [duplicate-name]\n\
         help: rename one of them";
    assert_eq!(mistakes(builder), expected);
}

#[test]
fn memory_and_nodes_that_are_not_there() {
    let mut other = builder();
    let foreign = other.device::<[f32; 8]>("foreign");
    other.device::<[f32; 8]>("foreign_too");
    let mut builder = builder();
    let mut data = builder.device::<[f32; 8]>("data");
    builder.memcpy("copy", &foreign, &mut data);
    let expected = "node `copy` uses memory of another graph [unknown-resource]\n\
         help: declare it in this graph, with `GraphBuilder::host` or `GraphBuilder::device`";
    assert_eq!(mistakes(builder), expected);

    let mut builder = self::builder();
    let node = builder.join("node");
    builder.after(node, &[NodeId::new(7)]);
    builder.after(NodeId::new(usize::MAX), &[node]);
    let text = mistakes(builder);
    text.says("node `node` runs after node 7, which does not exist [unknown-node]\nnote: there are 1 nodes");
    text.says("which does not exist, runs after node 0 [unknown-node]");
}

#[test]
fn nodes_of_another_graph() -> graph_runtime::Result<()> {
    let mut other = builder();
    let theirs = [other.join("first"), other.join("second")];
    let mut builder = builder();
    let mut data = builder.device::<[f32; 8]>("data");
    let node = builder.memset("node", &mut data, 1.0_f32);
    builder.after(node, &[theirs[1]]);
    builder.after(theirs[0], &[node]);
    builder.after_programmatic(node, &[theirs[1]]);
    builder.each(0..1, |builder, _| {
        let inner = builder.join("inner");
        builder.after_iteration(inner, theirs[0], &[-1]);
    });
    let text = mistakes(builder);
    for head in [
        "node `node` runs after a node of another graph [unknown-node]",
        "a node of another graph runs after node `node` [unknown-node]",
        "node `inner[0]` runs after a node of another graph [unknown-node]",
    ] {
        assert!(text.contains(head), "{head}\n{text}");
    }
    assert_eq!(text.matches("node of another graph").count(), 4, "{text}");

    let attributes: [fn(&mut GraphBuilder, NodeId); 3] = [
        |builder, node| builder.priority(node, -1),
        |builder, node| builder.disable(node),
        |builder, node| builder.will_update(node),
    ];
    for attribute in attributes {
        let mut builder = GraphBuilder::new(&device(), "Test");
        builder.join("node");
        attribute(&mut builder, theirs[0]);
        refused(builder.build()).reads(
            "graph `Test`: the node belongs to another graph\n\
             note: it is node 0 of graph `Test`\n\
             help: pass what this graph's own builder has returned",
        );
    }

    let mut builder = GraphBuilder::new(&device(), "Test");
    let mut data = builder.device::<[f32; 8]>("data");
    let node = builder.memset("node", &mut data, 1.0_f32);
    let mut graph = builder.build()?;
    let handle = graph.node(theirs[0]);
    assert_eq!((handle.name(), handle.is_enabled()), ("", false));
    let is_foreign = |result: graph_runtime::Result<()>| matches!(result, Err(Error::ForeignNode { .. }));
    assert!(is_foreign(graph.node(theirs[0]).set_enabled(false)));
    let updated = graph.update("value", |update| update.memset(theirs[0], &data, 2.0_f32));
    assert!(is_foreign(updated));
    graph.update("value", |update| update.memset(node, &data, 2.0_f32))?;
    graph.node(NodeId::new(node.index())).set_enabled(false)?;
    assert!(!graph.node(node).is_enabled(), "an index means the node of any graph");
    Ok(())
}

/// Nodes of a graph that is built are named in the messages of others, also those of its children and bodies.
#[test]
fn nodes_of_another_graph_are_named() -> graph_runtime::Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Other");
    let first = builder.join("first");
    let mut inner = None;
    builder.child("step", |child| inner = Some(child.join("inner")));
    let inner = inner.expect("the closure was called");
    let mut looped = Vec::new();
    builder.repeat(0..2, |builder, _| looped.push(builder.join("looped")));
    let other = builder.build()?;

    let mistake = |from: NodeId| {
        let mut builder = self::builder();
        let node = builder.join("node");
        builder.after(node, &[from]);
        mistakes(builder)
    };
    mistake(first).reads(
        "node `node` runs after a node of another graph [unknown-node]\n\
         note: that is `first` of graph `Other`\n\
         note: every graph has its own nodes: the ids that its builder returns\n\
         help: order nodes of different graphs by events, or by memory that they share",
    );
    mistake(inner).says("note: that is `step.inner` of graph `Other`\n");
    mistake(looped[1]).says("note: that is `looped[1]` of graph `Other`\n");

    let mut builder = self::builder();
    builder.join("node");
    builder.after(first, &[inner]);
    mistakes(builder).says("note: that is `step.inner` of graph `Other` and `first` of graph `Other`\n");

    let mut graph = self::builder().build()?;
    let refused = refused(graph.node(first).set_enabled(false));
    refused.says("belongs to another graph\nnote: it is `first` of graph `Other`\n");
    let moved = other; // wherever the graph is
    mistake(first).says("`first` of graph `Other`");
    drop(moved);
    assert!(
        !mistake(first).contains("Other"),
        "the graph is gone, and its names with it"
    );
    Ok(())
}

#[test]
fn all_mistakes_at_once() {
    let mut builder = builder();
    let mut data = builder.device::<[f32; 8]>("data");
    let mut out = builder.device::<[u32; 8]>("out");
    let (a, b) = (builder.join("a"), builder.join("b"));
    in_order(&mut builder, &[b, a, b]);
    builder.memset("one", &mut data, 1.0_f32);
    builder.memset("two", &mut data, 2.0_f32);
    builder.kernel("index", Launch::new(1, 9), fill_index::call(&mut out));
    builder.memset("row", &mut out.row(8), 0_u32);
    let error = builder.build().unwrap_err();
    let Error::Invalid { diagnostics, .. } = &error else {
        panic!("{error}");
    };
    let mut codes: Vec<&str> = diagnostics.iter().map(|mistake| mistake.code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["contract", "cycle", "out-of-bounds", "race"], "{error}");
    assert!(error.to_string().starts_with("graph `Test` has 4 mistakes\n"));
}

#[test]
fn kernels_that_the_device_does_not_have() {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Test");
    let mut out = builder.device::<[u32; 1]>("out");
    let call = falsely::<Missing, 1>([CallArgument::write(&mut out)]);
    builder.kernel("node", Launch::new(1, 1), call);
    has(refused(builder.build()), &["graph `Test`", "`missing`"]);

    let mut builder = GraphBuilder::new(&device, "Test");
    builder.kernel("node", Launch::new(1, 1), falsely::<Broken, 0>([]));
    let error = builder.build().unwrap_err();
    let text = error.to_string();
    if device.is_emulator() {
        assert!(matches!(error, Error::Kernel { kernel: "broken", .. }), "{error}");
        let expected = "graph `Test`: kernel `broken` cannot run on the emulator: unknown instruction: \
                        `no_such_instruction` in `broken`, line ";
        assert!(text.starts_with(expected) && text.contains("\nhelp: "), "{text}");
        return;
    }
    assert!(matches!(error, Error::Module { path: "broken.ptx", .. }), "{error}");
    assert!(text.starts_with("graph `Test`: cannot load `broken.ptx`: "), "{text}");
    assert!(text.contains("no_such_instruction"), "{text}");
}

/// A kernel with an instruction that the emulator does not have is refused where it is used; its module is not.
#[test]
fn a_kernel_of_a_module_that_the_emulator_does_not_have() {
    let device = device();
    let build = |call: fn(&mut Place<[u32; 32], OnDevice>) -> KernelCall<1>| {
        let mut builder = GraphBuilder::new(&device, "Test");
        let mut out = builder.device::<[u32; 32]>("out");
        let call = call(&mut out);
        builder.kernel("node", Launch::new(1, 32), call);
        let graph = launched(builder.build())?;
        graph.synchronize()?;
        Ok::<_, Error>(*graph.device(&out)?.read()?)
    };
    let expected: [u32; 32] = std::array::from_fn(|lane| lane as u32);
    assert_eq!(build(plain::call).unwrap(), expected);
    let outcome = build(one_bit::call);
    if !device.is_emulator() {
        return assert_eq!(outcome.unwrap(), expected);
    }
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::Kernel { kernel: "one_bit", .. }), "{error}");
    let text = "graph `Test`: kernel `one_bit` cannot run on the emulator: the type is unknown or missing: \
         `mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc` in `one_bit`, line 28 of the PTX\n\
         help: run this graph on a GPU";
    assert_eq!(error.to_string(), text);
}
