//! `after auto`: the edges that accesses imply, in graphs of both kinds.

use crate::common::{add_to, device, mistakes, shuffling};
use graph_runtime::{Code, GraphBuilder, Launch, NodeId, Plan, Result, cuda_graph};

/// The nodes that each node runs after, and those of them that accesses imply.
fn edges(plan: &Plan) -> Vec<(Vec<usize>, Vec<usize>)> {
    let nodes = plan.nodes.iter();
    nodes
        .map(|node| (node.after.to_vec(), node.inferred.to_vec()))
        .collect()
}

/// The same edges, all of which accesses imply.
fn all_inferred(after: &[&[usize]]) -> Vec<(Vec<usize>, Vec<usize>)> {
    after.iter().map(|after| (after.to_vec(), after.to_vec())).collect()
}

cuda_graph! {
    /// A program in the order of its text: loops, bodies and a child.
    graph InOrder {
        #![after(auto)]
        device cells: [[u32; 2]; 4];
        device flag: u32;
        host input: u32;
        host output: [[u32; 2]; 4];
        host early: [u32; 2];

        memset start = cells <- 1;
        each i in 0..4 {
            kernel once  = add_to<<<1, 2>>>(&mut cells[i], 1);
            kernel twice = add_to<<<1, 2>>>(&mut cells[i], i as u32);
        }
        for i in 0..3 {
            kernel first  = add_to<<<1, 2>>>(&mut cells[0], 10);
            kernel second = add_to<<<1, 2>>>(&mut cells[1], i as u32);
        }
        memcpy save = cells[0] -> early;
        memcpy load = input -> flag;
        if more = flag {
            kernel inner = add_to<<<1, 2>>>(&mut cells[2], 100);
            kernel again = add_to<<<1, 2>>>(&mut cells[2], 100);
        };
        graph child = Add(data: &mut cells[3]);
        memcpy down = cells -> output;
    }

    graph Add {
        device data: [u32; 2];
        kernel add = add_to<<<1, 2>>>(&mut data, 1000);
        kernel more = add_to<<<1, 2>>>(&mut data, 1000) after auto;
    }
}

#[test]
fn a_program_runs_in_the_order_of_its_text() -> Result<()> {
    for seed in 0..4 {
        let mut graph = InOrder::build(&shuffling(seed))?;
        for more in 0..2 {
            *graph.input_mut()? = more;
            graph.launch()?;
            let sums = [1 + 1 + 30, 1 + 2 + 3, 1 + 3 + 200 * more, 1 + 4 + 2000];
            assert_eq!(*graph.output()?, sums.map(|sum| [sum; 2]));
            assert_eq!(*graph.early()?, [sums[0]; 2]);
        }
    }
    let plan = InOrder::PLAN;
    let names: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
    let inferred = |name: &str| {
        let node = plan
            .nodes
            .iter()
            .find(|node| node.name == name)
            .expect("it is declared");
        assert_eq!(node.after, node.inferred, "{name}");
        node.after.iter().map(|&node| names[node]).collect::<Vec<_>>()
    };
    assert_eq!(inferred("start"), [""; 0]);
    assert_eq!((inferred("once"), inferred("twice")), (vec!["start"], vec!["once"]));
    assert_eq!((inferred("first"), inferred("second")), (vec!["twice"], vec!["twice"]));
    assert_eq!((inferred("save"), inferred("load")), (vec!["first"], vec![]));
    assert_eq!(
        (inferred("again"), inferred("more")),
        (vec!["inner"], vec!["twice", "load"])
    );
    assert_eq!(inferred("child"), ["twice"]);
    assert_eq!(inferred("down"), ["first", "second", "more", "child"]);
    Ok(())
}

cuda_graph! {
    /// Names beside `auto`, and a node that does not ask.
    graph Beside {
        device a: [u32; 2];
        device b: [u32; 2];
        memset zero  = a <- 0;
        memset other = b <- 0;
        kernel add   = add_to<<<1, 2>>>(&mut a, 1) after auto, other;
        join   both  after add;
        kernel last  = add_to<<<1, 2>>>(&mut b, 1) after both;
    }
}

#[test]
fn names_and_inferred_edges_stand_side_by_side() {
    let expected = [
        (vec![], vec![]),
        (vec![], vec![]),
        (vec![1, 0], vec![0]),
        (vec![2], vec![]),
        (vec![3], vec![]),
    ];
    assert_eq!(edges(&Beside::PLAN), expected);
}

cuda_graph! {
    graph Named {
        device a: [u32; 2];
        device b: [u32; 2];
        memset auto = a <- 0;
        memset other = b <- 0 after auto;
    }
}

#[test]
fn a_node_may_be_named_auto() {
    assert_eq!(edges(&Named::PLAN), [(vec![], vec![]), (vec![0], vec![])]);
}

