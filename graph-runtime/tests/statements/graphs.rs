//! Graphs that are right: what they compute.

use crate::common::*;

#[test]
fn copy_compute_copy_of_lengths_known_when_compiled_and_at_build() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "ForwardBackward");
    let input = builder.host::<[f32; 1024]>("input");
    let mut data = builder.device::<[f32; 1024]>("data");
    let mut output = builder.host::<[f32; 1024]>("output");
    let upload = builder.memcpy("upload", &input, &mut data);
    let forward = builder.kernel("forward", Launch::new(4, 256), scale::call(&mut data, 2.0, 1024));
    let backward = builder.kernel("backward", Launch::new(8, 128), scale::call(&mut data, 0.25, 1024));
    let download = builder.memcpy("download", &data, &mut output);
    in_order(&mut builder, &[upload, forward, backward, download]);
    let mut graph = builder.build()?;

    assert_eq!(graph.host(&output)?, &[0.0; 1024], "zeroed at build");
    *graph.host_mut(&input)? = counting();
    graph.launch()?;
    let halves: [f32; 1024] = counting::<1024>().map(|number| number / 2.0);
    assert_eq!(graph.host(&output)?, &halves);
    assert_eq!(*graph.device(&data)?.read()?, halves);

    let n = 100;
    let mut builder = GraphBuilder::new(&device(), "Slices");
    let input = builder.host_slice::<f32>("input", n);
    let mut data = builder.device_slice::<f32>("data", n);
    let mut output = builder.host_slice::<f32>("output", n);
    let upload = builder.memcpy("upload", &input, &mut data);
    let launch = Launch::new(n.div_ceil(32), 32);
    let double = builder.kernel("double", launch, scale::call(&mut data, 2.0, n as u32));
    let download = builder.memcpy("download", &data, &mut output);
    in_order(&mut builder, &[upload, double, download]);
    let mut graph = builder.build()?;
    graph.host_slice_mut(&input)?.fill(1.5);
    graph.launch()?;
    assert_eq!(graph.host_slice(&output)?, vec![3.0; n]);
    assert_eq!(graph.device(&data)?.read_vec()?, vec![3.0; n]);
    let mut short = [0.0; 4];
    refused(graph.device(&data)?.copy_to(&mut short))
        .reads("graph `Slices`, memory `data`: has 400 bytes, but the slice has 16");
    Ok(())
}

#[test]
fn ranges_and_rows_are_parts_of_their_resource() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Parts");
    let input = builder.host::<[[f32; 8]; 4]>("input");
    let mut data = builder.device::<[[f32; 8]; 4]>("data");
    let output = builder.host::<[f32; 4]>("output");
    let mut last = builder.host::<[[f32; 8]; 2]>("last");
    let upload = builder.memcpy("upload", &input, &mut data);
    let second = builder.kernel("second", Launch::new(1, 8), scale::call(&mut data.row(1), 10.0, 8));
    let rest = builder.kernel("rest", Launch::new(1, 32), scale::call(&mut data.rows(2..), 100.0, 16));
    let cells = builder.memcpy("cells", &data.row(1).rows(2..6), &mut output.rows(..));
    let tail = builder.memcpy("tail", &data.rows_from::<2>(2), &mut last);
    builder.after(second, &[upload]);
    builder.after(rest, &[upload]);
    builder.after(cells, &[second]);
    builder.after(tail, &[rest]);
    let mut graph = builder.build()?;

    let numbers: [[f32; 8]; 4] = std::array::from_fn(|row| std::array::from_fn(|column| (8 * row + column) as f32));
    *graph.host_mut(&input)? = numbers;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[100.0, 110.0, 120.0, 130.0]);
    assert_eq!(graph.host(&last)?[1], numbers[3].map(|number| number * 100.0));
    assert_eq!(graph.host(&last.row(0))?, &numbers[2].map(|number| number * 100.0));
    assert_eq!(*graph.device(&data.row(0))?.read()?, numbers[0]);
    assert_eq!(graph.host_slice(&output.rows(1..3))?, &[110.0, 120.0]);
    Ok(())
}

