//! Profiles: the times of nodes, on the emulator or the GPU.

use crate::common::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

cuda_graph! {
    /// Ninety-nine quick kernels, in three chains, and a slow one among them.
    graph Hundred(total: mut host [u32; 8]) {
        device data: [[u32; 8]; 3];
        device flag: [u32; 1];
        memset clear = data <- 0;
        each chain in 0..3 {
            for i in 0..32 {
                kernel quick = add_to<<<1, 8>>>(&mut data[chain], 1) after clear;
            }
        }
        kernel late = slow<<<1, 1>>>(500_000, &mut flag) after clear;
        memcpy down = data[2] -> total after quick, late;
    }

    /// A `while` of as many iterations as `count` has, with a node that does not run.
    graph Countdown {
        host   input: [u32; 1];
        device count: [u32; 1];
        device steps: [u32; 4];
        host   output: [u32; 4];

        memcpy start = input -> count;
        memset clear = steps <- 0;
        while more = count[0] {
            kernel less = count_down<<<1, 1>>>(&mut count);
            kernel step = add_to<<<1, 4>>>(&mut steps, 1);
            #[disabled]
            memset off = steps <- 9 after step;
        } after start, clear;
        join   both after more;
        memcpy down = steps -> output after both;
    }
}

cuda_graph! {
    /// A body with each kind of work that predicated bodies have as kernels.
    graph Branch {
        host   input: [u32; 1];
        device flag: [u32; 1];
        device from: [u32; 4];
        device to: [u32; 4];
        host   output: [u32; 4];

        memcpy start = input -> flag;
        memset seven = from <- 7;
        memset clear = to <- 0;
        if chosen = flag[0] {
            memcpy copy  = from -> to;
            kernel add   = add_to<<<1, 4>>>(&mut to, 1) after copy;
            memset again = from <- 9 after copy;
        } after start, seven, clear;
        memcpy down = to -> output after chosen;
    }
}

fn node<'p>(profile: &'p Profile, name: &str) -> &'p NodeProfile {
    let found = profile.nodes().iter().find(|node| node.name == name);
    found.unwrap_or_else(|| panic!("no node `{name}` in\n{profile}"))
}

/// The events of a trace that have this phase.
fn events(trace: &Value, phase: &str) -> Vec<Value> {
    let events = trace["traceEvents"].as_array().expect("a trace has events");
    events.iter().filter(|event| event["ph"] == phase).cloned().collect()
}

/// Microseconds as nanoseconds.
fn nanoseconds(microseconds: &Value) -> u64 {
    (microseconds.as_f64().expect("it is a number") * 1000.0).round() as u64
}

