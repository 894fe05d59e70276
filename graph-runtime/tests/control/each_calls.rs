//! Parallel loops that are built call by call: chains, wavefronts, loops in loops and in bodies, and their mistakes.

use crate::common::*;
use crate::loops::mixed;
use graph_runtime::private::Declare as _;

type Rows<const N: usize> = Place<[[u32; 2]; N], OnDevice>;

/// A kernel that makes something of one row and another.
fn mix_rows<const N: usize>(
    builder: &mut GraphBuilder,
    name: &'static str,
    rows: &Rows<N>,
    from: usize,
    to: usize,
) -> NodeId {
    builder.kernel(name, Launch::new(1, 2), mix::call(&rows.row(from), &mut rows.row(to)))
}

#[test]
fn chains_run_side_by_side_and_each_in_order() -> Result<()> {
    const CHAINS: usize = 5;
    for seed in 0..3 {
        let mut builder = GraphBuilder::new(&shuffling(seed), "Chains");
        let rows = builder.device::<[[u32; 2]; 6]>("rows");
        let mut output = builder.host::<[[u32; 2]; 6]>("output");
        let ends = builder.each(0..CHAINS, |builder, chain| {
            builder.each(0..4, |builder, _| {
                let step = mix_rows(builder, "step", &rows, 5, chain);
                builder.after_iteration(step, step, &[0, -1]);
                step
            })
        });
        let download = builder.memcpy("download", &rows, &mut output);
        builder.after(download, &ends.concat());
        let mut graph = builder.build()?;
        graph
            .device_mut(&rows)?
            .copy_from(&[[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]])?;
        graph.launch()?;
        let mut expected = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]];
        let last = expected[5];
        for row in &mut expected[..CHAINS] {
            (0..4).for_each(|_| mixed(last, row));
        }
        assert_eq!(graph.host(&output)?, &expected);
        let plan = graph.plan();
        assert_eq!(plan.levels(), 5, "four steps and the copy");
        assert_eq!(plan.nodes.iter().filter(|node| node.level == 0).count(), CHAINS);
    }
    Ok(())
}

#[test]
fn a_block_runs_after_those_above_it_and_to_its_left() -> Result<()> {
    const N: usize = 6;
    for seed in 0..2 {
        let mut builder = GraphBuilder::new(&shuffling(seed), "Wavefront");
        let blocks = builder.device::<[[[u32; 2]; N]; N]>("blocks");
        builder.each(0..N, |builder, i| {
            builder.each(0..N, |builder, j| {
                let mut block = blocks.row(i).row(j);
                let launch = Launch::new(1, 2);
                let start = builder.kernel("start", launch, add_to::call(&mut block, (i * N + j) as u32));
                let [mut above, mut left] = [start; 2];
                if i > 0 {
                    above = builder.kernel("above", launch, mix::call(&blocks.row(i - 1).row(j), &mut block));
                    builder.after(above, &[start]);
                    left = above;
                }
                if j > 0 {
                    left = builder.kernel("left", launch, mix::call(&blocks.row(i).row(j - 1), &mut block));
                    builder.after(left, &[above]);
                }
                let block = builder.join("block");
                builder.after(block, &[left]);
                builder.after_iteration(start, block, &[-1, 0]);
                builder.after_iteration(start, block, &[0, -1]);
            });
        });
        let graph = launched(builder.build())?;
        let mut expected = [[[0; 2]; N]; N];
        for i in 0..N {
            for j in 0..N {
                expected[i][j] = [(i * N + j) as u32; 2];
                if i > 0 {
                    let above = expected[i - 1][j];
                    mixed(above, &mut expected[i][j]);
                }
                if j > 0 {
                    let left = expected[i][j - 1];
                    mixed(left, &mut expected[i][j]);
                }
            }
        }
        assert_eq!(*graph.device(&blocks)?.read()?, expected);
    }
    Ok(())
}

