use super::*;
use crate::driver::read_node::{ReadFill, ReadLaunch};
use graph_plan::{LaunchConfig, Role};
use graph_ptx::ast::Type;
use std::time::{Duration, Instant};

fn node(name: &str, kind: NodeKind, touches: Vec<Touch>, after: &[usize]) -> LiftedNode {
    LiftedNode {
        name: name.to_owned(),
        kind,
        owner: None,
        body: 0,
        work: ReadNode::Empty,
        launch: None,
        arguments: Vec::new(),
        touches,
        unknown: None,
        params: Vec::new(),
        variables: Vec::new(),
        waits: false,
        after: after.iter().map(|&from| (from, EdgeData::PLAIN)).collect(),
    }
}

fn fill(name: &str, block: usize, bytes: Range<u64>, after: &[usize]) -> LiftedNode {
    let touch = Touch {
        block,
        mode: Mode::Write,
        bytes: Some(bytes),
    };
    let mut node = node(name, NodeKind::Memset, vec![touch], after);
    node.work = ReadNode::Fill(ReadFill::row(7, 4));
    node
}

fn kernel(name: &str, block: usize, mode: Mode, after: &[usize]) -> LiftedNode {
    node(
        name,
        NodeKind::Kernel,
        vec![Touch {
            block,
            mode,
            bytes: None,
        }],
        after,
    )
}

fn blocks(count: u64) -> Vec<Block> {
    (0..count)
        .map(|index| Block::new(format!("x{index}"), 4096 * (index + 1)..4096 * (index + 1) + 64))
        .collect()
}

fn lifted(nodes: Vec<LiftedNode>, memory: u64) -> Lifted {
    Lifted::new("Test".to_owned(), nodes, blocks(memory))
}

