//! Advice: each mistake gets its hint, and the mended graph does not.

use crate::common::*;
use std::time::Duration;

/// The hint about a topic, if there is one.
fn about(graph: &impl AnyGraph, topic: Topic) -> Option<Hint> {
    let advice = graph.advice();
    advice.iter().find(|hint| hint.topic == topic).cloned()
}

/// The hint about a topic, and the microseconds that it saves.
#[track_caller]
fn given(graph: &impl AnyGraph, topic: Topic) -> (Hint, f64) {
    let hint = about(graph, topic).unwrap_or_else(|| panic!("no hint about {topic:?}: {}", graph.advice()));
    let saves = hint.saves.map_or(0.0, |saves| saves.as_secs_f64() * 1e6);
    (hint, saves)
}

#[test]
fn edges_that_no_data_needs() -> Result<()> {
    let device = device();
    let graph = cuda_graph! { &device =>
        device x: [u32; 64];
        device y: [u32; 64];
        memset zero  = x <- 0;
        memset one   = y <- 1              after zero;
        kernel add   = add_to<<<1, 64>>>(&mut x, 1) after one;
        kernel more  = add_to<<<1, 64>>>(&mut y, 1) after add;
    }?;
    let (hint, saves) = given(&graph, Topic::UnneededEdges);
    assert_eq!(hint.nodes, ["one", "add", "more"]);
    let expected = "leave `after zero` out of `one`; write `after zero` instead of `after one` in `add`; write `after one` \
                    instead of `after add` in `more`";
    assert_eq!(hint.help, expected);
    assert!((1.7..1.8).contains(&saves), "two of four nodes of 0.87 us: {saves}");
    let graph = cuda_graph! { &device =>
        device x: [u32; 64];
        device y: [u32; 64];
        memset zero  = x <- 0;
        memset one   = y <- 1;
        kernel add   = add_to<<<1, 64>>>(&mut x, 1) after zero;
        kernel more  = add_to<<<1, 64>>>(&mut y, 1) after one;
    }?;
    let advice = graph.advice();
    assert!(advice.is_empty() && !advice.is_measured(), "{advice}");
    assert!(
        advice.to_string().ends_with("by prices of an H200: nothing to change"),
        "{advice}"
    );
    Ok(())
}

/// Chains of eight kernels, as many side by side as there is memory for.
fn chains(device: &Device, count: usize) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Chains");
    for chain in 0..count {
        let mut data = builder.device::<[u32; 64]>(format!("data{chain}"));
        let mut last = None;
        for step in 0..8 {
            let node = builder.kernel(
                format!("k{chain}_{step}"),
                Launch::new(1, 64),
                add_to::call(&mut data, 1),
            );
            builder.after(node, &last.into_iter().collect::<Vec<_>>());
            last = Some(node);
        }
    }
    builder.build()
}

#[test]
fn more_side_by_side_than_is_of_use() -> Result<()> {
    let device = device();
    let advice = chains(&device, 16)?.advice();
    let hint = advice
        .iter()
        .find(|hint| hint.topic == Topic::Width)
        .expect("it is wide");
    assert_eq!((hint.nodes.len(), &*hint.nodes[0]), (16, "k0_0"));
    assert_eq!(hint.saves, Some(Duration::from_nanos(18_300)));
    assert!(
        hint.finding
            .contains("16 small nodes side by side: a launch takes the CPU about 28.0 us, and 5.7 us")
    );
    assert!(
        advice
            .to_string()
            .contains("`k5_0`, and 10 more\n   help: order them in 4 chains"),
        "{advice}"
    );
    assert!(chains(&device, 4)?.advice().is_empty());
    Ok(())
}

#[test]
fn edges_that_could_be_programmatic() -> Result<()> {
    let device = device();
    let graph = cuda_graph! { &device =>
        device a: [u32; 64];
        device b: [u32; 64];
        kernel first  = slow_write<<<1, 64>>>(&mut a, 1, 1);
        kernel second = slow_step<<<1, 64>>>(&a, &mut b, 1)     after first;
        kernel third  = add_to<<<1, 64>>>(&mut b, 1)            after second;
    }?;
    let (hint, saves) = given(&graph, Topic::ProgrammaticEdges);
    assert_eq!(hint.help, "write `after programmatic(first)` in `second`");
    assert_eq!((hint.nodes, (saves * 100.0).round()), (vec!["second".to_owned()], 34.0));
    let graph = cuda_graph! { &device =>
        device a: [u32; 64];
        device b: [u32; 64];
        kernel first  = slow_write<<<1, 64>>>(&mut a, 1, 1);
        kernel second = slow_step<<<1, 64>>>(&a, &mut b, 1)     after programmatic(first);
        kernel third  = add_to<<<1, 64>>>(&mut b, 1)            after second;
    }?;
    assert_eq!(about(&graph, Topic::ProgrammaticEdges), None);
    Ok(())
}

