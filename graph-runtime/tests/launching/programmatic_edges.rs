//! Programmatic edges: after an artificially slow kernel each right graph gives the right result, and each way to be
//! no order is refused when the graph is built. (`ui-tests` has the same ways, refused when it is compiled.)

use crate::common::describe::describe;
use crate::common::*;
use graph_runtime::private::Declare as _;

/// Launches of each graph: an order that is missing need not show at once.
const LAUNCHES: u32 = 20;

/// The steps of a slow kernel: some 100 us on a GPU.
fn steps() -> u32 {
    (slow_steps() / 80) as u32
}

cuda_graph! {
    /// Every kernel may start before the one before it has ended.
    graph Chain {
        param  value: u32 = 0;
        param  steps: u32 = 0;
        device a:      [u32; 64];
        device b:      [u32; 64];
        device c:      [u32; 64];
        host   output: [u32; 64];

        kernel first  = slow_write<<<2, 32>>>(&mut a, value, steps);
        kernel second = slow_step<<<2, 32>>>(&a, &mut b, steps)  after programmatic(first);
        kernel third  = step<<<2, 32>>>(&b, &mut c)              after programmatic(second);
        #[allow(programmatic_edge)]
        kernel fourth = bump<<<2, 32>>>(&mut c, value)           after programmatic(third);
        memcpy down   = c -> output                              after fourth;
    }
}

#[test]
fn a_chain_is_in_order_also_launched_in_a_row_and_with_its_middle_disabled() -> Result<()> {
    let mut graph = Chain::build(&device())?;
    graph.set_steps(steps())?;
    for value in 1..=LAUNCHES {
        graph.set_value(value)?;
        graph.launch()?;
        assert_eq!(graph.output()?, &[2 * value + 2; 64]);
    }

    for value in 1..=LAUNCHES {
        graph.set_value(value)?;
        graph.launch()?;
    }
    assert_eq!(graph.output()?, &[2 * LAUNCHES + 2; 64]);

    graph.set_value(100)?;
    graph.launch()?;
    graph.second().set_enabled(false)?;
    for value in 1..=LAUNCHES {
        graph.set_value(value)?;
        graph.launch()?;
        let b = 101; // as the first launch left it
        assert_eq!(graph.output()?, &[b + 1 + value; 64]);
        assert_eq!(graph.a()?.read()?[0], value);
    }
    Ok(())
}

#[test]
fn what_runs_behind_a_disabled_kernel_runs_behind_what_that_waits_for() -> Result<()> {
    // The kernel after `second` reads what `first` writes; `second` waits for it.
    let mut graph = cuda_graph! { &device() =>
        param  value: u32 = 0;
        device a:      [u32; 64];
        device b:      [u32; 64];
        device c:      [u32; 64];
        host   copied: [u32; 64];
        host   output: [u32; 64];

        kernel first  = slow_write<<<2, 32>>>(&mut a, value, steps());
        kernel second = step<<<2, 32>>>(&a, &mut b)                     after programmatic(first);
        memcpy copy   = a -> copied                                     after second;
        #[allow(programmatic_edge)]
        kernel third  = step<<<2, 32>>>(&a, &mut c)                     after programmatic(second);
        memcpy down   = c -> output                                     after third;
    }?;
    for enabled in [true, false] {
        graph.second().set_enabled(enabled)?;
        for value in 1..=LAUNCHES {
            graph.set_value(value)?;
            graph.launch()?;
            let found = (graph.copied()?[63], graph.output()?[0]);
            assert_eq!(found, (value, value + 1), "enabled: {enabled}");
        }
    }
    Ok(())
}

