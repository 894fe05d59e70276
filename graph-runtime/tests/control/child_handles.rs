//! Handles of nodes in children: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;

cuda_graph! {
    graph Add {
        device data: [u32; 8];
        param  by:     u32 = 1;
        param  blocks: u32 = 1;

        kernel add = add_to<<<blocks, 4>>>(&mut data, by);
        for i in 0..2 {
            kernel more = add_to<<<1, 1>>>(&mut data[4 * i..], 10) after add;
        }
    }

    /// The work around the child shows that order remains.
    graph Outer {
        device data: [u32; 8];
        host   output: [u32; 8];
        param  by:     u32 = 1;
        param  blocks: u32 = 1;

        memset clear    = data <- 0;
        graph  first    = Add(data: &mut data, by: by, blocks: blocks) after clear;
        graph  second   = Add(data: &mut data, by: 100) after first;
        memcpy download = data -> output after second;
    }
}

#[test]
fn handles_change_the_nodes_of_children_after_params_or_before() -> Result<()> {
    let mut graph = launched(Outer::build(&device()))?;
    assert_eq!(*graph.output()?, [121, 101, 101, 101, 20, 0, 0, 0]);
    graph.first().add().set_block(2)?;
    graph.second().add().set_launch((2, 1), 3)?;
    assert_eq!(graph.first().add().name(), "first.add");
    assert_eq!(graph.second().add().grid(), Some([2, 1, 1]));
    assert_eq!(graph.second().add().block(), Some([3, 1, 1]));
    graph.launch()?;
    assert_eq!(*graph.output()?, [121, 101, 100, 100, 120, 100, 0, 0]);
    let mut second = graph.second();
    second.more(1).set_enabled(false)?;
    second.add().set_enabled(false)?;
    assert_eq!(second.name(), "second");
    assert!(second.more(0).is_enabled() && !second.more(1).is_enabled());
    graph.launch()?;
    assert_eq!(*graph.output()?, [21, 1, 0, 0, 10, 0, 0, 0]);
    graph.second().add().set_grid(1)?; // it remains disabled
    graph.launch()?;
    assert_eq!(*graph.output()?, [21, 1, 0, 0, 10, 0, 0, 0]);
    graph.second().add().set_enabled(true)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [121, 101, 100, 0, 10, 0, 0, 0]);

    let mut graph = Outer::build(&device())?;
    graph.first().add().set_launch(1, 8)?;
    graph.set_by(2)?; // leaves the dimensions as they are
    graph.launch()?;
    assert_eq!(*graph.output()?, [122, 102, 102, 102, 22, 2, 2, 2]);
    refused(graph.set_blocks(3)).says("node `first.add`");
    assert_eq!(graph.first().add().block(), Some([8, 1, 1]));
    graph.set_blocks(2)?;
    assert_eq!(graph.first().add().block(), Some([4, 1, 1]));
    graph.edit(|e| {
        e.first().add().set_block(1)?;
        e.second().add().set_enabled(false)?;
        e.second().more(0).set_launch(2, 2)?;
        e.set_by(3)
    })?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [23, 13, 10, 10, 20, 0, 0, 0]);
    let edited = graph.edit(|e| {
        e.set_by(4)?;
        e.second().more(1).set_block(5)
    });
    refused(edited).says("node `second.more[1]`: kernel `add_to` requires `threads <= data.len()` [contract]");
    assert_eq!(graph.by(), 3);
    graph.launch()?;
    assert_eq!(*graph.output()?, [23, 13, 10, 10, 20, 0, 0, 0]);
    Ok(())
}

cuda_graph! {
    graph Vouched<const N: usize> {
        device from: [f32; N];
        device to:   [f32; N];

        memset set = from <- 2.0;
        // SAFETY: both have at least four elements, as many as `n` says and threads there are.
        kernel copy = unsafe copy_struct<<<1, 4>>>(Affine { scale: 1.0, shift: 0.0, n: 4 }, &from, &mut to) after set;
        join   done after copy;
    }

    /// Children in children, generic and in a loop.
    graph Twice<const N: usize> {
        device from: [f32; N];
        device to:   [[f32; N]; 2];
        device data: [u32; 8];

        for i in 0..2 {
            graph vouched = Vouched::<N>(from: &mut from, to: &mut to[i]);
        }
        graph add = Add(data: &mut data);
    }

    graph Nested {
        device from: [f32; 4];
        device to:   [[[f32; 4]; 2]; 3];
        device data: [[u32; 8]; 3];

        for i in 0..3 {
            graph twice = Twice::<4>(from: &mut from, to: &mut to[i], data: &mut data[i]);
        }
    }
}

