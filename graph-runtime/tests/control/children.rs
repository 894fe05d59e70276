//! Graphs as nodes of others: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;
use graph_runtime::private::Declare as _;

cuda_graph! {
    graph Add {
        device data: [u32; 4];
        param value: u32 = 2;

        kernel add = add_to<<<1, 4>>>(&mut data, value);
    }

    graph Parts {
        device data: [[u32; 4]; 2];
        host output: [[u32; 4]; 2];

        memset ones = data <- 1;
        graph first = Add(data: &mut data[1]) after ones;
        graph second = Add(data: &mut data[1], value: 30) after first;
        kernel last = add_to<<<1, 4>>>(&mut data[1], 100) after second;
        memcpy download = data -> output after last;
    }
}

#[test]
fn bound_parts_and_params_are_used_by_one_node_of_the_plan() -> Result<()> {
    let mut graph = launched(Parts::build(&device()))?;
    assert_eq!(*graph.output()?, [[1; 4], [133; 4]]);
    assert_eq!(graph.first().name(), "first");
    assert_eq!(graph.last().name(), "last");
    graph.last().set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [[1; 4], [33; 4]]);

    let plan = Parts::PLAN;
    assert_eq!(plan.nodes.len(), 5);
    assert_eq!(plan.nodes[1].kind, NodeKind::Graph);
    assert_eq!(plan.nodes[1].accesses.len(), 1);
    Ok(())
}

cuda_graph! {
    /// Twice the input, by way of scratch memory.
    graph Doubled<const N: usize>(times: u32) {
        device input: [u32; N];
        device output: [u32; N];
        scratch sum: [u32; N];

        memset clear = sum <- 0;
        for i in 0..times as usize {
            kernel add = accumulate<<<1, N>>>(&input, &mut sum) after clear;
        }
        memcpy save = sum -> output after add;
    }

    graph Nested<const N: usize> {
        device input: [u32; N];
        device middle: [u32; N];
        device output: [u32; N];

        graph inner = Doubled::<N>(input: &input, output: &mut middle, times: 2);
        graph again = Doubled::<N>(input: &middle, output: &mut output, times: 3) after inner;
    }
}

#[test]
fn nested_children_in_a_for_take_their_own_parts() -> Result<()> {
    let mut graph = launched(cuda_graph! { &device() =>
        device start: [u32; 8];
        device middle: [u32; 8];
        device end: [[u32; 8]; 3];

        for i in 0..3 {
            memset set = start <- i as u32 + 1;
            graph twice = Nested::<8>(input: &start, middle: &mut middle, output: &mut end[i]) after set;
            kernel more = accumulate<<<1, 8>>>(&middle, &mut end[i]) after twice;
        }
    })?;
    assert_eq!(*graph.end()?.read()?, [[8; 8], [16; 8], [24; 8]]);
    assert_eq!(graph.twice(2).name(), "twice[2]");
    assert_eq!(graph.more(1).name(), "more[1]");
    graph.more(1).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.end()?.read()?, [[8; 8], [12; 8], [24; 8]]);
    Ok(())
}

cuda_graph! {
    /// Adds 2 to the data and takes 1 from the counter.
    graph Step {
        device data: [u32; 4];
        device left: [u32; 1];

        graph add = Add(data: &mut data);
        kernel less = add_to<<<1, 1>>>(&mut left, MINUS_ONE) after add;
    }

    /// As many steps as the counter says.
    graph Steps {
        device data: [u32; 4];
        device left: [u32; 1];

        while more = left[0] {
            graph step = Step(data: &mut data, left: &mut left);
        };
    }
}

#[test]
fn children_in_bodies_and_bodies_in_children_run() -> Result<()> {
    // Conditionals in a child, in a body and beside.
    let mut graph = launched(cuda_graph! { &device() =>
        device flag: u32;
        device data: [u32; 4];
        device left: [u32; 1];
        host output: [u32; 4];

        memset count = left <- 3;
        graph steps = Steps(data: &mut data, left: &mut left) after count;
        if again = flag {
            memset recount = left <- 5;
            graph more = Steps(data: &mut data, left: &mut left) after recount;
        } after steps;
        memcpy download = data -> output after again;
    })?;
    assert_eq!(*graph.output()?, [6; 4]);
    graph.flag_mut()?.copy_from(&1)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [22; 4]);
    Ok(())
}

#[test]
fn children_of_builders_run_between_their_neighbours_or_are_refused() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Chain");
    let data = builder.device::<[u32; 4]>("data");
    let mut output = builder.host::<[u32; 4]>("output");
    let mut last = None;
    for number in 0..5 {
        let step = builder.child(format!("step{number}"), |child| {
            let set = child.memset("set", &mut data.rows_from::<2>(0), number + 1);
            let add = child.kernel("add", Launch::new(1, 4), add_to::call(&mut data.whole(), 1));
            child.after(add, &[set]);
        });
        builder.after(step, last.as_slice());
        last = Some(step);
    }
    let download = builder.memcpy("download", &data, &mut output);
    builder.after(download, last.as_slice());
    let graph = launched(builder.build())?;
    assert_eq!(graph.host(&output)?, &[6, 6, 5, 5]);

    let mut builder = GraphBuilder::new(&device(), "Race");
    let mut data = builder.device::<[u32; 4]>("data");
    builder.child("step", |child| {
        child.kernel("add", Launch::new(1, 4), add_to::call(&mut data.whole(), 1));
    });
    builder.memset("clear", &mut data, 0);
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("[race]") && error.contains("`clear`"), "{error}");

    // The macros find most of this when they are compiled; these are the checks of `build`.
    let mut builder = GraphBuilder::new(&device(), "endless");
    let begun = (0..100).take_while(|_| builder.begin_child("again")).count();
    (0..begun).for_each(|_| builder.end_child(Ok(())));
    refused(builder.build()).says("does a graph hold itself");
    Ok(())
}
