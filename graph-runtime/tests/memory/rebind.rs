//! Putting other memory in the place of what a graph shares.

use crate::common::*;

struct Pipeline {
    graph: Graph,
    input: Place<[f32; 64], OnHost>,
    data: Place<[f32; 64], OnDevice>,
    output: Place<[f32; 64], OnHost>,
}

/// input -> data, data *= 2 after a delay, data -> output, and `data` is set to zero at the end.
fn pipeline(
    device: &Device,
    input: &SharedHost<[f32; 64]>,
    data: &DeviceBuffer<[f32; 64]>,
    output: &SharedHost<[f32; 64]>,
) -> Result<Pipeline> {
    let mut builder = GraphBuilder::new(device, "Pipeline");
    let input = builder.shared("input", input, false);
    let mut data = builder.shared("data", data, true);
    let mut output = builder.shared("output", output, true);
    let mut flag = builder.device::<[u32; 1]>("flag");
    let delay = builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let upload = builder.memcpy("upload", &input, &mut data);
    let double = builder.kernel("double", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    let download = builder.memcpy("download", &data, &mut output);
    let clear = builder.memset("clear", &mut data, 0.0_f32);
    in_order(&mut builder, &[delay, upload, double, download, clear]);
    let graph = builder.build()?;
    Ok(Pipeline {
        graph,
        input,
        data,
        output,
    })
}

fn host(device: &Device, value: f32) -> Result<SharedHost<[f32; 64]>> {
    let mut buffer = device.alloc_host::<[f32; 64]>()?;
    buffer.fill(value);
    Ok(buffer.share())
}

#[test]
fn every_kind_of_node_gets_other_memory() -> Result<()> {
    let device = device();
    let inputs = [host(&device, 1.0)?, host(&device, 2.0)?];
    let outputs = [host(&device, 0.0)?, host(&device, 0.0)?];
    let data = [device.alloc::<[f32; 64]>()?, device.alloc()?];
    let Pipeline {
        mut graph,
        input,
        data: on_device,
        output,
    } = pipeline(&device, &inputs[0], &data[0], &outputs[0])?;
    data[1].copy_from(&[9.0; 64])?;
    graph.launch()?;
    graph.rebind(&input, &inputs[1])?;
    graph.rebind(&on_device, &data[1])?;
    graph.rebind(&output, &outputs[1])?;
    assert_eq!(*data[1].read()?, [9.0; 64]); // the launch in flight uses what it was launched with
    graph.launch()?;
    assert_eq!((*outputs[0].read()?, *outputs[1].read()?), ([2.0; 64], [4.0; 64]));
    assert_eq!(*data[1].read()?, [0.0; 64], "the memset was changed, too");
    Ok(())
}

#[test]
fn rebinding_frees_what_nobody_has_and_what_was_let_go_of() -> Result<()> {
    let device = device();
    let (zero, out) = (host(&device, 0.0)?, host(&device, 0.0)?);
    let mut turns = pipeline(&device, &zero, &device.alloc()?, &out)?;
    for round in 1..=10 {
        let value = round as f32;
        turns.graph.rebind(&turns.input, &host(&device, value)?)?;
        turns.graph.rebind(&turns.data, &device.alloc()?)?;
        turns.graph.launch()?;
        if round % 3 == 0 {
            assert_eq!(*out.read()?, [2.0 * value; 64]);
        }
    }
    assert_eq!(*out.read()?, [20.0; 64]);

    let (input, other, out) = (host(&device, 1.0)?, host(&device, 2.0)?, host(&device, 0.0)?);
    let mut pipeline = pipeline(&device, &input, &device.alloc()?, &out)?;
    pipeline.graph.launch()?;
    pipeline.graph.rebind(&pipeline.input, &other)?;
    let unique = input.into_unique().expect("the graph has let go of it");
    assert_eq!(unique[0], 1.0);
    pipeline.graph.launch()?;
    assert_eq!(*out.read()?, [4.0; 64]);
    Ok(())
}

#[test]
fn two_buffers_take_turns() -> Result<()> {
    let device = device();
    let data = device.alloc()?;
    let inputs = [host(&device, 0.0)?, host(&device, 0.0)?];
    let outputs = [host(&device, 0.0)?, host(&device, 0.0)?];
    let mut pipeline = pipeline(&device, &inputs[0], &data, &outputs[0])?;
    for round in 0..8 {
        let turn = round % 2;
        // This waits for the launch before the last only.
        inputs[turn].write()?.fill(round as f32);
        pipeline.graph.rebind(&pipeline.input, &inputs[turn])?;
        pipeline.graph.rebind(&pipeline.output, &outputs[turn])?;
        pipeline.graph.launch()?;
        if round > 0 {
            assert_eq!(*outputs[1 - turn].read()?, [2.0 * (round - 1) as f32; 64]);
        }
    }
    Ok(())
}

#[test]
fn what_does_not_fit_changes_nothing() -> Result<()> {
    let device = device();
    let (input, out) = (host(&device, 1.0)?, host(&device, 0.0)?);
    let mut builder = GraphBuilder::new(&device, "Slices");
    let memory = device.alloc_slice::<f32>(64)?;
    let a = builder.shared("a", &memory.rows(..16)?, false);
    let mut b = builder.shared("b", &memory.rows(16..32)?, true);
    let own = builder.device_slice::<f32>("own", 16);
    builder.memcpy("copy", &a, &mut b);
    let mut graph = builder.build()?;
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let expected = "graph `Slices` has 1 mistake\n\
         `a` has 64 bytes, but the memory shared as `a` has 32 [shape-mismatch]";
    assert_eq!(text(graph.rebind(&a, &memory.rows(..8)?)), expected);
    let expected = "graph `Slices` has 1 mistake\n\
         node `copy` copies `a` to `b`, which are shared memory that overlaps [aliased-argument]\n\
         note: 60 bytes belong to both\n\
         help: share memory that does not overlap, or pass parts that do not";
    assert_eq!(text(graph.rebind(&a, &memory.rows(17..33)?)), expected);
    let expected = "graph `Slices`, memory `own`: only memory that is shared can be rebound";
    assert_eq!(text(graph.rebind(&own, &memory.rows(..16)?)), expected);
    let expected = "graph `Slices`, memory `a`: a part of shared memory cannot be rebound";
    assert_eq!(text(graph.rebind(&a.rows(..4), &memory.rows(..4)?)), expected);
    let foreign = Device::emulator().alloc_slice::<f32>(16)?;
    assert!(matches!(graph.rebind(&a, &foreign), Err(Error::ForeignMemory { .. })));
    let place = pipeline(&device, &input, &device.alloc()?, &out)?.data;
    assert!(matches!(
        graph.rebind(&place, &device.alloc()?),
        Err(Error::ForeignPlace { .. })
    ));
    memory.copy_from(&counting::<64>())?;
    graph.launch()?;
    assert_eq!(memory.rows(16..32)?.read_vec()?, counting::<16>());
    graph.rebind(&a, &memory.rows(48..)?)?;
    graph.launch()?;
    assert_eq!(memory.row(16)?.read()?, Box::new(48.0));
    Ok(())
}

#[test]
fn values_set_before_stay_and_disabled_nodes_stay_disabled() -> Result<()> {
    let device = device();
    let (first, second) = (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?);
    let mut builder = GraphBuilder::new(&device, "Values");
    let mut data = builder.shared("data", &first, true);
    let node = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    let mut graph = builder.build()?;
    graph.update("factor", |update| {
        update.kernel(node, Launch::new(1, 32), scale::call(&mut data, 3.0, 32))
    })?;
    graph.rebind(&data, &second)?;
    second.copy_from(&[1.0; 64])?;
    graph.launch()?;
    let values = second.read()?;
    assert_eq!((values[31], values[32]), (3.0, 1.0));
    assert_eq!(*first.read()?, [0.0; 64]);

    let (first, second) = (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?);
    let mut builder = GraphBuilder::new(&device, "Disabled");
    let mut data = builder.shared("data", &first, true);
    let set = builder.memset("set", &mut data, 1.0_f32);
    let node = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    builder.after(node, &[set]);
    let mut graph = builder.build()?;
    graph.node(node).set_enabled(false)?;
    graph.rebind(&data, &second)?;
    graph.launch()?;
    assert_eq!(*second.read()?, [1.0; 64]);
    graph.node(node).set_enabled(true)?;
    graph.launch()?;
    assert_eq!(*second.read()?, [2.0; 64]);
    Ok(())
}

#[test]
fn nodes_in_bodies_get_other_memory_too() -> Result<()> {
    let device = device();
    let (first, second) = (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?);
    let flag = device.alloc::<u32>()?;
    flag.copy_from(&1)?;
    let mut builder = GraphBuilder::new(&device, "Bodies");
    let condition = builder.shared("condition", &flag, false);
    let mut data = builder.shared("data", &first, true);
    builder.if_then("maybe", &condition, |then| {
        then.memset("set", &mut data, 1.0_f32);
    });
    let mut graph = launched(builder.build())?;
    graph.rebind(&data, &second)?;
    first.copy_from(&[5.0; 64])?;
    graph.launch()?;
    assert_eq!((*first.read()?, *second.read()?), ([5.0; 64], [1.0; 64]));
    flag.copy_from(&0)?;
    second.copy_from(&[5.0; 64])?;
    graph.launch()?;
    assert_eq!(*second.read()?, [5.0; 64], "the condition is read at each launch");
    let other = device.alloc::<u32>()?;
    other.copy_from(&7)?;
    graph.rebind(&condition, &other)?;
    graph.launch()?;
    assert_eq!(*second.read()?, [1.0; 64], "so is one that was put in its place");
    Ok(())
}

#[test]
fn rows_that_lie_apart_get_other_memory_and_all_else_stays() -> Result<()> {
    let device = device();
    let table = |value: f32| -> Result<DeviceBuffer<[[f32; 8]; 8]>> {
        let table = device.alloc::<[[f32; 8]; 8]>()?;
        table.copy_from(&[[value; 8]; 8])?;
        Ok(table)
    };
    let (first, second, third) = (table(1.0)?, table(2.0)?, table(3.0)?);
    let (flag, data) = (device.alloc::<u32>()?, device.alloc::<[f32; 64]>()?);
    flag.copy_from(&1)?;
    let mut builder = GraphBuilder::new(&device, "Corner");
    let from = builder.shared("table", &first, false);
    let condition = builder.shared("condition", &flag, false);
    let mut scaled = builder.shared("scaled", &data, true);
    let corner = builder.host::<[[f32; 2]; 2]>("corner");
    let mut output = builder.host::<[f32; 64]>("output");
    let set = builder.memset("set", &mut scaled, 1.0_f32);
    let node = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut scaled, 2.0, 64));
    let off = builder.kernel("off", Launch::new(1, 64), scale::call(&mut scaled, 100.0, 64));
    let maybe = builder.if_then("maybe", &condition, |then| {
        then.kernel("again", Launch::new(1, 32), scale::call(&mut scaled, 10.0, 32));
    });
    let down = builder.memcpy("down", &scaled, &mut output);
    let mut cut = corner.rectangle::<2, 2>(0, 0);
    builder.memcpy_2d("cut", &from.rectangle::<2, 2>(3, 5), &mut cut);
    in_order(&mut builder, &[set, node, off, maybe, down]);
    let mut graph = builder.build()?;
    let expect = |graph: &mut Graph, value: f32, low: f32, high: f32| -> Result<()> {
        graph.launch()?;
        assert_eq!(graph.host(&corner)?, &[[value; 2]; 2]);
        let output = graph.host(&output)?;
        assert_eq!((output[0], output[63]), (low, high));
        Ok(())
    };
    graph.node(off).set_enabled(false)?;
    expect(&mut graph, 1.0, 20.0, 2.0)?;
    graph.update("factor", |update| {
        update.kernel(node, Launch::new(1, 64), scale::call(&mut scaled, 3.0, 64))
    })?;
    graph.rebind(&from, &second)?;
    expect(&mut graph, 2.0, 30.0, 3.0)?;
    let other = device.alloc::<u32>()?;
    graph.rebind(&condition, &other)?;
    expect(&mut graph, 2.0, 3.0, 3.0)?;
    graph.rebind(&scaled, &device.alloc()?)?;
    graph.rebind(&from, &third)?;
    drop((first, second, data, flag));
    graph.node(off).set_enabled(true)?;
    expect(&mut graph, 3.0, 300.0, 300.0)?;
    other.copy_from(&1)?;
    expect(&mut graph, 3.0, 3000.0, 300.0)
}

