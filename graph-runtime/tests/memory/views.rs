//! Typed views of one arena that overlap: they are one memory to races, to launches, to rebinding and to the host.

use crate::common::*;

/// 64 elements, of which `low` has the first 32, and `middle` those from 16 to 48.
struct Arena {
    all: DeviceBuffer<[f32]>,
    low: DeviceBuffer<[f32]>,
    middle: DeviceBuffer<[f32]>,
    high: DeviceBuffer<[f32]>,
}

impl Arena {
    fn new(device: &Device) -> Result<Self> {
        let bytes = device.alloc_slice::<u8>(256)?;
        let view = |start: usize, end: usize| bytes.rows(4 * start..4 * end)?.cast::<f32>();
        Ok(Self {
            all: view(0, 64)?,
            low: view(0, 32)?,
            middle: view(16, 48)?,
            high: view(32, 64)?,
        })
    }
}

/// A graph, the places of both views, and the sums.
type Scaled = (Graph, [Place<[f32], OnDevice>; 2], Place<[f32; 32], OnDevice>);

/// Sets `low` to 1, then scales `middle` by 3, then adds both into memory of its own, one after the other if the nodes
/// are `ordered`.
fn scaled(device: &Device, [low, middle]: [&DeviceBuffer<[f32]>; 2], ordered: bool) -> Result<Scaled> {
    let mut builder = GraphBuilder::new(device, "Views");
    let (mut a, mut b) = (builder.shared("a", low, true), builder.shared("b", middle, true));
    let mut sum = builder.device::<[f32; 32]>("sum");
    let set = builder.memset("set", &mut a, 1.0_f32);
    let scale = builder.kernel("scale", Launch::new(1, 32), scale::call(&mut b, 3.0, 32));
    let add = builder.kernel("add", Launch::new(1, 32), add::call(&a, &b, &mut sum, 32));
    if ordered {
        builder.after(scale, &[set]);
        builder.after(add, &[scale]);
    }
    Ok((builder.build()?, [a, b], sum))
}

#[test]
fn views_that_overlap_are_used_in_order() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    arena.all.copy_from(&[2.0; 64])?;
    let (mut graph, _, sum) = scaled(&device, [&arena.low, &arena.middle], true)?;
    for launch in 1..=3 {
        graph.launch()?;
        let now = arena.all.read_vec()?;
        let expected = |index: usize| match index {
            0..16 => 1.0,
            16..32 => 3.0,
            32..48 => 2.0 * 3.0_f32.powi(launch),
            _ => 2.0,
        };
        let expected: Vec<f32> = (0..64).map(expected).collect();
        assert_eq!(now, expected);
        let sums: Vec<f32> = (0..32).map(|index| expected[index] + expected[16 + index]).collect();
        assert_eq!(graph.device(&sum)?.read()?[..], sums);
    }
    Ok(())
}

#[test]
fn unordered_nodes_race_over_views_by_name() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let refused = refused(scaled(&device, [&arena.low, &arena.middle], false)).to_string();
    has(
        &refused,
        &[
            "nodes `set` and `scale` can run at the same time and access `a` and `b`, which are shared memory that overlaps \
             [race]",
            "note: `set` writes `a`, `scale` writes `b`",
            "note: 64 bytes belong to both",
        ],
    );
    let apart = mistakes(scaled(&device, [&arena.low, &arena.high], false));
    assert!(
        apart.iter().all(|mistake| !mistake.to_string().contains("overlaps")),
        "{apart:?}"
    );
    Ok(())
}

/// Edges that order views of one memory are needed.
#[test]
fn edges_between_views_that_overlap_are_needed() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let (graph, ..) = scaled(&device, [&arena.low, &arena.middle], true)?;
    assert!(graph.plan().unneeded_edges().is_empty());
    let (graph, ..) = scaled(&device, [&arena.low, &arena.high], true)?;
    assert_eq!(graph.plan().unneeded_edges().edges, [(0, 1)]);
    Ok(())
}

/// Parts of views that do not meet are apart, and `after auto` orders those that do.
#[test]
fn parts_of_views_are_compared_by_their_bytes() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let build = |rows: usize, auto: bool| {
        let mut builder = GraphBuilder::new(&device, "Parts");
        if auto {
            builder.after_auto_everywhere();
        }
        let (a, mut b) = (
            builder.shared("a", &arena.low, true),
            builder.shared("b", &arena.middle, true),
        );
        builder.memset("first", &mut a.rows(..rows), 1.0_f32);
        builder.memset("second", &mut b, 2.0_f32);
        builder.build()
    };
    build(16, false)?.launch()?;
    mistake(build(17, false), Code::Race).says("4 bytes belong to both");
    let mut graph = build(32, true)?;
    assert_eq!(graph.plan().nodes[1].inferred[..], [0]);
    graph.launch()?;
    let now = arena.all.read_vec()?;
    assert_eq!((now[15], now[16], now[47], now[48]), (1.0, 2.0, 2.0, 0.0));
    Ok(())
}