fn trace(profile: &Profile, name: &str) -> Value {
    let path = std::env::temp_dir().join(format!("cuda-graph-{name}-{}.json", std::process::id()));
    profile.write_trace(&path).expect("the folder can be written");
    let text = std::fs::read_to_string(&path).expect("it was just written");
    std::fs::remove_file(&path).expect("it was just read");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn the_slow_node_among_a_hundred_is_found() -> Result<()> {
    let device = device();
    let total = device.alloc_host::<[u32; 8]>()?.share();
    let mut graph = Hundred::build(&device, &total)?;
    let profile = graph.profile(3)?;
    assert_eq!(
        (profile.launches(), profile.nodes().len()),
        (3, graph.plan().nodes.len())
    );
    assert_eq!(*total.read()?, [32; 8], "a profile launches the graph");
    let slowest = profile
        .nodes()
        .iter()
        .max_by_key(|node| node.total)
        .expect("it has nodes");
    assert_eq!(
        (&*slowest.name, slowest.kind, slowest.calls),
        ("late", NodeKind::Kernel, 3)
    );
    assert_eq!(slowest.kernel.as_deref(), Some("slow"));
    let path: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    assert_eq!(path, ["clear", "late", "down"]);
    assert!(profile.critical_time() <= profile.serial_time());
    let quick = profile.by_declaration().iter().find(|node| node.name == "quick[..]");
    assert_eq!(
        quick.map(|node| (node.calls, node.bytes)),
        Some((3 * 96, Some(32))),
        "{profile}"
    );
    let table = profile.to_string();
    assert!(
        table.lines().nth(2).expect("a table has rows").starts_with("late  "),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    Ok(())
}

#[test]
fn iterations_of_bodies_are_counted() -> Result<()> {
    let mut graph = Countdown::build(&device())?;
    graph.input_mut()?[0] = 5;
    let profile = graph.profile(2)?;
    assert_eq!(*graph.output()?, [5; 4]);
    let calls = ["start", "more", "less", "step", "off", "both", "down"].map(|name| node(&profile, name).calls);
    assert_eq!(calls, [2, 2, 10, 10, 0, 0, 2]);
    let (more, less, step) = (node(&profile, "more"), node(&profile, "less"), node(&profile, "step"));
    let nodes = less.total + step.total;
    if device().is_emulator() {
        assert_eq!(more.total, nodes);
    }
    assert!(more.total >= nodes, "the choices cost something on a GPU");
    assert_eq!((step.bytes, node(&profile, "down").bytes), (Some(16), Some(32)));
    assert!(profile.critical_path().iter().all(|node| node.name != "more"));

    graph.off().set_enabled(true)?;
    graph.step().set_enabled(false)?;
    let profile = graph.profile(1)?;
    assert_eq!(*graph.output()?, [9; 4], "it launches the graph as it is now");
    assert_eq!((node(&profile, "step").calls, node(&profile, "off").calls), (0, 5));
    Ok(())
}

#[test]
fn profiles_do_not_depend_on_the_form_of_bodies() -> Result<()> {
    for bodies in [Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest] {
        let mut graph = Branch::build(&device().with_bodies(bodies))?;
        for (chosen, expected) in [(1, 8), (0, 0), (1, 8)] {
            graph.input_mut()?[0] = chosen;
            let profile = graph.profile(2)?;
            assert_eq!(*graph.output()?, [expected; 4]);
            let calls = ["copy", "add", "again"].map(|name| node(&profile, name).calls);
            assert_eq!(calls, [2 * u64::from(chosen); 3], "{profile}");
            graph.launch()?;
            assert_eq!(*graph.output()?, [expected; 4], "later launches are as before");
        }
    }
    Ok(())
}

/// In the rows that are measured, predicated kernels of bodies that do not run return at once, as in a launch.
#[test]
fn profiles_run_the_bodies_that_launches_run() -> Result<()> {
    for bodies in [Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest] {
        let device = device().with_bodies(bodies);
        for flag in [0, 1] {
            let (mut graph, data) = choices(&device, 2, flag)?;
            let profile = graph.profile(2)?;
            assert_eq!(node(&profile, "add3").calls, 2 * u64::from(flag), "{profile}");
            let expected = 2 * flag * repetitions();
            assert_eq!(
                graph.device(&data)?.read()?[..257],
                [[expected; 256].as_slice(), &[0]].concat()
            );
        }
        let of = |graph: &mut Graph, names: &[&str]| -> Result<Vec<u64>> {
            let profile = graph.profile(2)?;
            Ok(names.iter().map(|name| node(&profile, name).calls).collect())
        };
        let iterations = 2 * u64::from(repetitions());
        let odd = 2 * u64::from(repetitions().div_ceil(2));
        let calls = of(&mut alternating(&device)?, &["test", "few", "many", "less"])?;
        assert_eq!(calls, [iterations, odd, iterations - odd, iterations]);
        assert_eq!(of(&mut converging(&device)?, &["step", "test"])?, [iterations; 2]);
        assert_eq!(of(&mut counting(&device)?, &["first", "less"])?, [iterations; 2]);
    }
    Ok(())
}

/// Some of the launches of a longer profile run all nodes along their edges. Those do all that other launches do.
#[test]
fn launches_in_place_run_each_node_once() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Meeting");
    let [mut left, mut right] = ["left", "right"].map(|name| builder.device::<[u32; 4]>(name));
    let mut add = |name: &'static str, data: &mut Place<[u32; 4], OnDevice>, number: u32, after: &[NodeId]| {
        let node = builder.kernel(name, Launch::new(1, 4), add_to::call(data, number));
        builder.after(node, after);
        node
    };
    let one = add("one", &mut left, 1, &[]);
    let two = add("two", &mut right, 2, &[]);
    let off = add("off", &mut right, 100, &[two]);
    add("ten", &mut left, 10, &[one, off]);
    builder.after(off, &[one]);
    let mut graph = builder.build()?;
    graph.node(off).set_enabled(false)?;
    for launches in [4, 7, 10] {
        let before = graph.device(&left)?.read()?[0];
        let profile = graph.profile(launches)?;
        let calls = ["one", "two", "off", "ten"].map(|name| node(&profile, name).calls as usize);
        assert_eq!(calls, [launches, launches, 0, launches], "{profile}");
        assert_eq!(*graph.device(&left)?.read()?, [before + 11 * launches as u32; 4]);
    }
    assert_eq!(*graph.device(&right)?.read()?, [2 * 21; 4]);
    Ok(())
}