#[test]
fn loops_of_both_kinds_are_in_each_other() -> Result<()> {
    for seed in 0..2 {
        let mut builder = GraphBuilder::new(&shuffling(seed), "Mixed");
        let rows = builder.device::<[[u32; 2]; 4]>("rows");
        // In each round all rows but the last take the last, then the last takes the first.
        let mut before = None;
        builder.repeat(0..3, |builder, _| {
            let takes = builder.each(0..3, |builder, row| mix_rows(builder, "take", &rows, 3, row));
            let give = mix_rows(builder, "give", &rows, 0, 3);
            builder.after(give, &takes);
            before = Some(give);
        });
        // Then each row but the last takes it three times, one after the other.
        builder.each(0..3, |builder, row| {
            builder.repeat(0..3, |builder, _| {
                let again = mix_rows(builder, "again", &rows, 3, row);
                builder.after(again, before.as_slice());
            });
        });
        let mut graph = builder.build()?;
        let mut expected = [[1, 2], [3, 4], [5, 6], [7, 8]];
        graph.device_mut(&rows)?.copy_from(&expected)?;
        graph.launch()?;
        for _ in 0..3 {
            let last = expected[3];
            expected[..3].iter_mut().for_each(|row| mixed(last, row));
            let first = expected[0];
            mixed(first, &mut expected[3]);
        }
        let last = expected[3];
        for row in &mut expected[..3] {
            (0..3).for_each(|_| mixed(last, row));
        }
        assert_eq!(*graph.device(&rows)?.read()?, expected);
    }
    Ok(())
}

#[test]
fn bodies_and_children_hold_parallel_loops() -> Result<()> {
    for seed in 0..2 {
        let mut builder = GraphBuilder::new(&shuffling(seed), "Bodies");
        let rows = builder.device::<[[u32; 2]; 4]>("rows");
        let mut more = builder.device::<u32>("more");
        let steps = |builder: &mut GraphBuilder| {
            builder.each(0..3, |builder, row| {
                let twice = builder.each(0..2, |builder, _| {
                    let step = mix_rows(builder, "step", &rows, 3, row);
                    builder.after_iteration(step, step, &[0, -1]);
                    step
                });
                let last = mix_rows(builder, "last", &rows, 3, row);
                builder.after(last, &twice);
            });
        };
        let set = builder.memset("set", &mut more, 1_u32);
        let again = builder.while_loop("again", &more.whole(), |body| {
            steps(body);
            body.memset("stop", &mut more, 0_u32);
        });
        builder.after(again, &[set]);
        let children = builder.each(0..3, |builder, _| {
            let child = builder.child("child", steps);
            builder.after(child, &[again]);
            builder.after_iteration(child, child, &[-1]);
            child
        });
        assert_eq!(children.len(), 3);
        let mut graph = builder.build()?;
        let mut expected = [[1, 2], [3, 4], [5, 6], [7, 8]];
        graph.device_mut(&rows)?.copy_from(&expected)?;
        graph.launch()?;
        for row in &mut expected[..3] {
            (0..12).for_each(|_| mixed([7, 8], row));
        }
        assert_eq!(*graph.device(&rows)?.read()?, expected);
        assert_eq!(graph.node(children[2]).name(), "child[2]");
    }
    Ok(())
}

