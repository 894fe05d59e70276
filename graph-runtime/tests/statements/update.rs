//! Changing nodes of a built graph.

use crate::common::*;

/// A graph, its memory, and two of its nodes.
type Scaled = (Graph, Place<[f32; 64], OnDevice>, NodeId, NodeId);

/// A graph that sets all of its memory to 1, then scales the first 64 elements by 2; the memory, and both nodes.
fn scaled() -> Result<Scaled> {
    let mut builder = GraphBuilder::new(&device(), "Scaled");
    let mut data = builder.device::<[f32; 64]>("data");
    let set = builder.memset("set", &mut data, 1.0_f32);
    let scale = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    builder.after(scale, &[set]);
    Ok((builder.build()?, data, set, scale))
}

#[test]
fn values_and_dimensions_change_in_place_if_no_rule_is_broken() -> Result<()> {
    let (mut graph, mut data, set, node) = scaled()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [2.0; 64]);
    graph.update("factor", |update| {
        update.kernel(node, Launch::new(2, 32), scale::call(&mut data, 5.0, 16))
    })?;
    graph.update("start", |update| update.memset(set, &data, 3.0_f32))?;
    graph.launch()?;
    let values = graph.device(&data)?.read()?;
    assert_eq!((values[15], values[16]), (15.0, 3.0));

    let (mut graph, mut data, set, node) = scaled()?;
    let error = graph
        .update("n", |update| {
            update.memset(set, &data, 100.0_f32)?;
            update.kernel(node, Launch::new(1, 64), scale::call(&mut data, 7.0, 65))
        })
        .unwrap_err();
    let expected = "graph `Scaled` has 1 mistake\n\
         node `scale`: kernel `scale` requires `n <= data.len()` [contract]\n\
         note: here n = 65, data.len() = 64\n\
         help: make `n` at most 64, or pass at least 65 elements as `data`";
    assert_eq!(error.to_string(), expected);
    let error = graph.update("n", |update| {
        update.kernel(node, Launch::new(1, 1025), scale::call(&mut data, 7.0, 64))
    });
    assert!(error.unwrap_err().to_string().contains("[launch-config]"));
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [2.0; 64]);
    Ok(())
}

#[test]
fn an_update_does_not_make_a_reader_a_writer() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Reader");
    let (mut x, mut y) = (builder.device::<[f32; 64]>("x"), builder.device::<[f32; 64]>("y"));
    let mut beside = builder.device::<[f32; 64]>("beside");
    let node = builder.kernel("saxpy", Launch::new(1, 64), saxpy::call(1.0, &x, &mut y, 64));
    builder.memcpy("copy", &x, &mut beside); // no edge: both only read `x`
    let mut graph = builder.build()?;
    // SAFETY: these are the kernel's parameters, and it writes the last buffer only.
    let call = |x: CallArgument, y: CallArgument| unsafe {
        private::loaded_call(None, [CallArgument::value(2.0_f32), x, y, CallArgument::value(64_u32)])
    };
    let writes_both = call(CallArgument::write(&mut x), CallArgument::write(&mut y));
    let text = "graph `Reader`, node `saxpy`: an update cannot change whether a node writes its memory";
    let error = graph.update("saxpy", |update| update.kernel(node, Launch::new(1, 64), writes_both));
    assert_eq!(error.unwrap_err().to_string(), text);
    let same = call(CallArgument::read(&x), CallArgument::write(&mut y));
    graph.update("saxpy", |update| update.kernel(node, Launch::new(1, 64), same))?;
    graph.launch()?;
    graph.synchronize()
}

#[test]
fn launches_in_flight_keep_their_values() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "InFlight");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut data = builder.device::<[f32; 4]>("data");
    let mut first = builder.host::<[f32; 4]>("first");
    let slow_node = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let scale_node = builder.kernel("scale", Launch::new(1, 4), scale::call(&mut data, 2.0, 4));
    let download = builder.memcpy("download", &data, &mut first);
    in_order(&mut builder, &[slow_node, scale_node, download]);
    let mut graph = builder.build()?;
    graph.device_mut(&data)?.copy_from(&[1.0; 4])?;
    graph.launch()?;
    graph.update("factor", |update| {
        update.kernel(scale_node, Launch::new(1, 4), scale::call(&mut data, 10.0, 4))
    })?;
    assert_eq!(graph.host(&first)?, &[2.0; 4], "the launch in flight scales by 2");
    graph.launch()?;
    assert_eq!(graph.host(&first)?, &[20.0; 4]);
    Ok(())
}