#[test]
fn the_emulator_counts_instructions() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Grids");
    let mut data = builder.device::<[u32; 256]>("data");
    let one = builder.kernel("one", Launch::new(1, 32), add_to::call(&mut data, 1));
    let four = builder.kernel("four", Launch::new(4, 64), add_to::call(&mut data, 1));
    builder.after(four, &[one]);
    let mut graph = builder.build()?;
    let profile = graph.profile(2)?;
    let [one, four] = profile.nodes() else {
        panic!("it has two nodes");
    };
    if !device.is_emulator() {
        assert_eq!((one.instructions, four.instructions), (None, None));
        assert_eq!((one.bank_conflicts, one.divergent_branches), (None, None));
        return Ok(());
    }
    assert_eq!((one.bank_conflicts, one.divergent_branches), (Some(0), Some(0)));
    let one = one.instructions.expect("the emulator counts");
    assert!(
        one >= 2 * 5,
        "two launches of a warp, which loads, adds and stores: {one}"
    );
    assert_eq!(four.instructions, Some(8 * one));
    Ok(())
}

#[test]
fn traces_have_a_track_for_each_lane() -> Result<()> {
    let device = device();
    let total = device.alloc_host::<[u32; 8]>()?.share();
    let profile = Hundred::build(&device, &total)?.profile(1)?;
    let trace = trace(&profile, "hundred");
    let spans = events(&trace, "X");
    assert_eq!(spans.len(), 99, "{trace}");
    let mut tracks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for span in &spans {
        let (start, time) = (nanoseconds(&span["ts"]), nanoseconds(&span["dur"]));
        tracks
            .entry(span["tid"].as_u64().expect("it is a number"))
            .or_default()
            .push((start, start + time));
    }
    assert!(tracks.len() <= 4, "three chains and a node beside them: {tracks:?}");
    for spans in tracks.values_mut() {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
    }
    let names = events(&trace, "M")
        .into_iter()
        .filter(|event| event["name"] == "thread_name");
    assert_eq!(names.count(), tracks.len());
    let late = spans.iter().find(|span| span["name"] == "late").expect("it ran");
    assert_eq!(
        (&late["cat"], &late["args"]["kernel"]),
        (&"kernel".into(), &"slow".into())
    );

    let mut graph = Countdown::build(&device)?;
    graph.input_mut()?[0] = 3;
    let spans = events(&self::trace(&graph.profile(2)?, "countdown"), "X");
    let of = |name: &str| -> Vec<&Value> { spans.iter().filter(|span| span["name"] == name).collect() };
    assert_eq!(
        (of("more").len(), of("step").len(), of("off").len()),
        (1, 3, 0),
        "{spans:?}"
    );
    let end = |span: &Value| nanoseconds(&span["ts"]) + nanoseconds(&span["dur"]);
    let (more, down) = (of("more")[0], of("down")[0]);
    assert!(of("step").iter().all(|step| end(step) <= end(more)));
    assert_eq!(nanoseconds(&down["ts"]), end(more), "edges through a join hold");
    Ok(())
}