#[test]
fn memsets_of_every_size() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Sets");
    let mut bytes = builder.device::<[u8; 7]>("bytes");
    let mut halves = builder.device::<[u16; 5]>("halves");
    let mut words = builder.device::<[f32; 9]>("words");
    let mut zeros = builder.device::<[f64; 4]>("zeros");
    let mut doubles = builder.device::<[f64; 1000]>("doubles");
    let mut structs = builder.device::<[Affine; 33]>("structs");
    let mut triples = builder.device::<[[u8; 3]; 100]>("triples");
    let rows = builder.device::<[[u64; 3]; 4]>("rows");
    let mut nothing = builder.device::<[u32; 0]>("nothing");
    let affine = Affine::new(1.5, -2.5, 77);
    builder.memset("set_bytes", &mut bytes, 0xab_u8);
    builder.memset("set_halves", &mut halves, 0x1234_u16);
    builder.memset("set_words", &mut words, 1.25_f32);
    builder.memset("set_zeros", &mut zeros, 0.0_f64);
    builder.memset("set_doubles", &mut doubles, -0.1_f64);
    builder.memset("set_structs", &mut structs, affine);
    builder.memset("set_triples", &mut triples, [1_u8, 2, 3]);
    builder.memset("set_row", &mut rows.row(2), 0x0102_0304_0506_0708_u64);
    builder.memset("set_nothing", &mut nothing, 1_u32);
    let mut graph = builder.build()?;

    graph.device_mut(&zeros)?.copy_from(&[1.0; 4])?;
    graph.launch()?;
    assert_eq!(*graph.device(&bytes)?.read()?, [0xab; 7]);
    assert_eq!(*graph.device(&halves)?.read()?, [0x1234; 5]);
    assert_eq!(*graph.device(&words)?.read()?, [1.25; 9]);
    assert_eq!(*graph.device(&zeros)?.read()?, [0.0; 4]);
    assert_eq!(*graph.device(&doubles)?.read()?, [-0.1; 1000]);
    assert_eq!(*graph.device(&structs)?.read()?, [affine; 33]);
    assert_eq!(*graph.device(&triples)?.read()?, [[1, 2, 3]; 100]);
    let mut expected = [[0; 3]; 4];
    expected[2] = [0x0102_0304_0506_0708; 3];
    assert_eq!(*graph.device(&rows)?.read()?, expected);
    Ok(())
}

#[test]
fn a_diamond_joins_its_branches() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Diamond");
    let mut source = builder.device::<[f32; 64]>("source");
    let mut left = builder.device::<[f32; 64]>("left");
    let mut right = builder.device::<[f32; 64]>("right");
    let mut sum = builder.device::<[f32; 64]>("sum");
    let launch = Launch::new(1, 64);
    let top = builder.memset("top", &mut source, 3.0_f32);
    let a = builder.kernel("a", launch, saxpy::call(2.0, &source, &mut left, 64));
    let b = builder.kernel("b", launch, saxpy::call(5.0, &source, &mut right, 64));
    let both = builder.join("both");
    let bottom = builder.kernel("bottom", launch, add::call(&left, &right, &mut sum, 64));
    builder.after(bottom, &[both]);
    builder.after(both, &[a, b]);
    builder.after(a, &[top]);
    builder.after(b, &[top]);
    let graph = launched(builder.build())?;
    assert_eq!(*graph.device(&sum)?.read()?, [21.0; 64]);

    let plan = graph.plan();
    assert_eq!(plan.levels(), 4);
    assert_eq!(plan.nodes[both.index()].kind, NodeKind::Join);
    assert_eq!(*plan.nodes[bottom.index()].after, [both.index()]);
    assert_eq!(plan.resources[0].bytes, 256);
    Ok(())
}