#[test]
fn the_plan_tells_them_apart() -> Result<()> {
    let of = |plan: &Plan| {
        let node = |name: &str| plan.nodes.iter().find(|node| node.name == name).unwrap();
        ["third", "down"].map(|name| node(name).programmatic.to_vec())
    };
    assert_eq!(of(&Chain::PLAN), [vec![1], vec![]]);
    assert!(Chain::PLAN.to_mermaid().contains("n1 -. programmatic .-> n2"));
    let mut builder = GraphBuilder::new(&Device::emulator(), "Chain");
    let [mut a, mut b] = ["a", "b"].map(|name| builder.device::<[u32; 64]>(name));
    let first = builder.kernel("first", Launch::new(2, 32), slow_write::call(&mut a, 1, 1));
    let second = builder.kernel("second", Launch::new(2, 32), step::call(&a, &mut b));
    builder.after_programmatic(second, &[first]);
    assert_eq!(builder.build()?.plan().nodes[1].programmatic[..], [0]);
    Ok(())
}

#[test]
fn edges_of_both_kinds_meet() -> Result<()> {
    // Edges of both kinds into one node and out of one node, and a path of plain edges beside a programmatic one.
    let mut graph = cuda_graph! { &device() =>
        param  value: u32 = 0;
        param  steps: u32 = 0;
        device weights: [u32; 64];
        device a:       [u32; 64];
        device b:       [u32; 64];
        device c:       [u32; 64];
        device sum:     [u32; 64];
        host   output:  [u32; 64];

        kernel first  = slow_write<<<2, 32>>>(&mut a, value, steps);
        kernel other  = slow_write<<<2, 32>>>(&mut c, 5, steps);
        kernel plain  = never_waits<<<2, 32>>>(&a, &mut b)        after first;
        kernel both   = weigh<<<2, 32>>>(&weights, &b, &mut sum)  after plain, programmatic(first), programmatic(other);
        kernel last   = bump<<<2, 32>>>(&mut c, 1)                after programmatic(both);
        memcpy down   = sum -> output                             after both;
    }?;
    graph.weights_mut()?.copy_from(&[3; 64])?;
    graph.set_steps(steps())?;
    for value in 1..=LAUNCHES {
        graph.set_value(value)?;
        graph.launch()?;
        assert_eq!(graph.output()?, &[3 * (value + 1); 64]);
        assert_eq!(*graph.c()?.read()?, [6; 64]);
    }
    if let Some(raw) = graph.raw() {
        let described = describe(&raw);
        assert_eq!(described.matches("true").count(), 3, "{described}");
    }
    Ok(())
}

#[test]
fn nothing_is_written_that_is_still_read() -> Result<()> {
    // The next kernel writes memory that a slow one still reads.
    let mut graph = cuda_graph! { &device() =>
        param  steps: u32 = 0;
        device data:   [u32; 65];
        device copy:   [u32; 64];
        host   output: [u32; 64];

        kernel read  = slow_read<<<2, 32>>>(&data, &mut copy, steps);
        #[allow(programmatic_edge)]
        kernel write = bump<<<2, 32>>>(&mut data, 1) after programmatic(read);
        memcpy down  = copy -> output                after read;
    }?;
    graph.set_steps(steps())?;
    for launch in 0..LAUNCHES {
        graph.launch()?;
        assert_eq!(graph.output()?, &[launch; 64]);
    }
    Ok(())
}

#[test]
fn bodies_have_programmatic_edges() -> Result<()> {
    // In bodies.
    let mut graph = cuda_graph! { &device() =>
        param  steps: u32 = 0;
        device flag: u32;
        device a:    [u32; 64];
        device b:    [u32; 64];
        device more: [u32; 32];

        memset on     = flag <- 1_u32;
        memset begin  = more[0..1] <- 1_u32;
        if maybe = flag {
            kernel first  = slow_write<<<2, 32>>>(&mut a, 7, steps);
            kernel second = step<<<2, 32>>>(&a, &mut b) after programmatic(first);
        } after on;
        while repeat = more[0] {
            kernel third  = slow_step<<<2, 32>>>(&b, &mut a, steps);
            #[allow(programmatic_edge)]
            kernel fourth = bump<<<1, 32>>>(&mut more, u32::MAX) after programmatic(third);
        } after maybe, begin;
    }?;
    graph.set_steps(steps())?;
    for _ in 0..LAUNCHES {
        graph.more_mut()?.copy_from(&[1; 32])?;
        graph.launch()?;
        assert_eq!((*graph.b()?.read()?, *graph.a()?.read()?), ([8; 64], [9; 64]));
        assert_eq!(*graph.more()?.read()?, [0; 32]);
    }
    Ok(())
}