#[test]
fn profiles_of_all_graphs_and_their_refusals() -> Result<()> {
    let device = device();
    let shared = device.alloc::<[u32; 4]>()?;
    let input = shared.clone();
    let mut graphs: Vec<Box<dyn AnyGraph>> = vec![
        Box::new(Countdown::build(&device)?),
        Box::new(cuda_graph! { &device => memset fill = input <- 7; }?),
    ];
    for graph in &mut graphs {
        assert!(graph.profile(1)?.to_string().contains(graph.name()));
    }
    assert_eq!(*shared.read()?, [7; 4]);
    let refused = graphs[0].profile(0).expect_err("0 launches measure nothing");
    let expected = "graph `Countdown`: a profile of 0 launches measures nothing: ask for 1 at least";
    assert_eq!(refused.to_string(), expected);
    let profile = graphs[0].profile(1)?;
    let refused = profile
        .write_trace("no/such/folder/trace.json")
        .expect_err("there is no such folder");
    assert!(matches!(refused, Error::File { .. }), "{refused}");
    Ok(())
}

#[test]
fn errors_of_profiles_are_those_of_launches() -> Result<()> {
    let device = device();
    let mut fails = true;
    let mut graph = cuda_graph! { &device =>
        host   count: u32;
        device data: [u32; 4];
        memset fill = data <- 7;
        call   look = |&mut count| { assert!(!std::mem::take(&mut fails), "it fails once"); *count += 1; } after fill;
    }?;
    let failed = graph.profile(1).expect_err("the closure panics");
    assert!(matches!(failed, Error::Panicked { .. }), "{failed}");
    assert_eq!(graph.profile(2)?.nodes()[1].calls, 2);
    assert_eq!(*graph.count()?, 2);

    let total = device.alloc_host::<[u32; 8]>()?.share();
    let mut graph = Hundred::build(&device, &total)?;
    let guard = total.read()?;
    let refused = graph.profile(1).expect_err("a guard lends the memory");
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    drop(guard);
    assert_eq!(graph.profile(1)?.launches(), 1);
    Ok(())
}

/// The time of a launch in microseconds: the median of several rounds.
fn time_of_a_launch(graph: &mut Graph) -> Result<f64> {
    const LAUNCHES: u32 = 100;
    let mut rounds = Vec::new();
    for _ in 0..11 {
        let begin = Instant::now();
        for _ in 0..LAUNCHES {
            graph.launch()?;
        }
        graph.synchronize()?;
        rounds.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES));
    }
    rounds.sort_unstable_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2])
}

/// Whether no GPU runs the nodes as a launch does.
fn times_mean_nothing() -> bool {
    is_software() || runs_node_by_node() || delayed()
}

/// Whether the critical path is as long as a launch, but for a part of it.
fn is_as_long_as_a_launch(name: &str, graph: &mut Graph, part: f64) -> Result<bool> {
    if times_mean_nothing() {
        return graph.profile(3).map(|_| true);
    }
    let path = graph.profile(10)?.critical_time().as_secs_f64() * 1e6;
    let time = time_of_a_launch(graph)?;
    let ratio = path / time;
    println!("profile: {name}: {path:.2} us along the critical path, {time:.2} us a launch: {ratio:.2}");
    Ok((ratio - 1.0).abs() < part)
}

/// The iterations of a `while`, and the choices of a graph.
fn repetitions() -> u32 {
    if is_software() { 7 } else { 100 }
}