/// Fails to build, with exactly these mistakes.
fn has_mistakes(builder: GraphBuilder, expected: &[&str]) {
    let diagnostics = mistakes(builder.build());
    let found: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn iterations_and_nodes_that_meet_are_named_once() {
    let mut builder = GraphBuilder::new(&device(), "Meet");
    let data = builder.device::<[u32; 2000]>("data");
    builder.each(0..1000, |builder, i| {
        builder.kernel("set", Launch::new(1, 1), add_to::call(&mut data.rows(i..i + 3), 1));
    });
    has_mistakes(
        builder,
        &[
            "iterations 0 and 1 of `set` both access `data` and can run at the same time [race]\n\
           note: `set[0]` writes `data[0..12]`, `set[1]` writes `data[4..16]`\n\
           note: both have `data[4..12]`\n\
           help: order one iteration after the other with `after_iteration`, or make the parts disjoint",
        ],
    );
    let mut builder = GraphBuilder::new(&device(), "Meet");
    let data = builder.device::<[u32; 20]>("data");
    builder.each(0..3, |builder, i| {
        builder.each(5..8, |builder, j| {
            let set = builder.memset("set", &mut data.row(i + j), 1_u32);
            builder.after_iteration(set, set, &[-1, 0]);
        });
    });
    has_mistakes(
        builder,
        &[
            "iterations (0, 6) and (1, 5) of `set` both access `data` and can run at the same time [race]\n\
           note: `set[0][6]` writes `data[24..28]`, `set[1][5]` writes it\n\
           help: order one iteration after the other with `after_iteration`, or give each iteration memory of its own",
        ],
    );

    let mut builder = GraphBuilder::new(&device(), "Slanted");
    let data = builder.device::<[u32; 16]>("data");
    builder.each(0..4, |builder, i| {
        let write = builder.memset("write", &mut data.row(2 * i + 2), 1_u32);
        builder.each(i + 1..i + 2, |builder, _| {
            let again = builder.memset("again", &mut data.row(2 * i), 2_u32);
            builder.after(again, &[write]);
            builder.after_iteration(again, again, &[-1, 0]);
        });
    });
    has_mistakes(
        builder,
        &[
            "nodes `write[0]` and `again[1][2]` can run at the same time and both access `data` [race]\n\
           note: `write[0]` writes `data[8..12]`, `again[1][2]` writes it\n\
           help: add `write[0]` to the `after` list of `again[1][2]`",
        ],
    );

    let mut builder = GraphBuilder::new(&device(), "Two");
    let data = builder.device::<[u32; 8]>("data");
    builder.each(0..4, |builder, i| {
        let first = builder.memset("first", &mut data.row(i), 1_u32);
        let second = builder.memset("second", &mut data.row(i + 1), 1_u32);
        builder.after(second, &[first]);
    });
    has_mistakes(
        builder,
        &[
            "nodes `second[0]` and `first[1]` can run at the same time and both access `data` [race]\n\
           note: `second[0]` writes `data[4..8]`, `first[1]` writes it\n\
           help: add `second[0]` to the `after` list of `first[1]`",
        ],
    );
}

#[test]
fn other_iterations_are_those_of_a_node_of_the_current_one() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Wrong");
    let outside = builder.join("outside");
    let mut inner = None;
    builder.each(0..2, |builder, i| {
        let node = builder.join("node");
        if i == 1 {
            builder.after_iteration(node, outside, &[-1]);
            builder.after_iteration(node, inner.expect("added before"), &[-1]);
            builder.after_iteration(node, node, &[-1, 0]);
            builder.after_iteration(node, node, &[]);
            builder.after_iteration(NodeId::new(999), node, &[-1]);
            builder.after_iteration(node, NodeId::new(998), &[-1]);
        }
        inner = Some(node);
    });
    let error = builder.build().unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().filter(|line| line.ends_with("[unknown-node]")).collect();
    let expected = [
        "node `node[1]` runs after another iteration of `outside`, given by 1 number, but `outside` is no node of \
             the current iteration of 1 loop [unknown-node]",
        "node `node[1]` runs after another iteration of `node[0]`, given by 1 number, but `node[0]` is no node of \
             the current iteration of 1 loop [unknown-node]",
        "node `node[1]` runs after another iteration of `node[1]`, given by 2 numbers, but `node[1]` is no node of \
             the current iteration of 2 loops [unknown-node]",
        "node `node[1]` runs after another iteration of `node[1]`, given by 0 numbers, but `node[1]` is no node of \
             the current iteration of 0 loops [unknown-node]",
        "node `node[1]` runs after node 998, which does not exist [unknown-node]",
        "node 999, which does not exist, runs after node 1 [unknown-node]",
    ];
    assert_eq!(lines, expected);
    let mut builder = GraphBuilder::new(&device(), "Circle");
    builder.each(0..3, |builder, _| {
        let node = builder.join("node");
        builder.after_iteration(node, node, &[1]);
        builder.after_iteration(node, node, &[-2]);
        builder.after_iteration(node, node, &[isize::MIN]);
    });
    refused(builder.build()).says("[cycle]");
    Ok(())
}