/// Memory of one graph.
struct Parts {
    a: Place<[u32; 64], OnDevice>,
    b: Place<[u32; 64], OnDevice>,
}

/// Builds `slow_write -> down` by a programmatic edge, where `down` is a call of what the caller says.
fn behind<const N: usize>(down: impl FnOnce(&mut Parts) -> KernelCall<N>) -> Result<Graph> {
    between(slow_write_to_a, down)
}

fn slow_write_to_a(parts: &mut Parts) -> KernelCall<3> {
    slow_write::call(&mut parts.a, 1, steps())
}

fn between<const M: usize, const N: usize>(
    up: impl FnOnce(&mut Parts) -> KernelCall<M>,
    down: impl FnOnce(&mut Parts) -> KernelCall<N>,
) -> Result<Graph> {
    let mut builder = GraphBuilder::new(&device(), "Test");
    let mut parts = Parts {
        a: builder.device("a"),
        b: builder.device("b"),
    };
    let (up, down) = (up(&mut parts), down(&mut parts));
    let up = builder.kernel("up", Launch::new(2, 32), up);
    let down = builder.kernel("down", Launch::new(2, 32), down);
    builder.after_programmatic(down, &[up]);
    builder.build()
}

/// The first note of the one mistake, which is about the edge of `down`.
fn refusal(built: Result<Graph>) -> String {
    let mistake = mistake(built, Code::ProgrammaticEdge);
    assert_eq!(mistake.message, "node `down` may run before `up` has ended");
    mistake.notes[0].clone()
}

#[test]
fn kernels_that_do_not_wait_or_access_memory_early_are_refused() {
    refusal(behind(|parts| never_waits::call(&parts.a, &mut parts.b)))
        .reads("its kernel `never_waits` never waits for it");
    refusal(behind(|parts| waits_predicated::call(&parts.a, &mut parts.b, 1)))
        .begins("its kernel `waits_predicated` can end before it has waited");
    refusal(behind(|parts| ends_early::call(&parts.a, &mut parts.b, 64)))
        .begins("its kernel `ends_early` can end before it has waited");

    let early = "which a node of the graph writes, before it has waited";
    refusal(behind(|parts| reads_early::call(&parts.a, &mut parts.b)))
        .begins(&format!("its kernel `reads_early` may access `input`, {early}"));
    let note = refusal(between(
        |parts| slow_step::call(&parts.b, &mut parts.a, steps()),
        |parts| writes_early::call(&mut parts.b),
    ));
    note.begins(&format!("its kernel `writes_early` may access `out`, {early}"));
}

#[test]
fn loads_are_stale_or_early_only_where_a_node_before_writes() -> Result<()> {
    refusal(behind(|parts| loads_stale::call(&parts.a, &mut parts.b))).begins(
        "its kernel `loads_stale` may load `input`, which a node before it writes, from a cache that is not coherent",
    );
    // Memory that no earlier node writes may be in any cache.
    let mut builder = GraphBuilder::new(&device(), "Test");
    let weights = builder.device::<[u32; 64]>("weights");
    let mut a = builder.device::<[u32; 64]>("a");
    let mut b = builder.device::<[u32; 64]>("b");
    let up = builder.kernel("up", Launch::new(2, 32), slow_write::call(&mut a, 1, steps()));
    let down = builder.kernel("down", Launch::new(2, 32), loads_stale::call(&weights, &mut b));
    builder.after_programmatic(down, &[up]);
    let mut graph = builder.build()?;
    graph.device_mut(&weights)?.copy_from(&[8; 64])?;
    graph.launch()?;
    assert_eq!(*graph.device(&b)?.read()?, [9; 64]);

    let build = |written: std::ops::Range<usize>| {
        let mut builder = GraphBuilder::new(&device(), "Parts");
        let data = builder.device::<[[u32; 64]; 2]>("data");
        let mut out = builder.device::<[u32; 64]>("out");
        let call = slow_write::call(&mut data.rows(written), 1, steps());
        let up = builder.kernel("up", Launch::new(2, 32), call);
        let down = builder.kernel("down", Launch::new(2, 32), reads_early::call(&data.row(1), &mut out));
        builder.after_programmatic(down, &[up]);
        (builder.build(), data, out)
    };
    refusal(build(1..2).0);
    refusal(build(0..2).0);
    let (built, data, out) = build(0..1);
    let mut graph = built?;
    graph.launch()?;
    assert_eq!(*graph.device(&out)?.read()?, [1; 64]);
    assert_eq!(*graph.device(&data)?.read()?, [[1; 64], [0; 64]]);
    Ok(())
}