#[test]
fn launches_that_do_not_fill_the_device() -> Result<()> {
    let device = device();
    let graph = cuda_graph! { &device =>
        device large: [u32; 4194304];
        device small: [u32; 1024];
        kernel few    = add_to<<<2, 256>>>(&mut large, 1);
        kernel thin   = add_to<<<256, 4>>>(&mut small, 1);
        kernel enough = add_to<<<(64, 64), 256>>>(&mut large, 1) after few;
    }?;
    let (hint, saves) = given(&graph, Topic::FewBlocks);
    assert_eq!(hint.nodes, ["few"]);
    assert!(
        hint.finding.contains("`few` has 2, and is given 16.8 MB"),
        "{}",
        hint.finding
    );
    assert!(saves > 10.0, "{saves}");
    // A kernel that was measured need not have much memory.
    let mut slow = cuda_graph! { &device =>
        device small: [u32; 64];
        kernel slow = slow_write<<<1, 64>>>(&mut small, 1, 100_000);
    }?;
    assert_eq!(about(&slow, Topic::FewBlocks), None);
    slow.profile(2)?;
    if !device.is_emulator() {
        let (hint, _) = given(&slow, Topic::FewBlocks);
        assert!(hint.finding.contains("`slow` has 1, and takes "), "{}", hint.finding);
    }
    let (hint, _) = given(&graph, Topic::GridAndBlock);
    assert_eq!(hint.nodes, ["thin"]);
    assert!(
        hint.finding.ends_with("`thin` is launched as `<<<256, 4>>>`"),
        "{}",
        hint.finding
    );
    assert!(
        hint.help
            .starts_with("if grid and block are exchanged, write `<<<4, 256>>>`"),
        "{}",
        hint.help
    );
    Ok(())
}

cuda_graph! {
    /// A copy from memory of others.
    graph Lent(lent: host [u32; 1]) {
        device flag: [u32; 1];
        memcpy upload = lent -> flag;
    }
}

#[test]
fn small_copies_and_small_bodies() -> Result<()> {
    let device = device();
    let nodes = device.with_bodies(Bodies::Nodes);
    let mut graph = cuda_graph! { &nodes.with_uploads(Uploads::Copies) =>
        host   input: [u32; 1];
        device flag: [u32; 1];
        device data: [u32; 64];
        memcpy upload = input -> flag;
        if chosen = flag[0] {
            kernel add = add_to<<<1, 64>>>(&mut data, 1);
        } after upload;
    }?;
    let (hint, saves) = given(&graph, Topic::SmallCopies);
    assert!(
        hint.help.starts_with("leave out `with_uploads(Uploads::Copies)`"),
        "{}",
        hint.help
    );
    assert_eq!(
        (hint.nodes, (saves * 100.0).round()),
        (vec!["upload".to_owned()], 100.0)
    );
    let (hint, saves) = given(&graph, Topic::ConditionalNodes);
    assert_eq!(
        (hint.nodes, (saves * 100.0).round()),
        (vec!["chosen".to_owned()], 661.0)
    );
    assert!(graph.advice()[0].saves > graph.advice()[1].saves);
    let mended = cuda_graph! { &nodes =>
        host   input: [u32; 1];
        device flag: [u32; 1];
        device data: [u32; 64];
        memcpy upload = input -> flag;
        kernel add = add_to<<<1, 64>>>(&mut data, 1) after upload;
    }?;
    assert_eq!(about(&mended, Topic::SmallCopies), None);
    // Copies from memory of others stay copy nodes.
    let lent = device.alloc_host::<[u32; 1]>()?.share();
    let (hint, _) = given(&Lent::build(&nodes, &lent)?, Topic::SmallCopies);
    assert!(hint.help.contains("declare the memory as `mapped`"), "{}", hint.help);

    // A profile on a GPU replaces the estimates, and one on the emulator does not.
    graph.profile(3)?;
    assert_eq!(graph.advice().is_measured(), !device.is_emulator());

    let graph = cuda_graph! { &device.with_bodies(Bodies::Cheapest) =>
        device flag: [u32; 1];
        device data: [u32; 64];
        memset start = flag <- 1;
        if chosen = flag[0] {
            kernel add = add_to<<<1, 64>>>(&mut data, 1);
        } after start;
    }?;
    assert_eq!(about(&graph, Topic::ConditionalNodes), None);
    Ok(())
}

#[test]
fn memory_that_could_be_scratch() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Passing");
    let stages: Vec<_> = (0..4)
        .map(|stage| builder.device::<[u32; 256]>(format!("stage{stage}")))
        .collect();
    let mut output = builder.host::<[u32; 256]>("output");
    let mut last = builder.memset("start", &mut stages[0].clone(), 1);
    for (index, pair) in stages.windows(2).enumerate() {
        let copy = builder.memcpy(format!("copy{index}"), &pair[0], &mut pair[1].clone());
        builder.after(copy, &[last]);
        last = copy;
    }
    let down = builder.memcpy("down", &stages[3], &mut output);
    builder.after(down, &[last]);
    let graph = builder.build()?;
    let (hint, _) = given(&graph, Topic::Scratch);
    assert_eq!(hint.saves, None);
    assert!(
        hint.finding.contains("`stage0`, `stage1`, `stage2`, `stage3`"),
        "{}",
        hint.finding
    );
    assert!(hint.finding.ends_with("it takes 2048 bytes less"), "{}", hint.finding);
    // What the graph leaves for its accessors is not passed on.
    let graph = cuda_graph! { &device =>
        device result: [u32; 64];
        memset start = result <- 0;
        kernel add   = add_to<<<1, 64>>>(&mut result, 1) after start;
    }?;
    assert_eq!(about(&graph, Topic::Scratch), None);
    Ok(())
}