#[test]
fn structs_and_shared_memory_reach_kernels() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Arguments");
    let input = builder.host::<[f32; 64]>("input");
    let mut data = builder.device::<[f32; 64]>("data");
    let mut moved = builder.device::<[f32; 64]>("moved");
    let mut reversed = builder.device::<[f32; 64]>("reversed");
    let affine = Affine::new(2.0, 1.0, 64);
    let upload = builder.memcpy("upload", &input, &mut data);
    // SAFETY: both have 64 elements.
    let call = unsafe { copy_struct::call(affine, &data, &mut moved) };
    let apply = builder.kernel("apply", Launch::new(1, 64), call);
    let launch = Launch::new(2, 32).shared(32 * 4);
    let reverse = builder.kernel("reverse", launch, reverse_shared::call(&moved, &mut reversed));
    in_order(&mut builder, &[upload, apply, reverse]);
    let mut graph = builder.build()?;
    *graph.host_mut(&input)? = counting();
    graph.launch()?;
    let reversed = graph.device(&reversed)?.read()?;
    assert_eq!(reversed[0], 63.0);
    assert_eq!(reversed[31], 1.0);
    assert_eq!(reversed[32], 127.0);

    let mut builder = GraphBuilder::new(&device(), "Shared");
    let mut from = builder.device::<[f32; 64]>("from");
    let mut to = builder.device::<[f32; 64]>("to");
    let set = builder.memset("set", &mut from, 4.0_f32);
    let launch = Launch::new(1, 64).shared(64 * 1024);
    let reverse = builder.kernel("reverse", launch, reverse_shared::call(&from, &mut to));
    builder.after(reverse, &[set]);
    let graph = launched(builder.build())?;
    assert_eq!(*graph.device(&to)?.read()?, [4.0; 64]);
    Ok(())
}

#[test]
fn launches_follow_each_other_and_each_graph_has_variables_of_its_own() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Counter");
    let mut seen = builder.device::<[u32; 1]>("seen");
    let mut output = builder.host::<[u32; 1]>("output");
    let count = builder.kernel("count", Launch::new(1, 1), count::call(&mut seen));
    let download = builder.memcpy("download", &seen, &mut output);
    builder.after(download, &[count]);
    let mut graph = builder.build()?;
    for _ in 0..100 {
        graph.launch()?;
    }
    assert_eq!(graph.host(&output)?, &[100]);
    graph.synchronize()?;

    let device = device();
    let build = |name| {
        let mut builder = GraphBuilder::new(&device, name);
        let mut seen = builder.device::<[u32; 1]>("seen");
        builder.kernel("count", Launch::new(1, 1), count::call(&mut seen));
        builder.build().map(|graph| (graph, seen))
    };
    let ((mut first, of_first), (mut second, of_second)) = (build("First")?, build("Second")?);
    first.launch()?;
    first.launch()?;
    second.launch()?;
    assert_eq!(*first.device(&of_first)?.read()?, [2]);
    assert_eq!(*second.device(&of_second)?.read()?, [1]);
    Ok(())
}

#[test]
fn disabled_nodes_are_skipped() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Switches");
    let mut data = builder.device::<[f32; 4]>("data");
    let mut output = builder.host::<[f32; 4]>("output");
    let set = builder.memset("set", &mut data, 1.0_f32);
    let double = builder.kernel("double", Launch::new(1, 4), scale::call(&mut data, 2.0, 4));
    let join = builder.join("join");
    let download = builder.memcpy("download", &data, &mut output);
    in_order(&mut builder, &[set, double, join, download]);
    let mut graph = launched(builder.build())?;
    assert_eq!(graph.host(&output)?, &[2.0; 4]);
    graph.node(double).set_enabled(false)?;
    assert!(!graph.node(double).is_enabled() && graph.node(set).is_enabled());
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[1.0; 4]);
    graph.node(set).set_enabled(false)?;
    graph.node(double).set_enabled(true)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[2.0; 4], "the memory keeps its contents");
    graph.node(download).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[2.0; 4]);

    assert_eq!(graph.node(double).name(), "double");
    refused(graph.node(join).set_enabled(false))
        .reads("graph `Switches`, node `join`: only kernel, memcpy and memset nodes can be disabled");
    let mut beyond = graph.node(NodeId::new(17));
    assert_eq!((beyond.name(), beyond.is_enabled()), ("", false));
    refused(beyond.set_enabled(false)).reads("graph `Switches`: no node has index 17; there are 4");
    Ok(())
}