/// A chain of three in which the middle one lets the last start before it has waited itself.
fn chain_of_three<const N: usize>(last: impl FnOnce(&mut Parts) -> KernelCall<N>) -> (Result<Graph>, Parts) {
    let mut builder = GraphBuilder::new(&device(), "Transitive");
    let mut parts = Parts {
        a: builder.device("a"),
        b: builder.device("b"),
    };
    let mut c: Place<[u32; 64], OnDevice> = builder.device("c");
    let first = builder.kernel("first", Launch::new(2, 32), slow_write_to_a(&mut parts));
    let up = builder.kernel("up", Launch::new(2, 32), step::call(&parts.a, &mut c));
    let call = last(&mut parts);
    let down = builder.kernel("down", Launch::new(2, 32), call);
    builder.after_programmatic(up, &[first]);
    builder.after_programmatic(down, &[up]);
    (builder.build(), parts)
}

#[test]
fn the_last_of_a_chain_waits_for_the_first() -> Result<()> {
    // It reads what the first writes, which is ordered by nothing but the middle one's wait and its own.
    refusal(chain_of_three(|parts| never_waits::call(&parts.a, &mut parts.b)).0);
    refusal(chain_of_three(|parts| reads_early::call(&parts.a, &mut parts.b)).0);
    refusal(chain_of_three(|parts| loads_stale::call(&parts.a, &mut parts.b)).0);
    let (graph, parts) = chain_of_three(|parts| step::call(&parts.a, &mut parts.b));
    let mut graph = graph?;
    for _ in 0..LAUNCHES {
        graph.device_mut(&parts.a)?.copy_from(&[0; 64])?;
        graph.launch()?;
        assert_eq!(*graph.device(&parts.b)?.read()?, [2; 64]);
    }
    Ok(())
}