/// A `while` of three kernels, the last of which counts down.
fn counting(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Counting");
    let mut count = builder.device::<[u32; 1]>("count");
    let mut data = builder.device::<[u32; 4096]>("data");
    let start = builder.memset("start", &mut count, repetitions());
    let more = builder.while_loop("more", &count.row(0), |builder| {
        let first = builder.kernel("first", Launch::new(16, 256), add_to::call(&mut data, 1));
        let second = builder.kernel("second", Launch::new(16, 256), add_to::call(&mut data, 1));
        let less = builder.kernel("less", Launch::new(1, 1), count_down::call(&mut count));
        builder.after(second, &[first]);
        builder.after(less, &[second]);
    });
    builder.after(more, &[start]);
    builder.build()
}

/// A `while` of a step and a test, both of several blocks.
fn converging(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Converging");
    let mut data = builder.device::<[u32; 1024]>("data");
    let mut flags = builder.device::<[u32; 1024]>("flags");
    let clear = builder.memset("clear", &mut data, 0);
    let set = builder.memset("set", &mut flags, 1);
    let repeat = builder.while_loop("repeat", &flags.row(0), |builder| {
        let step = builder.kernel("step", Launch::new(8, 128), add_to::call(&mut data, 1));
        let test = is_below::call(&data, repetitions(), &mut flags);
        let test = builder.kernel("test", Launch::new(8, 128), test);
        builder.after(test, &[step]);
    });
    builder.after(repeat, &[clear, set]);
    builder.build()
}

/// A `while` that runs another body in each second iteration.
fn alternating(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Alternating");
    let mut count = builder.device::<[u32; 1]>("count");
    let mut odd = builder.device::<[u32; 1]>("odd");
    let mut data = builder.device::<[u32; 4096]>("data");
    let start = builder.memset("start", &mut count, repetitions());
    let more = builder.while_loop("more", &count.row(0), |builder| {
        let test = remainder_of::call(&count, 2, &mut odd);
        let test = builder.kernel("test", Launch::new(1, 1), test);
        let mut other = data.whole();
        let few = |builder: &mut GraphBuilder| {
            builder.kernel("few", Launch::new(1, 128), add_to::call(&mut data, 1));
        };
        let many = |builder: &mut GraphBuilder| {
            builder.kernel("many", Launch::new(32, 128), add_to::call(&mut other, 2));
        };
        let choice = builder.if_else("choice", &odd.row(0), few, many);
        builder.after(choice, &[test]);
        let less = builder.kernel("less", Launch::new(1, 1), count_down::call(&mut count));
        builder.after(less, &[choice]);
    });
    builder.after(more, &[start]);
    builder.build()
}

/// Choices, one after the other, whose kernels of so many blocks run if `flag` is 1.
fn choices(device: &Device, blocks: u32, flag: u32) -> Result<(Graph, Place<[u32; 131_072], OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Choices");
    let mut choice = builder.device::<u32>("choice");
    let mut data = builder.device::<[u32; 131_072]>("data");
    let mut last = builder.memset("set", &mut choice, flag);
    for site in 0..repetitions() {
        let next = builder.if_then(format!("choice{site}"), &choice, |builder| {
            let add = add_to::call(&mut data, 1);
            builder.kernel(format!("add{site}"), Launch::new(blocks, 128), add);
        });
        builder.after(next, &[last]);
        last = next;
    }
    Ok((builder.build()?, data))
}

/// Chains side by side, of kernels that take little longer than the GPU takes to begin one.
fn chains(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Chains");
    for chain in 0..8 {
        let mut data = builder.device::<[u32; 1024]>(format!("data{chain}"));
        let mut last = None;
        for step in 0..16 {
            let add = add_to::call(&mut data, 1);
            let node = builder.kernel(format!("add{chain}_{step}"), Launch::new(4, 256), add);
            builder.after(node, last.as_slice());
            last = Some(node);
        }
    }
    builder.build()
}

