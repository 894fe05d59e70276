//! Graphs as nodes of others: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::{accumulate, add_to, device};
use graph_runtime::private::Declare as _;
use graph_runtime::{GraphBuilder, Launch, NodeKind, Result, cuda_graph};

/// Added to a number, takes one from it.
const MINUS_ONE: u32 = u32::MAX;

cuda_graph! {
    graph Add {
        device data: [u32; 4];
        param value: u32 = 2;

        kernel add = add_to<<<1, 4>>>(&mut data, value);
    }
}

cuda_graph! {
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
fn bound_parts_and_params_are_used() -> Result<()> {
    let mut graph = Parts::build(&device())?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [[1; 4], [133; 4]]);
    assert_eq!(graph.first().name(), "first");
    assert_eq!(graph.last().name(), "last");
    graph.last().set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [[1; 4], [33; 4]]);
    Ok(())
}

#[test]
fn the_plan_has_one_node_for_a_child() {
    let plan = Parts::PLAN;
    assert_eq!(plan.nodes.len(), 5);
    assert_eq!(plan.nodes[1].kind, NodeKind::Graph);
    assert_eq!(plan.nodes[1].accesses.len(), 1);
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
}

cuda_graph! {
    graph Nested<const N: usize> {
        device input: [u32; N];
        device middle: [u32; N];
        device output: [u32; N];

        graph inner = Doubled::<N>(input: &input, output: &mut middle, times: 2);
        graph again = Doubled::<N>(input: &middle, output: &mut output, times: 3) after inner;
    }
}

#[test]
fn children_have_scratch_loops_and_build_arguments_of_their_own() -> Result<()> {
    let mut graph = Nested::<8>::build(&device())?;
    graph.input_mut()?.copy_from(&[7; 8])?;
    graph.launch()?;
    assert_eq!(*graph.middle()?.read()?, [14; 8]);
    assert_eq!(*graph.output()?.read()?, [42; 8]);
    Ok(())
}

cuda_graph! {
    graph Repeated {
        device start: [u32; 8];
        device middle: [u32; 8];
        device end: [[u32; 8]; 3];

        for i in 0..3 {
            memset set = start <- i as u32 + 1;
            graph twice = Nested::<8>(input: &start, middle: &mut middle, output: &mut end[i]) after set;
            kernel more = accumulate<<<1, 8>>>(&middle, &mut end[i]) after twice;
        }
    }
}

#[test]
fn nested_children_in_a_for_take_their_own_parts() -> Result<()> {
    let mut graph = Repeated::build(&device())?;
    graph.launch()?;
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
}

cuda_graph! {
    /// As many steps as the counter says.
    graph Steps {
        device data: [u32; 4];
        device left: [u32; 1];

        while more = left[0] {
            graph step = Step(data: &mut data, left: &mut left);
        };
    }
}

cuda_graph! {
    /// Conditionals in a child, in a body and beside.
    graph Whiles {
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
    }
}

#[test]
fn children_in_bodies_and_bodies_in_children_run() -> Result<()> {
    let mut graph = Whiles::build(&device())?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [6; 4]);
    graph.flag_mut()?.copy_from(&1)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [22; 4]);
    Ok(())
}

#[test]
fn a_race_of_a_child_and_its_sibling_is_refused() {
    let mut builder = GraphBuilder::new(&device(), "Race");
    let mut data = builder.device::<[u32; 4]>("data");
    builder.child("step", |child| {
        child.kernel("add", Launch::new(1, 4), add_to::call(&mut data.whole(), 1));
    });
    builder.memset("clear", &mut data, 0);
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("[race]") && error.contains("`clear`"), "{error}");
}

#[test]
fn hand_built_children_run_between_their_neighbours() -> Result<()> {
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
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[6, 6, 5, 5]);
    Ok(())
}

#[test]
fn children_in_each_other_without_end_are_refused() {
    // The macros find most of this when they are compiled; these are the checks of `build`.
    let mut builder = GraphBuilder::new(&device(), "endless");
    let begun = (0..100).take_while(|_| builder.begin_child("again")).count();
    (0..begun).for_each(|_| builder.end_child(Ok(())));
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("does a graph hold itself"), "{error}");
}

#[test]
fn expressions_have_children() -> Result<()> {
    let device = device();
    let by = 5;
    let mut graph = cuda_graph! { &device =>
        device data: [u32; 4];
        host output: [u32; 4];

        graph first = Add(data: &mut data, value: by);
        graph second = Add(data: &mut data) after first;
        memcpy download = data -> output after second;
    }?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [7; 4]);
    Ok(())
}

cuda_graph! {
    graph Sized(len: usize) {
        device from: [u32; len];
        device to: [u32; len];

        memcpy save = from -> to;
    }
}

cuda_graph! {
    graph Around(outer: usize, inner: usize) {
        device from: [u32; outer];
        device to: [u32; outer];

        memset set = from <- 3;
        graph save = Sized(from: &from, to: &mut to, len: inner) after set;
    }
}

#[test]
fn lengths_known_at_build_must_agree() -> Result<()> {
    let mut graph = Around::build(&device(), 5, 5)?;
    graph.launch()?;
    let mut to = [0; 5];
    graph.to()?.copy_to(&mut to)?;
    assert_eq!(to, [3; 5]);
    let error = Around::build(&device(), 5, 6).unwrap_err().to_string();
    assert!(error.contains("from"), "{error}");
    Ok(())
}
