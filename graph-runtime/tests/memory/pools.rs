//! Pools: scratch memory that several graphs share.

use crate::common::*;
use std::sync::mpsc;

cuda_graph! {
    /// Holds a value in scratch memory for a while.
    graph Bucket(n: usize) {
        host    output: [u32; 64];
        param   value:  u32 = 1;
        param   steps:  u64 = 0;
        scratch hidden: [u32; n];
        device  busy:   [u32; 1];

        memset fill  = hidden <- value;
        kernel delay = slow<<<1, 1>>>(steps, &mut busy)           after fill;
        kernel more  = add_to<<<1, 64>>>(&mut hidden[n - 64..], 1) after delay;
        memcpy down  = hidden[n - 64..] -> output                 after more;
    }
}

/// The sizes of the buckets of a server, in words: 1 MiB for the largest.
const SIZES: [usize; 9] = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144];

/// The steps in which a pool on CUDA grows, at most.
const STEP: usize = 2 << 20;

/// The bytes of scratch memory that a bucket needs.
fn scratch(n: usize) -> usize {
    4 * n
}

fn buckets(device: &Device, sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Bucket>> {
    sizes.into_iter().map(|n| Bucket::build(device, n)).collect()
}

/// Launches all in turns without waiting, each with a value of its own, and looks at the results of the last turn.
fn take_turns(
    graphs: &mut [Bucket],
    turns: u32,
    mut launch: impl FnMut(usize, &mut Bucket) -> Result<()>,
) -> Result<()> {
    for turn in 0..turns {
        for (index, graph) in graphs.iter_mut().enumerate() {
            graph.set_value(100 * turn + index as u32)?;
            launch(index, graph)?;
        }
    }
    for (index, graph) in graphs.iter().enumerate() {
        assert_eq!(*graph.output()?, [100 * (turns - 1) + index as u32 + 1; 64]);
    }
    Ok(())
}

#[test]
fn buckets_need_the_largest_ones_memory_in_any_order_of_building() -> Result<()> {
    let device = device();
    let largest = scratch(SIZES[8]);
    for ascending in [false, true] {
        let pool = device.pool();
        let sizes = SIZES.map(|n| if ascending { n } else { SIZES[0] * SIZES[8] / n });
        let mut graphs = buckets(&device.with_pool(&pool), sizes)?;
        let report = pool.memory_report();
        let names = report.graphs.iter().map(|user| user.graph.as_str());
        let expected = sizes.iter().map(|n| format!("Bucket(n = {n})"));
        assert!(names.eq(expected), "{report}");
        let bytes = report.graphs.iter().map(|user| user.bytes);
        assert_eq!(bytes.collect::<Vec<_>>(), sizes.map(scratch));
        let held = match (device.is_emulator(), ascending) {
            (false, _) => largest.next_multiple_of(STEP),
            (true, false) => largest,
            (true, true) => SIZES.map(scratch).iter().sum(), // it does not grow in place there
        };
        assert_eq!(report.held, held, "ascending: {ascending}");
        take_turns(&mut graphs, 3, |_, graph| graph.launch())?;
    }
    Ok(())
}

#[test]
fn graphs_without_a_pool_have_memory_of_their_own() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Own");
    let mut hidden = builder.scratch_slice::<u32>("hidden", 64);
    let mut data = builder.device::<[f32; 4]>("data");
    let weights = device.alloc::<[f32; 8]>()?;
    let weights = builder.shared("weights", &weights, false);
    let mut host = builder.host::<[f32; 8]>("host");
    builder.memset("fill", &mut hidden, 1_u32);
    builder.memset("clear", &mut data, 1.0_f32);
    builder.memcpy("down", &weights, &mut host);
    let graph = builder.build()?;
    assert!(graph.pool().is_none());
    let report = graph.memory_report();
    assert_eq!((report.scratch, report.device, report.host), (256, 16, 32));
    let expected = (32, 0, 0);
    assert_eq!((report.shared_device, report.shared_host, report.workspaces), expected);
    assert_eq!(report.own_device(), 272);
    assert!(report.pool.is_none());
    Ok(())
}