#[test]
fn expressions_have_them_too() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        #![after(auto)]
        device data: [u32; 4];
        host output: [u32; 4];
        memset fill = data <- 5;
        kernel add = add_to<<<1, 4>>>(&mut data, 2);
        memcpy down = data -> output;
    }?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [7; 4]);
    assert_eq!(edges(&graph.plan()), all_inferred(&[&[], &[0], &[1]]));
    Ok(())
}

/// `n` nodes that add to one cell, in bodies or not.
fn adder(builder: &mut GraphBuilder, n: usize) -> Vec<NodeId> {
    let mut data = builder.device::<[u32; 2]>("data");
    let add = |index| builder.kernel(format!("add{index}"), Launch::new(1, 2), add_to::call(&mut data, 1));
    (0..n).map(add).collect()
}

#[test]
fn calls_ask_for_one_node_or_for_all() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "One");
    let nodes = adder(&mut builder, 3);
    builder.after(nodes[1], &nodes[..1]);
    builder.after_auto(nodes[2]);
    let expected = [(vec![], vec![]), (vec![0], vec![]), (vec![1], vec![1])];
    assert_eq!(edges(&builder.build()?.plan()), expected);
    let mut builder = GraphBuilder::new(&device(), "All");
    builder.after_auto_everywhere();
    adder(&mut builder, 3);
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(edges(&graph.plan()), all_inferred(&[&[], &[0], &[1]]));
    Ok(())
}

#[test]
fn calls_order_nodes_of_one_iteration() -> Result<()> {
    for seed in 0..3 {
        let mut builder = GraphBuilder::new(&shuffling(seed), "Each");
        builder.after_auto_everywhere();
        let rows = builder.device::<[[u32; 2]; 3]>("rows");
        let mut output = builder.host::<[[u32; 2]; 3]>("output");
        builder.memset("start", &mut rows.whole(), 1_u32);
        builder.each(0..3, |builder, i| {
            for name in ["one", "two"] {
                let call = add_to::call(&mut rows.row(i), i as u32);
                builder.kernel(name, Launch::new(1, 2), call);
            }
        });
        builder.repeat(0..2, |builder, _| {
            builder.kernel("three", Launch::new(1, 2), add_to::call(&mut rows.row(0), 10));
        });
        builder.memcpy("down", &rows, &mut output);
        let mut graph = builder.build()?;
        graph.launch()?;
        assert_eq!(*graph.host(&output)?, [21, 3, 5].map(|sum| [sum; 2]));
        let plan = graph.plan();
        let after = |name: &str| plan.nodes.iter().find(|node| node.name == name).unwrap().after.to_vec();
        assert_eq!(after("one[1]"), [0]);
        assert_eq!((after("two[1]"), after("three[1]")), (vec![3], vec![7]));
        assert_eq!(after("down"), [4, 6, 8]);
    }
    Ok(())
}

/// `auto` orders nothing between iterations: what races there is still a race.
#[test]
fn iterations_that_meet_race() {
    let mut builder = GraphBuilder::new(&device(), "Each");
    builder.after_auto_everywhere();
    let data = builder.device::<[u32; 2]>("data");
    builder.each(0..2, |builder, _| {
        builder.memset("set", &mut data.whole(), 1_u32);
    });
    let error = mistakes(builder.build());
    assert_eq!(error[0].code, Code::Race);
}

#[test]
fn calls_that_are_wrong_are_told() {
    let mut builder = GraphBuilder::new(&device(), "Wrong");
    let nodes = adder(&mut builder, 2);
    let join = builder.join("join");
    builder.after_auto(join);
    builder.after_auto(nodes[1]);
    builder.after(nodes[0], &[nodes[1]]);
    let found = mistakes(builder.build());
    let codes: Vec<Code> = found.iter().map(|mistake| mistake.code).collect();
    assert_eq!(codes, [Code::UnknownNode, Code::Cycle]);
    assert_eq!(
        found[0].to_string(),
        "node `join` accesses no memory, so `after auto` orders it with no other [unknown-node]\n\
         help: name the nodes that it runs after"
    );
    let other = adder(&mut GraphBuilder::new(&device(), "Other"), 1)[0];
    let mut builder = GraphBuilder::new(&device(), "Foreign");
    adder(&mut builder, 1);
    builder.after_auto(other);
    assert_eq!(mistakes(builder.build())[0].code, Code::UnknownNode);
    let mut builder = GraphBuilder::new(&device(), "Unknown");
    adder(&mut builder, 1);
    builder.after_auto(NodeId::new(7));
    let error = builder.build().unwrap_err();
    assert!(error.to_string().contains('7'), "{error}");
}