/// `first`, then a loop of so many iterations, then `last`, by calls of an expansion: [`GraphBuilder`] and the edges of
/// the nodes that are no joins.
fn expanded(outer: usize, inner: usize) -> Result<Vec<String>> {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Expanded");
    builder.join("first");
    for i in builder.begin_each(&[("a", 1), ("b", 2), ("c", 1)], 0..outer) {
        builder.begin_iteration(i);
        builder.join("a");
        for j in builder.begin_each(&[("b", 1)], 0..inner) {
            builder.begin_iteration(j);
            builder.join("b");
        }
        builder.end_loop();
        builder.join("c");
    }
    builder.end_loop();
    builder.join("last");
    builder.end_nodes(5);
    builder.edges(&[[0, 1, 0], [1, 2, 1], [2, 3, 1], [3, 4, 0]]);
    builder.shifted_edges(&[(2, 2, [-1, 0])]);
    let plan = builder.build()?.plan();
    let name = |node: usize| plan.nodes[node].name.to_string();
    let after = |after: &[usize]| after.iter().map(|&node| name(node)).collect::<Vec<_>>().join(" ");
    let nodes = plan.nodes.iter();
    Ok(nodes
        .map(|node| format!("{}: {}", node.name, after(&node.after)))
        .collect())
}

#[test]
fn edges_of_declarations_become_those_of_all_iterations() -> Result<()> {
    assert_eq!(
        expanded(2, 2)?,
        [
            "first: ",
            "a[0]: first",
            "b[0][0]: a[0]",
            "b[0][1]: a[0]",
            "c[0]: b[0][0] b[0][1]",
            "a[1]: first",
            "b[1][0]: a[1] b[0][0]",
            "b[1][1]: a[1] b[0][1]",
            "c[1]: b[1][0] b[1][1]",
            "last: c[0] c[1]",
        ]
    );
    // The order through a loop without iterations remains.
    let found = expanded(2, 0)?;
    assert_eq!(found[2], "b[0][]: a[0]");
    assert_eq!(found[3], "c[0]: b[0][]");
    assert_eq!(found[5], "b[1][]: a[1] b[0][]");
    let expected = ["first: ", "a[]: first", "b[][]: a[]", "c[]: b[][]", "last: c[]"];
    assert_eq!(expanded(0, 3)?, expected);
    Ok(())
}

#[test]
fn many_iterations_after_many_others_meet_in_a_join() -> Result<()> {
    let mut builder = GraphBuilder::new(&shuffling(7), "Many");
    let rows = builder.device::<[[u32; 2]; 40]>("rows");
    let sums = builder.device::<[[u32; 2]; 40]>("sums");
    for i in builder.begin_each(&[("set", 1)], 0..40) {
        builder.begin_iteration(i);
        builder.memset("set", &mut rows.row(i), i as u32);
    }
    builder.end_loop();
    for i in builder.begin_each(&[("sum", 1), ("last", 1)], 0..40) {
        builder.begin_iteration(i);
        builder.kernel("sum", Launch::new(1, 2), mix::call(&rows.row(39 - i), &mut sums.row(i)));
        builder.kernel(
            "last",
            Launch::new(1, 2),
            mix::call(&rows.row((i + 7) % 40), &mut sums.row(i)),
        );
    }
    builder.end_loop();
    builder.end_nodes(3);
    builder.edges(&[[0, 1, 0], [1, 2, 1]]);
    let mut graph = builder.build()?;
    let plan = graph.plan();
    let joins: Vec<_> = plan.nodes.iter().filter(|node| node.kind == NodeKind::Join).collect();
    assert_eq!(joins.len(), 1);
    assert_eq!((&*joins[0].name, joins[0].after.len()), ("set[0] before sum[0]", 40));
    graph.launch()?;
    let expected = std::array::from_fn(|i| {
        let mut sum = [0; 2];
        mixed([39 - i as u32; 2], &mut sum);
        mixed([(i as u32 + 7) % 40; 2], &mut sum);
        sum
    });
    assert_eq!(*graph.device(&sums)?.read()?, expected);
    Ok(())
}