#[test]
fn kernels_and_memory_stay() -> Result<()> {
    let (mut graph, mut data, set, node) = scaled()?;
    let launch = Launch::new(1, 64);
    let mut told = |change: &mut dyn FnMut(&mut Update<'_>) -> Result<()>, text: &str| {
        refused(graph.update("x", |update| change(update))).reads(&format!("graph `Scaled`{text}"));
    };
    let kernel = ", node `scale`: an update cannot change which kernel a node launches";
    told(
        &mut |update| update.kernel(node, launch, bounded::call(&mut data)),
        kernel,
    );
    let part = ", node `scale`: an update cannot change which memory a node uses";
    let call = scale::call(&mut data.rows(1..), 2.0, 4);
    told(&mut |update| update.kernel(node, launch, call.clone()), part);
    let no_memory = ", node `scale`: the node sets no memory";
    told(&mut |update| update.memset(node, &data, 1.0_f32), no_memory);
    let row = ", node `set`: an update cannot change which memory a node uses";
    told(&mut |update| update.memset(set, &data.row(0), 1.0_f32), row);
    let none = NodeId::new(2);
    let no_node = ": no node has index 2; there are 2";
    told(&mut |update| update.memset(none, &data, 1.0_f32), no_node);
    let foreign = scaled()?.1;
    let error = graph.update("x", |update| update.memset(set, &foreign, 1.0_f32));
    assert!(matches!(error, Err(Error::ForeignPlace { .. })));
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [2.0; 64]);
    Ok(())
}

#[test]
fn values_that_change_are_long_or_of_disabled_memsets() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Long");
    let mut data = builder.device::<[f64; 100]>("data");
    let set = builder.memset("set", &mut data, 0.0_f64);
    builder.will_update(set);
    let mut graph = builder.build()?;
    for value in [0.0, 1.5, -0.1, 0.0] {
        graph.update("value", |update| update.memset(set, &data, value))?;
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [value; 100]);
    }

    let mut builder = GraphBuilder::new(&device(), "Later");
    let mut data = builder.device::<[u16; 6]>("data");
    let set = builder.memset("set", &mut data, 1_u16);
    builder.disable(set);
    let mut graph = builder.build()?;
    graph.update("value", |update| update.memset(set, &data, 2_u16))?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [0; 6]);
    graph.node(set).set_enabled(true)?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [2; 6]);
    Ok(())
}

/// Without the fix of `backend/cuda/change/enabled.rs`, launches with disabled memsets were taken for done before they
/// were.
#[test]
fn what_comes_before_a_disabled_node_is_done_before_what_comes_behind() -> Result<()> {
    let kinds = [
        "kernel",
        "memcpy",
        "memcpy of rows",
        "memset",
        "memset of rows",
        "memset of bytes",
    ];
    for kind in kinds {
        let mut builder = GraphBuilder::new(&device(), "Skipped");
        let mut flag = builder.device::<[u32; 1]>("flag");
        let mut data = builder.device::<[[f32; 4]; 4]>("data");
        let other = builder.device::<[[f32; 4]; 4]>("other");
        let mut bytes = builder.device::<[u8; 32]>("bytes");
        let mut seen = builder.host::<[u32; 1]>("seen");
        let clear = builder.memset("clear", &mut flag, 0_u32);
        let before = builder.kernel("before", Launch::new(1, 1), slow::call(slow_steps() / 8, &mut flag));
        let middle = match kind {
            "kernel" => builder.kernel("middle", Launch::new(1, 4), scale::call(&mut data.row(0), 2.0, 4)),
            "memcpy" => builder.memcpy("middle", &other, &mut data.whole()),
            "memcpy of rows" => {
                let (from, mut to) = (other.rectangle::<4, 2>(0, 0), data.rectangle::<4, 2>(0, 0));
                builder.memcpy_2d("middle", &from, &mut to)
            }
            "memset" => builder.memset("middle", &mut data, 7.0_f32),
            "memset of rows" => builder.memset_2d("middle", &mut data.rectangle::<4, 2>(0, 1), 7.0_f32),
            _ => builder.memset("middle", &mut bytes, 7_u8),
        };
        let behind = builder.memcpy("behind", &flag, &mut seen);
        in_order(&mut builder, &[clear, before, middle, behind]);
        builder.disable(middle);
        let mut graph = builder.build()?;
        graph.device_mut(&data)?.copy_from(&[[3.0; 4]; 4])?;
        for round in 0..4 {
            graph.node(middle).set_enabled(round == 2)?;
            graph.launch()?;
            let seen = graph.host(&seen)?[0];
            assert_ne!(
                seen, 0,
                "{kind}, launch {round}: the host looks too early, or `behind` ran too early"
            );
            graph.launch()?;
            graph.launch()?;
            let flag = graph.device(&flag)?.read()?[0];
            assert_ne!(flag, 0, "{kind}, launch {round}: launches are not waited for");
            let expected = match (kind, round >= 2) {
                (_, false) | ("memset of bytes", _) => [3.0; 4],
                ("kernel", true) => [24.0; 4], // thrice doubled
                ("memcpy", true) => [0.0; 4],
                ("memcpy of rows", true) => [0.0, 0.0, 3.0, 3.0],
                ("memset", true) => [7.0; 4],
                (_, true) => [3.0, 7.0, 7.0, 3.0],
            };
            assert_eq!(graph.device(&data)?.read()?[0], expected, "{kind}, launch {round}");
            let set = u8::from(kind == "memset of bytes" && round >= 2) * 7;
            assert_eq!(*graph.device(&bytes)?.read()?, [set; 32]);
        }
    }
    Ok(())
}
