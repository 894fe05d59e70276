use super::*;
use graph_plan::LaunchConfig;
use std::time::{Duration, Instant};

fn node(name: &str, kind: NodeKind, touches: Vec<Touch>, after: &[usize]) -> LiftedNode {
    LiftedNode {
        name: name.to_owned(),
        kind,
        owner: None,
        launch: None,
        arguments: Vec::new(),
        touches,
        unknown: None,
        after: after.iter().map(|&from| (from, false)).collect(),
    }
}

fn fill(name: &str, block: usize, bytes: Range<u64>, after: &[usize]) -> LiftedNode {
    let touch = Touch {
        block,
        mode: Mode::Write,
        bytes: Some(bytes),
    };
    node(name, NodeKind::Memset, vec![touch], after)
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
        lifted.to_rust().contains("// child: a child graph of 1 nodes"),
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

#[test]
fn graphs_are_written_as_statements() {
    let mut scale = kernel("scale_1", 0, Mode::ReadWrite, &[0]);
    let config = LaunchConfig {
        grid: [4, 1, 1],
        block: [16, 16, 1],
        shared: 0,
    };
    scale.launch = Some(PlanLaunch {
        kernel: "scale".into(),
        config,
    });
    scale.arguments = vec![
        4096_u64.to_le_bytes().to_vec(),
        3_u32.to_le_bytes().to_vec(),
        vec![1, 2, 3],
    ];
    let mut copy = node("copy_2", NodeKind::Memcpy, Vec::new(), &[]);
    copy.touches = vec![
        Touch {
            block: 0,
            mode: Mode::Read,
            bytes: Some(0..64),
        },
        Touch {
            block: 1,
            mode: Mode::Write,
            bytes: Some(0..32),
        },
    ];
    copy.after = vec![(1, true)];
    let lifted = lifted(vec![fill("fill_0", 0, 0..64, &[]), scale, copy], 2);
    let expected = "\
cuda_graph! {
    graph Test {
        device x0: [u8; 64];
        device x1: [u8; 64];
        memset fill_0 = x0 <- 0 /* the value */;
        kernel scale_1 = unsafe scale<<<4, (16, 16)>>>(&mut x0, 3_u32, [1, 2, 3]) after fill_0;
        memcpy copy_2 = x0 -> x1[0..32] after programmatic(scale_1);
    }
}
";
    assert_eq!(lifted.to_rust(), expected);
    assert_eq!(
        lifted.plan().nodes[1].launch.as_ref().map(|launch| &*launch.kernel),
        Some("scale")
    );
    assert!(lifted.plan().unneeded_edges().is_empty());
}