/// `in -> out` by scratch memory of `n` words, as a builder's graph.
fn passing(device: &Device, name: &'static str, n: usize, value: u32) -> Result<(Graph, Place<[u32; 4], OnHost>)> {
    let mut builder = GraphBuilder::new(device, name);
    let mut hidden = builder.scratch_slice::<u32>("hidden", n);
    let mut output = builder.host::<[u32; 4]>("output");
    let fill = builder.memset("fill", &mut hidden, value);
    let down = builder.memcpy("down", &hidden.rows_from::<4>(0), &mut output);
    builder.after(down, &[fill]);
    Ok((builder.build()?, output))
}

#[test]
fn pools_are_equal_if_they_are_the_same() -> Result<()> {
    let device = device();
    let (pool, other) = (device.pool(), device.pool());
    let (first, _) = passing(&device.with_pool(&pool), "First", 64, 1)?;
    let (second, _) = passing(&device.with_pool(&pool.clone()), "Second", 64, 1)?;
    let (third, _) = passing(&device.with_pool(&other), "Third", 64, 1)?;
    assert_eq!(first.pool(), Some(&pool));
    assert_eq!(first.pool(), second.pool());
    assert_ne!(first.pool(), third.pool());
    // A graph on the pool of another one, as PyTorch's `pool=g.pool()`.
    let (fourth, _) = passing(&device.with_pool(first.pool().expect("it has one")), "Fourth", 64, 1)?;
    assert_eq!(fourth.pool(), Some(&pool));
    let report = fourth.memory_report();
    assert_eq!((report.scratch, report.own_device()), (256, 0));
    let report = report.pool.expect("it has one");
    assert_eq!(report.graphs.len(), 3);
    assert_eq!(report.needed(), 3 * 256);
    Ok(())
}

#[test]
fn graphs_of_every_kind_are_built_on_a_pool() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let mut declared = Bucket::build(&pooled, 64)?;
    let mut expression = cuda_graph! { &pooled =>
        host    output: [u32; 64];
        scratch hidden: [u32; 64];
        memset  set  = hidden <- 7;
        memcpy  down = hidden -> output after set;
    }?;
    let (mut built, place) = passing(&pooled, "Built", 64, 9)?;
    let mut debug = Bucket::build(&pooled.with_debug(DebugOptions::default()), 64)?;
    let mut delayed = Bucket::build(&pooled.with_delays(3), 64)?;
    let report = pool.memory_report();
    assert_eq!(report.graphs.len(), 5);
    assert_eq!(report.held, if device.is_emulator() { 256 } else { STEP });
    for _ in 0..3 {
        declared.launch()?;
        expression.launch()?;
        debug.launch()?;
        built.launch()?;
        delayed.launch()?;
    }
    assert_eq!(*declared.output()?, [2; 64]);
    assert_eq!(*expression.output()?, [7; 64]);
    assert_eq!(*built.host(&place)?, [9; 4]);
    assert_eq!(*debug.output()?, [2; 64]);
    assert_eq!(*delayed.output()?, [2; 64]);
    Ok(())
}

/// Without an order, the second graph would overwrite what the first one holds for a while.
#[test]
fn launches_on_any_streams_and_threads_come_one_after_the_other() -> Result<()> {
    let device = device();
    let pooled = device.with_pool(&device.pool());
    let mut graphs = buckets(&pooled, [8192, 64, 1024])?;
    for graph in &mut graphs {
        graph.set_steps(slow_steps() / 100)?;
    }
    take_turns(&mut graphs, 4, |_, graph| graph.launch())?;
    if let Some(context) = device.context() {
        let streams = [(); 2].map(|()| context.new_stream().expect("a new stream"));
        take_turns(&mut graphs, 4, |index, graph| graph.launch_on(&streams[index % 2]))?;
        take_turns(&mut graphs, 4, |_, graph| graph.launch_on(&streams[0]))?;
        let mut turn = 0;
        take_turns(&mut graphs, 8, |index, graph| {
            turn += 1;
            match (turn + index) % 3 {
                0 => graph.launch(),
                stream => graph.launch_on(&streams[stream - 1]),
            }
        })?;
    }
    without_deadlock(move || {
        std::thread::scope(|scope| {
            for graph in &mut graphs {
                scope.spawn(move || {
                    for round in 0..20 {
                        graph.set_value(round).expect("it changes");
                        graph.launch().expect("it launches");
                        assert_eq!(*graph.output().expect("it runs"), [round + 1; 64]);
                    }
                });
            }
        });
    });
    Ok(())
}