fn texts(lifted: &Lifted) -> Vec<String> {
    lifted.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn exact_bytes_are_apart_or_race() {
    let nodes = vec![
        fill("a", 0, 0..32, &[]),
        fill("b", 0, 32..64, &[]),
        fill("c", 0, 16..40, &[1]),
    ];
    let lifted = lifted(nodes, 1);
    assert_eq!(
        texts(&lifted),
        ["racing: `a` and `c` both touch `x0[16..32]`, and nothing orders them"]
    );
    assert_eq!(lifted.pairs_apart(), 1);
}

#[test]
fn the_parts_that_kernels_touch_are_not_known() {
    let nodes = vec![
        kernel("a", 0, Mode::ReadWrite, &[]),
        kernel("b", 0, Mode::Read, &[]),
        kernel("c", 1, Mode::ReadWrite, &[]),
        kernel("d", 1, Mode::Atomic, &[2]),
        kernel("e", 1, Mode::Atomic, &[2]),
    ];
    let lifted = lifted(nodes, 2);
    let expected = "cannot be told: `a` and `b` may meet in `x0`, and nothing orders them: it is not known which bytes \
                    `a` and `b` touch";
    assert_eq!(texts(&lifted), [expected]);
    assert_eq!(lifted.pairs_apart(), 7); // a and b with each of c, d and e; d with e
}

#[test]
fn nothing_is_proved_of_unknown_nodes() {
    let mut unknown = kernel("a", 0, Mode::Read, &[]);
    unknown.unknown = Some("its PTX is not known");
    let lifted = lifted(vec![unknown, fill("b", 1, 0..64, &[])], 2);
    assert_eq!((lifted.findings().len(), lifted.pairs_apart()), (0, 0));
    assert_eq!(
        lifted.unknown_nodes().collect::<Vec<_>>(),
        [("a", "its PTX is not known")]
    );
    assert_eq!(lifted.plan().nodes[0].kind, NodeKind::Raw);
}

#[test]
fn copies_of_unknown_memory_keep_their_order() {
    let mut copy = node("copy", NodeKind::Memcpy, Vec::new(), &[0]);
    copy.unknown = Some("it accesses memory that the driver does not know");
    let lifted = lifted(vec![fill("fill", 0, 0..64, &[]), copy], 1);
    assert_eq!(lifted.plan().nodes[1].kind, NodeKind::Raw);
    assert!(lifted.plan().unneeded_edges().is_empty());
}

#[test]
fn bodies_of_one_node_never_meet() {
    let conditional = node("if", NodeKind::If, Vec::new(), &[]);
    let inside = |name: &str, body: usize| {
        let mut inner = fill(name, 0, 0..8, &[]);
        (inner.owner, inner.body) = (Some(0), body);
        inner
    };
    let nodes = vec![conditional, inside("a", 0), inside("b", 1), inside("c", 1)];
    let lifted = lifted(nodes, 1);
    assert_eq!(
        texts(&lifted),
        ["racing: `b` and `c` both touch `x0[0..8]`, and nothing orders them"]
    );
    let roles: Vec<Role> = lifted.plan().bodies.iter().map(|body| body.role).collect();
    assert_eq!(roles, [Role::Graph, Role::Then, Role::Else]);
}

#[test]
fn programmatic_edges_order_kernels_that_wait_alone() {
    let chain = |waits: bool| {
        let mut later = kernel("later", 0, Mode::Read, &[]);
        later.after = vec![(0, EdgeData::PROGRAMMATIC)];
        later.waits = waits;
        lifted(
            vec![kernel("first", 0, Mode::Write, &[]), later, fill("x", 1, 0..4, &[1])],
            2,
        )
    };
    assert_eq!(texts(&chain(true)), [""; 0]);
    assert_eq!(chain(true).needed(), [vec![], vec![0], vec![]]);
    assert_eq!(
        texts(&chain(false)),
        [
            "cannot be told: `first` and `later` may meet in `x0`, and nothing orders them: it is not known which bytes \
          `first` and `later` touch"
        ]
    );
    assert_eq!(chain(false).needed(), [vec![], vec![0], vec![1]]);
}

/// PyTorch's graphs have kernels that start early, and no PTX of them: whether they wait is not known.
#[test]
fn nodes_are_not_racing_if_a_kernel_between_them_may_wait() {
    let early = |name: &str, before: usize| {
        let mut kernel = node(name, NodeKind::Kernel, Vec::new(), &[]);
        kernel.unknown = Some("its PTX is not known");
        kernel.after = vec![(before, EdgeData::PROGRAMMATIC)];
        kernel
    };
    let nodes = vec![
        fill("first", 0, 0..32, &[]),
        kernel("k", 1, Mode::ReadWrite, &[0]),
        early("early", 1),
        fill("last", 0, 16..40, &[2]),
        fill("beside", 0, 36..40, &[0]),
    ];
    let lifted = lifted(nodes, 2);
    let racing = "racing: `last` and `beside` both touch `x0[36..40]`, and nothing orders them";
    assert_eq!(texts(&lifted), [racing]);
    // `first` with `early` and `last`, and `k` with `early`.
    assert_eq!(lifted.pairs_in_doubt(), 3);
    assert_eq!(lifted.pairs_apart(), 2);
    let mut in_doubt = lifted.nodes_in_doubt();
    assert_eq!((in_doubt.next(), in_doubt.next()), (Some("early"), None));
}

#[test]
fn child_graphs_touch_what_their_nodes_touch() {
    let child = node("child", NodeKind::Graph, Vec::new(), &[]);
    let mut inner = fill("inner", 0, 0..8, &[]);
    inner.owner = Some(0);
    let lifted = lifted(vec![child, inner, fill("outer", 0, 4..12, &[])], 1);
    assert_eq!(
        texts(&lifted),
        ["racing: `inner` and `outer` both touch `x0[4..8]`, and nothing orders them"]
    );
    assert_eq!(lifted.plan().bodies.len(), 2);
    assert!(
        lifted
            .to_rust()
            .contains("        // child: a child graph of 1 nodes\n        memset"),
        "{}",
        lifted.to_rust()
    );
}

/// 1,000 nodes in 40 chains; one edge is missing.
#[test]
fn a_planted_race_is_found_quickly() {
    let graph = |is_planted: bool| -> Vec<LiftedNode> {
        (0..1000_usize)
            .map(|index| {
                let (chain, step) = (index as u64 / 25, index % 25);
                let is_missing = is_planted && index == 512;
                let after = if step == 0 || is_missing {
                    vec![]
                } else {
                    vec![index - 1]
                };
                fill(&format!("n{index}"), chain as usize, 0..64, &after)
            })
            .collect()
    };
    let start = Instant::now();
    let planted = lifted(graph(true), 40);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    println!("1,000 nodes: {:?}", start.elapsed());
    // The two parts of the chain meet, each node of the first with each of the second.
    assert_eq!(planted.findings().len(), 12 * 13);
    assert!(
        planted
            .findings()
            .iter()
            .all(|finding| finding.verdict == Verdict::Racing(0..64))
    );
    assert!(
        planted
            .findings()
            .iter()
            .any(|finding| finding.nodes == ["n511", "n512"].map(str::to_owned))
    );
    let mended = lifted(graph(false), 40);
    assert_eq!(mended.findings(), []);
    assert_eq!(mended.pairs_apart(), 1000 * 999 / 2 - 40 * 25 * 24 / 2);
}

/// A launch of `scale(x0 + offset, 3, 2.5)`, which has these parameters.
fn launch(name: &str, offset: u64, params: Vec<Param>, after: &[usize]) -> LiftedNode {
    let mut node = kernel(name, 0, Mode::ReadWrite, after);
    node.launch = Some(PlanLaunch {
        kernel: "scale".into(),
        config: LaunchConfig {
            grid: [4, 1, 1],
            block: [16, 16, 1],
            shared: 0,
        },
    });
    node.work = ReadNode::Kernel(Box::new(ReadLaunch::named("_Z5scalePfif")));
    node.arguments = vec![
        (4096 + offset).to_le_bytes().to_vec(),
        3_u32.to_le_bytes().to_vec(),
        2.5_f32.to_le_bytes().to_vec(),
    ];
    node.params = params;
    node
}

#[test]
fn graphs_are_written_as_statements() {
    let param = |mode, ty, element| Param {
        mode,
        ty,
        is_struct: false,
        element,
    };
    let params = vec![
        param(Some(Mode::ReadWrite), Type::U64, Some(Type::F32)),
        param(None, Type::U32, None),
        param(None, Type::F32, None),
    ];
    let whole = launch("scale_1", 0, params.clone(), &[0]);
    let mut part = launch("scale_3", 8, params, &[2]);
    part.after.push((1, EdgeData::PROGRAMMATIC));
    let mut copy = node("copy.2", NodeKind::Memcpy, Vec::new(), &[1]);
    copy.touches = vec![
        Touch {
            block: 0,
            mode: Mode::Read,
            bytes: Some(0..64),
        },
        Touch {
            block: 1,
            mode: Mode::Write,
            bytes: Some(0..64),
        },
    ];
    let mut unknown = launch("scale_4", 0, vec![Param::UNKNOWN; 3], &[3]);
    unknown.unknown = Some("its PTX is not known");
    let mut host = node("host_5", NodeKind::Call, Vec::new(), &[]);
    host.unknown = Some("a host function may access anything");
    let last = fill("fill_6", 1, 0..32, &[4, 5]);
    let lifted = lifted(
        vec![fill("fill_0", 0, 0..64, &[]), whole, copy, part, unknown, host, last],
        2,
    );
    let expected = "\
#[cuda_kernels(\"kernels.ptx\")] // the PTX that was given
unsafe extern \"C\" {
    #[link_name = \"_Z5scalePfif\"]
    fn scale(p0: &mut [f32], p1: u32, p2: f32);
}

cuda_graph! {
    graph Test {
        device x0: [f32; 16];
        device x1: [u32; 16];
        memset fill_0 = x0 <- 1e-44;
        // host_5: a host function may access anything
        kernel scale_1 = unsafe scale<<<4, (16, 16)>>>(&mut x0, 3_u32, 2.5_f32) after fill_0;
        // copy_2: a copy of x0 to x1, which have other types
        join copy_2 after scale_1;
        kernel scale_3 = unsafe scale<<<4, (16, 16)>>>(&mut x0[2..16], 3_u32, 2.5_f32) after copy_2, scale_1;
        // scale_3: edges to it were programmatic
        // scale_4: scale<<<4, (16, 16)>>>: its PTX is not known
        join scale_4 after scale_3;
        memset fill_6 = x1[0..8] <- 7 after scale_4;
    }
}
";
    assert_eq!(lifted.to_rust(), expected);
    assert_eq!(
        lifted.plan().nodes[1].launch.as_ref().map(|launch| &*launch.kernel),
        Some("scale")
    );
}

