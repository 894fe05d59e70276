//! `for` with too many iterations or too little memory, and loops that are built call by call.

use crate::common::*;
use crate::loops::mixed;

cuda_graph! {
    graph Many(n: usize) {
        device data: [u32; 8];
        for i in 0..n {
            memset set = data[i] <- 1;
            memset other = data <- 1 after set;
        }
    }
}

#[test]
fn iterations_beyond_all_memory_are_refused() -> Result<()> {
    for n in [usize::MAX, 1 << 30, 1 << 20] {
        let error = Many::build(&device(), n).unwrap_err();
        assert!(matches!(error, Error::TooManyNodes { .. }), "{error:?}");
        error.reads("graph `Many`, node `set`: a loop makes more than 1048576 nodes");
    }
    let mut builder = GraphBuilder::new(&device(), "Endless");
    builder.repeat(0..=usize::MAX, |builder, _| {
        builder.join("never");
    });
    assert!(matches!(builder.build().unwrap_err(), Error::TooManyNodes { .. }));
    let mut builder = GraphBuilder::new(&device(), "Deep");
    builder.repeat(0..1 << 11, |builder, _| {
        builder.repeat(0..1 << 10, |builder, _| {
            builder.join("much");
        })
    });
    assert!(matches!(builder.build().unwrap_err(), Error::TooManyNodes { .. }));
    Many::build(&device(), 8).map(drop)?;

    let error = Many::build(&device(), 10).unwrap_err().to_string();
    assert!(error.starts_with("graph `Many` has 2 mistakes\n"), "{error}");
    error.says("node `set[8]` uses an index or range outside `data` [out-of-bounds]");
    Ok(())
}

#[test]
fn iterations_of_a_builder_end_before_the_next_begin() -> Result<()> {
    let mut builder = GraphBuilder::new(&shuffling(2), "Wide");
    let data = builder.device::<[[u32; 1]; 20]>("data");
    let mut sum = builder.device::<[u32; 1]>("sum");
    let clear = builder.memset("clear", &mut sum, 0_u32);
    let mut last = None;
    builder.repeat(1..4, |builder, i| {
        if i == 2 {
            return; // an iteration without nodes
        }
        for wide in 0..20 {
            // 400 edges from one iteration to the next, were there no join between them
            let place = &mut data.row(wide);
            builder.kernel(
                format!("wide{wide}"),
                Launch::new(1, 1),
                add_late::call(place, i as u32, 500),
            );
        }
        builder.repeat(0..20, |builder, wide| {
            let node = builder.kernel("read", Launch::new(1, 1), mix::call(&data.row(0), &mut sum));
            builder.after(node, &[clear]);
            if wide == 0 {
                let [before, ..] = [node.index() - 20].map(NodeId::new);
                builder.after(node, &[before]);
            }
            last = Some(node);
        });
    });
    let add = builder.kernel("add", Launch::new(1, 1), add_to::call(&mut sum, 1));
    builder.after(add, &[last.expect("there are iterations")]);
    let mut graph = builder.build()?;
    assert_eq!(graph.node(add).name(), "add");
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [[4]; 20]);
    let mut expected = [0];
    (0..20).for_each(|_| mixed([1], &mut expected));
    (0..20).for_each(|_| mixed([4], &mut expected));
    assert_eq!(*graph.device(&sum)?.read()?, [expected[0].wrapping_add(1)]);
    let plan = graph.plan();
    let joins = plan.nodes.iter().filter(|node| node.kind == NodeKind::Join);
    assert_eq!(joins.map(|node| &*node.name).collect::<Vec<_>>(), ["before wide0[3]"]);
    Ok(())
}