#[test]
fn other_nodes_and_second_edges_are_refused() {
    let mut builder = GraphBuilder::new(&device(), "Test");
    let (mut a, mut b) = (builder.device::<[u32; 64]>("a"), builder.device::<[u32; 64]>("b"));
    let set = builder.memset("set", &mut a, 1_u32);
    let first = builder.kernel("first", Launch::new(2, 32), step::call(&a, &mut b));
    let second = builder.kernel("second", Launch::new(2, 32), bump::call(&mut b, 1));
    builder.after_programmatic(first, &[set]);
    builder.after(second, &[first]);
    builder.after_programmatic(second, &[first, NodeId::new(9)]);
    let found = mistakes(builder.build()).into_iter();
    let found: Vec<String> = found
        .map(|mistake| format!("{} [{}]", mistake.message, mistake.code))
        .collect();
    let expected = [
        "node `second` runs after node 9, which does not exist [unknown-node]",
        "node `second` names `first` twice in its `after` list [duplicate-dependency]",
        "node `first` has a programmatic edge from `set`, but `set` is a memset node [programmatic-edge]",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_older_driver_gets_plain_edges() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Old");
    builder.as_if_driver(12_020);
    let (mut a, mut b) = (builder.device::<[u32; 64]>("a"), builder.device::<[u32; 64]>("b"));
    let first = builder.kernel("first", Launch::new(2, 32), slow_write::call(&mut a, 4, steps()));
    let second = builder.kernel("second", Launch::new(2, 32), step::call(&a, &mut b));
    builder.after_programmatic(second, &[first]);
    let graph = launched(builder.build())?;
    assert_eq!(*graph.device(&b)?.read()?, [5; 64]);
    Ok(())
}

cuda_graph! {
    /// In a `for`, into it and out of it.
    graph Repeated(n: usize) {
        param  value: u32 = 0;
        param  steps: u32 = 0;
        device a: [u32; 64];
        device b: [u32; 64];
        device c: [u32; 64];

        kernel first = slow_write<<<2, 32>>>(&mut a, value, steps);
        for i in 0..n {
            kernel there = slow_step<<<2, 32>>>(&a, &mut b, steps)  after programmatic(first);
            kernel back  = step<<<2, 32>>>(&b, &mut a)              after programmatic(there);
        }
        kernel last  = step<<<2, 32>>>(&a, &mut c)                  after programmatic(back);
    }
}

#[test]
fn iterations_have_programmatic_edges() -> Result<()> {
    for n in [0, 1, 3] {
        let mut graph = Repeated::build(&device(), n)?;
        graph.set_steps(steps())?;
        for value in 1..=LAUNCHES {
            graph.set_value(value)?;
            graph.launch()?;
            assert_eq!(*graph.c()?.read()?, [value + 2 * n as u32 + 1; 64], "{n} iterations");
        }
    }
    Ok(())
}

cuda_graph! {
    /// Between iterations of an `each` in an `each`, and out of it.
    graph Chains(n: usize) {
        param  value: u32 = 0;
        param  steps: u32 = 0;
        device a: [[u32; 64]; 2];
        device b: [[u32; 64]; 2];
        device c: [[u32; 64]; 2];

        each chain in 0..2 {
            kernel first = slow_write<<<2, 32>>>(&mut a[chain], value, steps);
            each i in 0..n {
                kernel there = slow_step<<<2, 32>>>(&a[chain], &mut b[chain], steps)
                    after programmatic(first), programmatic(back(chain, i - 1));
                kernel back  = step<<<2, 32>>>(&b[chain], &mut a[chain]) after programmatic(there);
            }
        }
        each chain in 0..2 {
            kernel last = step<<<2, 32>>>(&a[chain], &mut c[chain]) after first, back;
        }
    }
}

#[test]
fn edges_between_iterations_of_an_each_are_programmatic() -> Result<()> {
    for n in [0, 1, 3] {
        let mut graph = Chains::build(&device(), n)?;
        graph.set_steps(steps())?;
        for value in 1..=LAUNCHES {
            graph.set_value(value)?;
            graph.launch()?;
            let expected = [[value + 2 * n as u32 + 1; 64]; 2];
            assert_eq!(*graph.c()?.read()?, expected, "{n} iterations");
        }
    }
    let plan = Chains::build(&Device::emulator(), 2)?.plan();
    let later = plan.nodes.iter().find(|node| node.name == "there[1][1]").unwrap();
    let early = later.programmatic.iter().map(|&node| &plan.nodes[node].name[..]);
    assert_eq!(early.collect::<Vec<_>>(), ["first[1]", "back[1][0]"]);
    let drawing = Chains::PLAN.to_mermaid();
    assert!(drawing.contains("\"programmatic(chain, i - 1)\""), "{drawing}");
    Ok(())
}

#[test]
fn edges_between_iterations_are_programmatic_call_by_call() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Chain");
    let data = builder.device::<[[u32; 64]; 4]>("data");
    let launch = || Launch::new(2, 32);
    let seed = builder.kernel("seed", launch(), slow_write::call(&mut data.row(0), 7, steps()));
    let next = builder.each(0..3, |builder, i| {
        let node = builder.kernel("next", launch(), step::call(&data.row(i), &mut data.row(i + 1)));
        builder.after_programmatic_iteration(node, node, &[-1]);
        node
    });
    builder.after_programmatic(next[0], &[seed]);
    let mut graph = builder.build()?;
    let plan = graph.plan();
    let early: Vec<&[usize]> = plan.nodes.iter().map(|node| &node.programmatic[..]).collect();
    assert_eq!(early, [&[][..], &[0], &[1], &[2]]);
    graph.launch()?;
    assert_eq!(graph.device(&data)?.read()?[3], [10; 64]);
    Ok(())
}