cuda_graph! {
    graph Columns(table: device [[u32; 4]; 4]) {
        host column: [u32; 4];

        memcpy cut = table[..][1] -> column;
    }

    graph Cut(table: device [[u32; 4]; 4], all: mut host [[u32; 4]; 2]) {
        host column: [u32; 4];

        graph columns = Columns(table: &table, column: &mut column);
        memcpy rows = table[1..3][..] -> all;
        call note = |&column, &mut all| all[0][0] = column[0] after columns, rows;
    }
}

#[test]
fn rows_in_children_get_other_memory() -> Result<()> {
    let device = device();
    let table = |first: u32| -> Result<DeviceBuffer<[[u32; 4]; 4]>> {
        let table = device.alloc::<[[u32; 4]; 4]>()?;
        let row = |row: u32| std::array::from_fn(|column| first + 10 * row + column as u32);
        table.copy_from(&[row(0), row(1), row(2), row(3)])?;
        Ok(table)
    };
    let all = || Ok::<_, Error>(device.alloc_host::<[[u32; 4]; 2]>()?.share());
    let (first, second) = (all()?, all()?);
    let mut graph = launched(Cut::build(&device, table(0)?, &first))?;
    assert_eq!(*graph.column()?, [1, 11, 21, 31]);
    assert_eq!(*first.read()?, [[1, 11, 12, 13], [20, 21, 22, 23]]);
    graph.rebind_all(&second)?;
    graph.rebind_table(table(100)?)?;
    graph.launch()?;
    assert_eq!(*graph.column()?, [101, 111, 121, 131]);
    assert_eq!(*second.read()?, [[101, 111, 112, 113], [120, 121, 122, 123]]);
    assert_eq!(first.read()?[0][0], 1);
    Ok(())
}