/// Kernels that programmatic edges join.
fn early(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Early");
    let mut memory = ["x", "y"].map(|name| builder.device::<[u32; 16384]>(name));
    let weights = builder.device::<[u32; 16384]>("weights");
    let mut last = None;
    for index in 0..96 {
        let [x, y] = &mut memory;
        let (from, to) = if index % 2 == 0 { (&*x, y) } else { (&*y, x) };
        let launch = Launch::new(64, 256);
        let node = match index % 3 {
            0 => builder.kernel(format!("weigh{index}"), launch, weigh::call(&weights, from, to)),
            _ => builder.kernel(format!("step{index}"), launch, step::call(from, to)),
        };
        last.iter()
            .for_each(|&before| builder.after_programmatic(node, &[before]));
        last = Some(node);
    }
    builder.build()
}

#[test]
#[ignore = "needs a CUDA device"]
fn critical_paths_are_as_long_as_launches() -> Result<()> {
    let mut wrong = Vec::new();
    let mut check = |name: String, mut graph: Graph, part: f64| -> Result<()> {
        if !is_as_long_as_a_launch(&name, &mut graph, part)? {
            wrong.push(name);
        }
        Ok(())
    };
    check("programmatic edges".to_owned(), early(&cuda_device())?, 0.15)?;
    check("chains".to_owned(), chains(&cuda_device())?, 0.1)?;
    // The ends of nodes with bodies are not measured, and kernels between predicated ones are in their way.
    for (bodies, part) in [
        (Bodies::Nodes, 0.1),
        (Bodies::Predicated, 0.35),
        (Bodies::Cheapest, 0.35),
    ] {
        let device = cuda_device().with_bodies(bodies);
        check(format!("a `while` that counts, {bodies:?}"), counting(&device)?, part)?;
        check(
            format!("a `while` that converges, {bodies:?}"),
            converging(&device)?,
            part,
        )?;
        check(format!("an `if` in a `while`, {bodies:?}"), alternating(&device)?, part)?;
    }
    for (bodies, blocks) in [
        (Bodies::Nodes, 1),
        (Bodies::Predicated, 1),
        (Bodies::Predicated, 132),
        (Bodies::Predicated, 1024),
    ] {
        let device = cuda_device().with_bodies(bodies);
        for flag in [1, 0] {
            let name = format!("`if`, {bodies:?}, {blocks} blocks, {flag}");
            check(name, choices(&device, blocks, flag)?.0, 0.5)?;
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}

/// A profile says of a node what it adds to a launch: the stated overhead is left out, and nothing else.
#[test]
#[ignore = "needs a CUDA device"]
fn times_of_nodes_are_what_they_add_to_a_launch() -> Result<()> {
    let device = cuda_device();
    let chain = |kernels: usize| {
        let mut builder = GraphBuilder::new(&device, "Chain");
        let mut data = builder.device::<[u32; 1]>("data");
        let mut last = None;
        for kernel in 0..kernels {
            let node = builder.kernel(format!("k{kernel}"), Launch::new(1, 1), add_to::call(&mut data, 1));
            last.iter().for_each(|&before| builder.after(node, &[before]));
            last = Some(node);
        }
        builder.build()
    };
    let (mut short, mut long) = (chain(8)?, chain(72)?);
    let profile = long.profile(5)?;
    assert!(profile.overhead() > Duration::ZERO);
    let added = (time_of_a_launch(&mut long)? - time_of_a_launch(&mut short)?) / 64.0;
    let told = profile.critical_time().as_secs_f64() * 1e6 / 72.0;
    println!(
        "a kernel adds {added:.2} us to a launch, and its profile tells {told:.2} us; overhead {:?}",
        profile.overhead()
    );
    if times_mean_nothing() {
        return Ok(());
    }
    assert!((told - added).abs() < 0.3, "{told:.2} us, not {added:.2} us");
    Ok(())
}