#[test]
fn children_of_children_have_handles_and_refuse_what_others_refuse() -> Result<()> {
    let mut graph = Nested::build(&device())?;
    graph.twice(1).add().add().set_launch(2, 3)?;
    graph.twice(2).add().more(1).set_enabled(false)?;
    graph.twice(0).vouched(1).copy().set_enabled(false)?;
    graph.launch()?;
    let data = graph.data()?.read()?;
    assert_eq!(data[0], [11, 1, 1, 1, 10, 0, 0, 0]);
    assert_eq!(data[1], [11, 1, 1, 1, 11, 1, 0, 0]);
    assert_eq!(data[2], [11, 1, 1, 1, 0, 0, 0, 0]);
    let expected = [[[2.0; 4], [0.0; 4]], [[2.0; 4]; 2], [[2.0; 4]; 2]];
    assert_eq!(*graph.to()?.read()?, expected);

    refused(graph.twice(0).vouched(1).copy().set_block(2))
        .says("node `twice[0].vouched[1].copy`: its kernel is not declared `safe`");
    refused(graph.twice(0).vouched(0).done().set_enabled(false))
        .says("node `twice[0].vouched[0].done`: only kernel, memcpy and memset nodes can be disabled");
    refused(graph.twice(0).add().add().set_block(1025)).says("[launch-config]");
    refused(graph.twice(1).vouched(2).set().set_enabled(false))
        .says("node `twice[1].vouched[2]`: the loop around it has no such iteration; the node is repeated 2 times");
    refused(graph.twice(3).vouched(0).set().set_enabled(false))
        .says("node `twice[3]`: the loop around it has no such iteration; the node is repeated 3 times");
    assert_eq!(graph.twice(4).add().add().name(), "");
    graph.launch()
}

cuda_graph! {
    /// Adds to the data, and counts down.
    graph Step {
        device data: [u32; 8];
        device left: u32;

        graph  add  = Add(data: &mut data);
        kernel less = add_to<<<1, 1>>>(&mut left, MINUS_ONE) after add;
    }

    /// Children in a body and in parallel iterations; one with conditionals.
    graph Steps {
        device data:  [u32; 8];
        device rows:  [[u32; 8]; 3];
        device left:  u32;

        memset count = left <- 3;
        while more = left {
            graph step = Step(data: &mut data, left: &mut left);
        } after count;
        each i in 0..3 {
            graph row = Add(data: &mut rows[i]);
        }
    }
}

#[test]
fn children_in_bodies_and_around_them_have_handles() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device data: [u32; 8];
        device rows: [[u32; 8]; 3];
        device left: u32;
        host   output: [u32; 8];

        memset clear    = data <- 0;
        graph  steps    = Steps(data: &mut data, rows: &mut rows, left: &mut left) after clear;
        memcpy download = data -> output after steps;
    }?;
    graph.steps().step().add().add().set_launch(1, 2)?;
    graph.steps().step().add().more(1).set_enabled(false)?;
    graph.steps().row(2).add().set_grid(2)?;
    graph.steps().row(1).add().set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.output()?, [33, 3, 0, 0, 0, 0, 0, 0]);
    let rows = graph.rows()?.read()?;
    assert_eq!(rows[0], [11, 1, 1, 1, 10, 0, 0, 0]);
    assert_eq!(rows[1], [10, 0, 0, 0, 10, 0, 0, 0]);
    assert_eq!(rows[2], [11, 1, 1, 1, 11, 1, 1, 1]);
    refused(graph.steps().step().less().set_enabled(false)).says("would never end");
    graph.steps().step().less().set_launch(1, 2).unwrap_err();
    Ok(())
}

#[test]
fn children_of_expressions_and_of_builders_have_handles() -> Result<()> {
    let device = device();
    let mut graph = cuda_graph! { &device =>
        device data: [u32; 8];
        device other: [[f32; 4]; 2];
        device to: [[f32; 4]; 2];
        param  by: u32 = 5;

        graph first = Add(data: &mut data, by: by);
        for i in 0..2 {
            graph vouched = Vouched::<4>(from: &mut other[i], to: &mut to[i]);
        }
    }?;
    graph.first().add().set_launch(2, 3)?;
    graph.first().more(0).set_enabled(false)?;
    assert_eq!(graph.vouched(1).copy().name(), "vouched[1].copy");
    graph.set_by(7)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [7, 7, 7, 7, 17, 7, 0, 0]);

    let mut builder = GraphBuilder::new(&device, "Built");
    let data = builder.device::<[u32; 8]>("data");
    let mut inner = None;
    builder.child("step", |child| {
        inner = Some(child.kernel("add", Launch::new(1, 4), add_to::call(&mut data.whole(), 1)));
    });
    let mut graph = builder.build()?;
    if let Some(add) = inner {
        graph.node(add).set_launch(2, 4)?;
        assert!(matches!(graph.node(add).set_grid(3), Err(Error::Invalid { .. })));
    }
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [1; 8]);
    Ok(())
}