/// The lines of the text of nodes that touch memory of these names and addresses.
fn lines_of(nodes: Vec<LiftedNode>, memory: &[(&str, Range<u64>)]) -> Vec<String> {
    let blocks = memory
        .iter()
        .map(|(name, addresses)| Block::new((*name).to_owned(), addresses.clone()));
    let text = Lifted::new("in".to_owned(), nodes, blocks.collect()).to_rust();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[track_caller]
fn has_lines(lines: &[String], expected: &[&str]) {
    for expected in expected {
        assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
    }
}

/// A launch of a kernel of this name that gets nothing.
fn launch_of(name: &str, symbol: &str) -> LiftedNode {
    let mut node = launch(name, 0, Vec::new(), &[]);
    if let Some(launch) = &mut node.launch {
        launch.kernel = symbol
            .trim_start_matches("_Z5")
            .get(..5)
            .unwrap_or(symbol)
            .to_owned()
            .into();
    }
    node.work = ReadNode::Kernel(Box::new(ReadLaunch::named(symbol)));
    (node.arguments, node.touches) = (Vec::new(), Vec::new());
    node
}

#[test]
fn names_of_graphs_are_names_of_rust() {
    let nodes = vec![
        launch_of("one", "_Z5scalePf"),
        launch_of("two", "_Z5scalePd"),
        launch_of("three", "move"),
        launch_of("four", "in_2"),
        launch_of("five", "f32"),
        fill("x_mut", 0, 0..64, &[]),
        fill("launch", 1, 0..64, &[]),
        fill("__a", 2, 0..64, &[]),
        fill("\u{b2}", 3, 0..64, &[]),
    ];
    let names = ["x", "self", "_", "x\n}\u{202e}"].into_iter().zip(1..);
    let memory = names.map(|(name, number)| (name, 4096 * number..4096 * number + 64));
    let lines = lines_of(nodes, &memory.collect::<Vec<_>>());
    let expected = [
        "#[link_name = \"_Z5scalePf\"]",
        "fn scale();",
        "#[link_name = \"_Z5scalePd\"]",
        "fn scale_2();",
        "fn move_2();",
        "fn in_2_2();",
        "graph in_2 {",
        "fn f32_2();",
        "kernel two = unsafe scale_2<<<4, (16, 16)>>>();",
        "device self_2: [u32; 16];",
        "device n__: [u32; 16];",
        "device x___: [u32; 16];",
        "memset x_mut_2 = x <- 7;",
        "memset launch_2 = self_2 <- 7;",
        "memset n___a = n__ <- 7;",
        "memset n___2 = x___ <- 7;",
    ];
    has_lines(&lines, &expected);
}

#[test]
fn comments_end_where_they_end() {
    let mut host = node("host", NodeKind::Call, Vec::new(), &[]);
    host.unknown = Some("\u{2028}a\n}\u{202e}");
    let lines = lines_of(vec![host], &[("a\n}", 0..0)]);
    has_lines(
        &lines,
        &[
            "// a?}: memory of a module, which kernels use by name",
            "// host: ?a?}?",
        ],
    );
}

#[test]
fn what_cannot_be_written_is_no_statement() {
    let touch = |block, mode, bytes| Touch {
        block,
        mode,
        bytes: Some(bytes),
    };
    let copy = |name: &str, touches: Vec<Touch>| node(name, NodeKind::Memcpy, touches, &[]);
    let mut long = fill("long", 0, 32..64, &[]);
    long.touches.push(touch(1, Mode::Write, 0..32));
    let nodes = vec![
        copy(
            "from",
            vec![
                touch(0, Mode::Read, 0..64),
                touch(1, Mode::Read, 0..64),
                touch(3, Mode::Write, 0..128),
            ],
        ),
        copy("same", vec![touch(0, Mode::Read, 0..32), touch(0, Mode::Write, 16..48)]),
        long,
        fill("again", 2, 0..64, &[]),
        fill("none", 0, 32..32, &[]),
    ];
    // The third is a part of the fourth.
    let memory = [
        ("a", 4096..4160),
        ("b", 4160..4224),
        ("c", 8192..8256),
        ("d", 8192..8320),
    ];
    let expected = [
        "// from: it reaches from one memory into another one",
        "// same: a copy of a[0..8] to a[4..12], which overlap",
        "// long: it reaches from one memory into another one",
        "// again: `c` and `d` have the same bytes",
        "// none: no bytes of `a`",
    ];
    has_lines(&lines_of(nodes, &memory), &expected);
}

#[test]
fn copies_alone_access_memory_of_the_host() {
    let mut memory = blocks(2);
    memory[1].is_host = true;
    let touch = |block, mode| Touch {
        block,
        mode,
        bytes: Some(0..64),
    };
    let mut copy = node("copy_1", NodeKind::Memcpy, Vec::new(), &[0]);
    copy.touches = vec![touch(0, Mode::Read), touch(1, Mode::Write)];
    let mut mapped = launch_of("scale_2", "_Z5scalePf");
    mapped.touches = vec![touch(1, Mode::ReadWrite)];
    let nodes = vec![fill("fill_0", 0, 0..64, &[]), copy, mapped];
    let text = Lifted::new("Test".to_owned(), nodes, memory).to_rust();
    for line in [
        "device x0: [u32; 16];",
        "host x1: [u32; 16];",
        "memcpy copy_1 = x0 -> x1 after fill_0;",
        "it accesses `x1`, which is memory of the host",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn kernels_get_memory_once_and_are_launched_as_they_were() {
    let pointer = Param {
        mode: Some(Mode::ReadWrite),
        ty: Type::U64,
        is_struct: false,
        element: Some(Type::F32),
    };
    let number = |ty| Param {
        mode: None,
        ty,
        is_struct: false,
        element: None,
    };
    let mut twice = launch("twice", 0, vec![pointer, pointer, number(Type::F32)], &[]);
    twice.arguments[1] = 4096_u64.to_le_bytes().to_vec();
    twice.touches.push(twice.touches[0].clone());
    let mut whole = launch("whole", 0, vec![pointer, number(Type::U32), number(Type::F32)], &[]);
    let named = ReadLaunch::named("scale")
        .with(2, [1, 0, 0])
        .with(4, [2, 1, 1])
        .with(8, [u32::MAX, 0, 0]);
    whole.work = ReadNode::Kernel(Box::new(named));
    // Nothing orders it after `whole`, and the macro does.
    let lines = lines_of(vec![twice, whole, fill("last", 0, 0..64, &[])], &[("x", 4096..4160)]);
    let expected = [
        "// twice: scale<<<4, (16, 16)>>>: it gets `x` twice, to write it",
        "#[cooperative]",
        "#[cluster(2, 1, 1)]",
        "#[priority(-1)]",
        "kernel whole = unsafe scale<<<4, (16, 16)>>>(&mut x, 3_u32, 2.5_f32);",
        "memset last = x <- 1e-44 after whole;",
    ];
    has_lines(&lines, &expected);
}