#[test]
fn a_graph_is_dropped_in_flight_and_the_pool_before_its_graphs() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let mut graphs = buckets(&device.with_pool(&pool), [1024, 64, 512])?;
    drop(pool);
    for graph in &mut graphs {
        graph.set_steps(slow_steps() / 100)?;
        graph.launch()?;
    }
    graphs[0].launch()?;
    drop(graphs.remove(0));
    take_turns(&mut graphs, 2, |_, graph| graph.launch())
}

#[test]
fn memory_that_no_graph_needs_is_freed() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let words = 3 * STEP / 4; // on CUDA, three steps and a bit more
    let mut small = Bucket::build(&pooled, 64)?;
    let large = Bucket::build(&pooled, words)?;
    small.launch()?;
    let held = pool.memory_report().held;
    assert!(held >= scratch(words));
    drop(large);
    assert_eq!(pool.memory_report().held, held, "it waits to be asked");
    assert_eq!(pool.memory_report().graphs.len(), 1);
    pool.trim()?;
    assert_eq!(pool.memory_report().held, if device.is_emulator() { 256 } else { STEP });
    let mut again = Bucket::build(&pooled, words)?;
    assert_eq!(pool.memory_report().held, held);
    again.launch()?;
    small.launch()?;
    assert_eq!((*again.output()?, *small.output()?), ([2; 64], [2; 64]));
    drop((small, again));
    pool.trim()?;
    assert_eq!(pool.memory_report().held, 0);
    let text = pool.to_string();
    let first = text.lines().next().map(str::trim_end);
    assert_eq!(first, Some("pool of 0 graphs                          bytes"));
    Ok(())
}

/// Memory that the largest of several live graphs needs stays, whichever of them were built or dropped last.
#[test]
fn trimming_leaves_what_the_largest_live_graph_needs() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let sizes = [STEP / 2, 64, STEP, 1024];
    let mut graphs = buckets(&pooled, sizes)?;
    for left in (1..=sizes.len()).rev() {
        pool.trim()?;
        let live = &sizes[..left];
        let largest = scratch(live.iter().copied().max().unwrap_or_default());
        let held = pool.memory_report().held;
        assert!(held >= largest, "{held} of {largest} bytes, {left} graphs are left");
        if !device.is_emulator() {
            assert_eq!(held, largest.next_multiple_of(STEP), "{left} graphs are left");
        }
        take_turns(&mut graphs, 2, |_, graph| graph.launch())?;
        graphs.pop();
    }
    Ok(())
}

#[test]
fn pools_are_of_one_device_and_have_room_for_nothing_but_not_for_everything() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let mut builder = GraphBuilder::new(&pooled, "None");
    builder.device::<u32>("data");
    let none = launched(builder.build())?;
    assert_eq!(pool.memory_report().held, 0);
    assert!(none.memory_report().pool.is_none());
    let error = passing(&pooled, "Large", usize::MAX / 8, 1).unwrap_err();
    let is_refused = matches!(error, Error::OutOfMemory { .. } | Error::Cuda { .. });
    assert!(is_refused, "{error}");
    let (mut graph, output) = passing(&pooled, "Small", 4, 5)?;
    graph.launch()?;
    assert_eq!(*graph.host(&output)?, [5; 4]);
    assert_eq!(pool.memory_report().graphs.len(), 1);

    let other = Device::emulator();
    let error = Bucket::build(&device.with_pool(&other.pool()), 64).unwrap_err();
    assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "graph `Bucket`, memory `pool`: the memory belongs to another device\n\
         help: make it by the `Device` on which the graph is built, or by a clone of that: each `Device::emulator()` has \
         memory of its own"
    );
    Ok(())
}