#[test]
fn host_memory_is_copied_within_the_host_too() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Host");
    let memory = builder.host::<[u64; 8]>("memory");
    builder.memcpy("copy", &memory.rows_from::<4>(0), &mut memory.rows_from::<4>(4));
    let mut graph = builder.build()?;
    *graph.host_mut(&memory.row(3))? = 9;
    graph.launch()?;
    assert_eq!(graph.host(&memory)?, &[0, 0, 0, 9, 0, 0, 0, 9]);
    Ok(())
}

#[test]
fn buffers_outside_graphs() -> Result<()> {
    let device = device();
    let buffer = device.alloc::<[f32; 16]>()?;
    assert_eq!(*buffer.read()?, [0.0; 16]);
    buffer.copy_from(&counting())?;
    let mut copy = [0.0; 16];
    buffer.copy_to(&mut copy)?;
    assert_eq!(copy, counting());
    let slice = device.alloc_slice::<u16>(5)?;
    slice.copy_from(&[1, 2, 3, 4, 5])?;
    let expected = (vec![1, 2, 3, 4, 5], 5, 10);
    assert_eq!((slice.read_vec()?, slice.len(), slice.bytes()), expected);
    assert!(slice.copy_from(&[1]).is_err());
    let mut host = device.alloc_host::<[[f64; 3]; 3]>()?;
    host[1][2] = 4.5;
    assert_eq!(*host, [[0.0; 3], [0.0, 0.0, 4.5], [0.0; 3]]);
    let mut host = device.alloc_host_slice::<u8>(100)?;
    host.fill(7);
    assert_eq!(host.iter().map(|&byte| u32::from(byte)).sum::<u32>(), 700);
    Ok(())
}

#[test]
fn what_is_of_no_length_needs_no_order_and_no_write() -> Result<()> {
    let graph = launched(GraphBuilder::new(&device(), "Empty").build())?;
    graph.synchronize()?;

    let mut builder = GraphBuilder::new(&device(), "Nothing");
    let from = builder.host_slice::<f32>("from", 0);
    let mut to = builder.device_slice::<f32>("to", 0);
    let copy = builder.memcpy("copy", &from, &mut to);
    let mut graph = builder.build()?;
    graph.node(copy).set_enabled(false)?;
    graph.launch()?;
    assert!(graph.host_slice(&from)?.is_empty());
    assert!(graph.device(&to)?.read_vec()?.is_empty());

    let mut builder = GraphBuilder::new(&device(), "Nothing");
    let scratch = builder.scratch::<[f32; 8]>("scratch");
    let from = builder.scratch_slice::<f32>("from", 0);
    let to = builder.device_slice::<f32>("to", 0);
    builder.memcpy("part", &scratch.rows(4..4), &mut to.whole());
    builder.memcpy("whole", &from, &mut to.whole());
    builder.memset("set", &mut to.whole(), 1.0_f32);
    builder.build()?.launch()
}

#[test]
fn a_thousand_nodes() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Chain");
    let mut data = builder.device::<[f32; 8]>("data");
    let mut last: Option<NodeId> = None;
    for index in 0..1000 {
        let factor = if index % 2 == 0 { 2.0 } else { 0.5 };
        let call = scale::call(&mut data, factor, 8);
        let node = builder.kernel(format!("k{index}"), Launch::new(1, 8), call);
        builder.after(node, last.as_slice());
        last = Some(node);
    }
    let mut graph = builder.build()?;
    graph.device_mut(&data)?.copy_from(&counting())?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, counting::<8>());
    Ok(())
}