#[test]
fn one_node_gets_bytes_of_an_arena_once() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let mut builder = GraphBuilder::new(&device, "Once");
    let (a, mut b) = (
        builder.shared("a", &arena.low, false),
        builder.shared("b", &arena.middle, true),
    );
    builder.kernel("saxpy", Launch::new(1, 32), saxpy::call(1.0, &a, &mut b, 32));
    mistake(builder.build(), Code::AliasedArgument).says(
        "node `saxpy` gets `a` as `&` and `b` as `&mut`, which are shared memory that overlaps [aliased-argument]\n\
         note: 64 bytes belong to both",
    );
    Ok(())
}

/// Rebinding checks again what was built: order, and the memory that each node gets.
#[test]
fn views_overlap_after_rebinding_only_if_their_nodes_are_ordered() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let (mut graph, [_, b], _) = scaled(&device, [&arena.low, &arena.high], true)?;
    arena.all.copy_from(&[2.0; 64])?;
    graph.launch()?;
    assert_eq!(arena.all.read_vec()?[40], 6.0);
    graph.rebind(&b, &arena.middle)?;
    arena.all.copy_from(&[2.0; 64])?;
    graph.launch()?;
    let now = arena.all.read_vec()?;
    assert_eq!([now[0], now[20], now[40], now[50]], [1.0, 3.0, 6.0, 2.0]);
    graph.rebind(&b, &arena.high)?;
    graph.launch()?;
    assert_eq!(arena.all.read_vec()?[50], 6.0);

    // Two nodes that nothing orders, since their memory is apart.
    let mut builder = GraphBuilder::new(&device, "Beside");
    let (mut a, mut b) = (
        builder.shared("a", &arena.low, true),
        builder.shared("b", &arena.high, true),
    );
    builder.memset("first", &mut a, 1.0_f32);
    builder.memset("second", &mut b, 2.0_f32);
    let mut graph = builder.build()?;
    let text = "graph `Beside` has 1 mistake\n\
                nodes `first` and `second` can run at the same time and access `a` and `b`, which are shared memory that \
                overlaps [race]\n\
                note: `first` writes `a`, `second` writes `b`\n\
                note: 64 bytes belong to both: memory under two names is one memory [aliased-argument]\n\
                help: add `first` to the `after` list of `second`, or make the parts disjoint";
    refused(graph.rebind(&b, &arena.middle)).reads(text);
    graph.launch()?;
    let now = arena.all.read_vec()?;
    assert_eq!((now[31], now[32]), (1.0, 2.0), "the graph is as it was");
    Ok(())
}

/// A launch claims all bytes of its views at once: it neither waits for itself, nor passes by launches of others that
/// use them.
#[test]
fn launches_and_the_host_wait_for_each_view() -> Result<()> {
    let device = device();
    let arena = Arena::new(&device)?;
    let (mut graph, ..) = scaled(&device, [&arena.low, &arena.middle], true)?;
    let other = {
        let mut builder = GraphBuilder::new(&device, "Other");
        let mut flag = builder.device::<[u32; 1]>("flag");
        let mut part = builder.shared("part", &arena.all.rows(40..44)?, true);
        let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
        let set = builder.memset("set", &mut part, 5.0_f32);
        builder.after(set, &[slow]);
        builder.build()
    };
    let mut other = other?;
    for _ in 0..4 {
        arena.all.copy_from(&[1.0; 64])?;
        other.launch()?;
        graph.launch()?;
        let now = arena.all.rows(40..44)?.read_vec()?;
        assert_eq!(now, [15.0; 4], "`scale` comes after `set` of the other graph");
    }
    Ok(())
}

/// Conditions and early starts are looked at without other views, so these are still refused.
#[test]
fn conditions_and_early_kernels_have_memory_apart() -> Result<()> {
    let device = device();
    let arena = device.alloc_slice::<u32>(64)?;
    let build = |flags: &DeviceBuffer<[u32]>| {
        let mut builder = GraphBuilder::new(&device, "Condition");
        let flags = builder.shared("flags", flags, false);
        let mut data = builder.shared("data", &arena.rows(8..40)?, true);
        builder.if_then("maybe", &flags.row(0), |body| {
            body.memset("set", &mut data, 1_u32);
        });
        builder.build()
    };
    build(&arena.rows(..8)?)?.launch()?;
    let text = "`flags`, the condition of node `maybe`, is shared memory that overlaps other memory, and the graph writes \
                some of it [aliased-argument]";
    for start in [7, 8] {
        mistake(build(&arena.rows(start..16)?), Code::AliasedArgument).says(text);
    }

    let early = |second: &DeviceBuffer<[u32]>| {
        let mut builder = GraphBuilder::new(&device, "Early");
        let mut first = builder.shared("first", &arena.rows(..32)?, true);
        let second = builder.shared("second", second, false);
        let mut out = builder.device_slice::<u32>("out", 32);
        let write = builder.kernel("write", Launch::new(1, 32), slow_write::call(&mut first, 5, 10));
        let read = builder.kernel("read", Launch::new(1, 32), slow_step::call(&second, &mut out, 10));
        builder.after_programmatic(read, &[write]);
        builder.build()
    };
    early(&arena.rows(32..)?)?.launch()?;
    mistake(early(&arena.rows(16..48)?), Code::AliasedArgument).says(
        "node `read` may start before `write` has ended, and `second` is shared memory that overlaps other memory, of which \
         the graph writes some",
    );
    Ok(())
}