/// On CUDA, host functions launch nothing.
#[test]
fn a_launch_inside_a_launch_of_the_same_pool_is_refused() -> Result<()> {
    let device = Device::emulator();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let (mut inner, output) = passing(&pooled, "Inner", 64, 3)?;
    let mut builder = GraphBuilder::new(&pooled, "Outer");
    let mut hidden = builder.scratch::<[u32; 4]>("hidden");
    let mut seen = builder.host::<[u32; 4]>("seen");
    let (sender, results) = mpsc::channel();
    let nodes = [
        builder.memset("fill", &mut hidden, 8_u32),
        builder.call("call", (), move |()| {
            let launched = inner.launch();
            sender.send((launched, *inner.host(&output).unwrap())).unwrap();
        }),
        builder.memcpy("down", &hidden, &mut seen),
    ];
    in_order(&mut builder, &nodes);
    let outer = launched(builder.build())?;
    assert_eq!(*outer.host(&seen)?, [8; 4]);
    let (launched, output) = results.recv().unwrap();
    let error = launched.unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    error.reads("graph `Inner`, memory `pool`: is in use by the launch that this is called from");
    assert_eq!(output, [0; 4], "it has not run");
    Ok(())
}

#[test]
fn the_emulator_finds_reads_of_what_another_graph_has_left() -> Result<()> {
    let device = emulator_with(|options| options.check_uninitialized = true);
    let pooled = device.with_pool(&device.pool());
    let (mut first, _) = passing(&pooled, "First", 64, 3)?;
    let mut builder = GraphBuilder::new(&pooled, "Second");
    let mut half = builder.scratch::<[f32; 64]>("half");
    let mut data = builder.device::<[f32; 64]>("data");
    let affine = |n| Affine::new(1.0, 1.0, n);
    // SAFETY: both have 64 elements.
    let write = builder.kernel("write", Launch::new(1, 64), unsafe {
        copy_struct::call(affine(32), &data, &mut half)
    });
    // SAFETY: as above.
    let read = builder.kernel("read", Launch::new(1, 64), unsafe {
        copy_struct::call(affine(33), &half, &mut data)
    });
    builder.after(read, &[write]);
    let mut second = builder.build()?;
    first.launch()?;
    second.launch()?;
    refused(second.synchronize()).says("load of 4 bytes at offset 128 of `half`, which nothing has written");
    Ok(())
}

/// Threads build, launch and drop graphs of one pool, and trim it.
#[test]
fn pools_are_used_by_many_threads() {
    let device = device();
    let pool = device.pool();
    without_deadlock(move || {
        let work = |seed: usize, device: &Device, pool: &Pool| -> Result<()> {
            for round in 0..8 {
                let n = 64 << ((seed + 3 * round) % 12);
                let mut graph = Bucket::build(&device.with_pool(pool), n)?;
                graph.set_value(n as u32)?;
                graph.launch()?;
                graph.launch()?;
                assert_eq!(*graph.output()?, [n as u32 + 1; 64]);
                if round % 3 == 2 {
                    drop(graph);
                    pool.trim()?;
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for seed in 0..3 {
                let (device, pool) = (&device, &pool);
                scope.spawn(move || work(seed, device, pool).expect("all of it works"));
            }
        });
        pool.trim().expect("it frees what is left");
        assert_eq!(pool.memory_report().held, 0);
    });
}

/// All graphs of a definition use the same part of the pool.
#[test]
fn graphs_of_one_definition_share_the_memory_of_one() -> Result<()> {
    let device = device();
    let pool = device.pool();
    let mut definition = Bucket::define(&device.with_pool(&pool), 4096)?;
    assert!(pool.memory_report().graphs.is_empty());
    let mut graphs = Vec::new();
    for _ in 0..3 {
        graphs.push(definition.instantiate(InstantiateOptions::default())?);
    }
    let report = pool.memory_report();
    assert_eq!(report.graphs.len(), 3);
    assert_eq!(report.needed(), 3 * scratch(4096));
    assert_eq!(report.held, if device.is_emulator() { scratch(4096) } else { STEP });
    take_turns(&mut graphs, 3, |_, graph| graph.launch())?;
    drop(graphs.pop());
    assert_eq!(pool.memory_report().graphs.len(), 2); // the definition itself needs nothing
    let mut graph = definition.build()?;
    AnyGraph::update_from(&mut graphs[0], Bucket::define(&device.with_pool(&pool), 64)?)?;
    let users = pool.memory_report().graphs.into_iter().map(|user| user.bytes);
    assert_eq!(users.collect::<Vec<_>>(), [4096, 4096, 64].map(scratch));
    graph.launch()?;
    graphs[0].launch()?;
    assert_eq!((*graph.output()?, *graphs[0].output()?), ([2; 64], [2; 64]));
    Ok(())
}
