//! Scratch memory: its arena, who may be disabled, and what is found to be wrong with it.

use crate::common::*;
use graph_runtime::private::Declare as _;

/// Layers in a row, with four temporaries of these lengths each. Each layer adds 4 to `x`.
fn layers(device: &Device, layers: usize, lengths: [usize; 4]) -> (Graph, Place<[f32], OnDevice>) {
    let mut builder = GraphBuilder::new(device, "Layers");
    let x = builder.device_slice::<f32>("x", 32);
    let mut last: Option<NodeId> = None;
    for layer in 0..layers {
        let temporaries = [0, 1, 2, 3].map(|number| {
            let name = format!("t{layer}_{number}");
            builder.scratch_slice::<f32>(name, lengths[number]).rows(..32)
        });
        let mut from = x;
        for (step, to) in temporaries.into_iter().chain([x]).enumerate() {
            let shift = if step < 4 { 1.0 } else { 0.0 };
            let affine = Affine::new(1.0, shift, 32);
            let node = builder.kernel(
                format!("n{layer}_{step}"),
                Launch::new(1, 32),
                // SAFETY: both have at least 32 elements.
                unsafe { copy_struct::call(affine, &from, &mut to.whole()) },
            );
            builder.after(node, last.as_slice());
            (last, from) = (Some(node), to);
        }
    }
    (builder.build().unwrap(), x)
}

#[test]
fn layers_need_no_more_than_their_widest_point() {
    let [wide, long] = [[64, 640, 192, 64], [192, 128, 160, 192]];
    for lengths in [[32; 4], wide, long, [1000, 33, 500, 70]] {
        let (mut graph, x) = layers(&device(), 24, lengths);
        let bytes = lengths.map(|length| (4 * length).next_multiple_of(256));
        let widest = (0..3).map(|at| bytes[at] + bytes[at + 1]).max().unwrap();
        assert_eq!(graph.plan().arena(), widest, "{lengths:?}");
        graph.launch().unwrap();
        assert_eq!(graph.device(&x).unwrap().read_vec().unwrap(), [96.0; 32]);
    }
}

/// `in -> a -> out` and then `in -> b -> out`, by copies.
fn two(builder: &mut GraphBuilder) -> ([Place<[f32; 64], OnDevice>; 3], [NodeId; 4]) {
    let (mut a, mut b) = (builder.scratch("a"), builder.scratch("b"));
    let mut data = builder.device::<[f32; 64]>("data");
    let nodes = [
        builder.memset("write_a", &mut a, 1.0_f32),
        builder.memcpy("read_a", &a, &mut data),
        builder.memset("write_b", &mut b, 2.0_f32),
        builder.memcpy("read_b", &b, &mut data),
    ];
    in_order(builder, &nodes);
    ([a, b, data], nodes)
}

#[test]
fn an_arena_found_before_is_used_if_it_is_right() {
    for (offsets, bytes, expected) in [
        (&[256, 512][..], 1024, [256, 512]),
        (&[0, 0], 256, [0, 0]),
        (&[0, 0], 255, [0, 0]),
        (&[0], 256, [0, 0]),
        (&[100, 100], 1024, [0, 0]),
        (&[0, usize::MAX - 255], 1024, [0, 0]),
    ] {
        let mut builder = GraphBuilder::new(&device(), "Packed");
        two(&mut builder);
        builder.arena(offsets, bytes);
        let plan = builder.build().unwrap().plan();
        let found = [0, 1].map(|resource| plan.resources[resource].offset.unwrap());
        assert_eq!(found, expected, "{offsets:?}");
    }
    let mut builder = GraphBuilder::new(&device(), "Packed");
    let ([_, mut b, _], nodes) = two(&mut builder);
    let early = builder.memset("early", &mut b, 0.0_f32);
    builder.after(nodes[0], &[early]);
    let also = builder.memset("also", &mut b.row(0), 0.0_f32);
    builder.after(also, &[nodes[0]]);
    builder.after(nodes[2], &[also]);
    builder.arena(&[0, 0], 256);
    assert_eq!(builder.build().unwrap().plan().arena(), 512); // the two are in use at once
}

#[test]
fn scratch_memory_is_not_lent() {
    let mut builder = GraphBuilder::new(&device(), "Lent");
    let ([a, _, data], _) = two(&mut builder);
    let mut graph = launched(builder.build()).unwrap();
    assert_eq!(*graph.device(&data).unwrap().read().unwrap(), [2.0; 64]);
    let error = graph.device(&a).err().unwrap();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("`a`"), "{error}");
    assert!(graph.device_mut(&a).is_err());
}

#[test]
fn what_others_read_or_what_begins_anew_is_not_disabled() {
    let mut builder = GraphBuilder::new(&device(), "Disabled");
    let (_, [write_a, read_a, write_b, read_b]) = two(&mut builder);
    let mut graph = builder.build().unwrap();
    let error = graph.node(write_a).set_enabled(false).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("`write_a`"), "{error}");
    assert!(graph.node(write_a).is_enabled());
    graph.node(read_a).set_enabled(false).unwrap();
    graph.node(write_a).set_enabled(false).unwrap();
    graph.node(read_a).set_enabled(true).unwrap_err();
    graph.node(write_a).set_enabled(true).unwrap();
    graph.node(read_a).set_enabled(true).unwrap();
    graph.node(read_b).set_enabled(false).unwrap();
    graph.node(write_b).set_enabled(false).unwrap();
    graph.launch().unwrap();
    graph.synchronize().unwrap();

    let mut builder = GraphBuilder::new(&device(), "Disabled");
    let ([mut a, _, mut data], [.., last]) = two(&mut builder);
    let again = builder.memset("again", &mut a, 3.0_f32);
    let read = builder.memcpy("read_again", &a, &mut data);
    in_order(&mut builder, &[last, again, read]);
    let mut graph = builder.build().unwrap();
    assert_eq!(graph.plan().arena(), 256); // b lies where a does, between the two uses of a
    refused(graph.node(again).set_enabled(false)).says("scratch memory would have to last for longer");
}

#[test]
fn what_nothing_wrote_is_not_read() {
    let build = |first: bool| {
        let mut builder = GraphBuilder::new(&device(), "First");
        let mut tmp = builder.scratch::<[f32; 64]>("tmp");
        let mut out = builder.device::<[f32; 64]>("out");
        let set = (!first).then(|| builder.memset("set", &mut tmp, 1.0_f32));
        let double = builder.kernel("double", Launch::new(1, 64), scale::call(&mut tmp, 2.0, 64));
        builder.after(double, set.as_slice());
        let copy = builder.memcpy("copy", &tmp, &mut out);
        builder.after(copy, &[double]);
        builder.build()
    };
    build(false).unwrap();
    let error = build(true).unwrap_err().to_string();
    error.says("node `double` reads `tmp`, which no node before it has written [uninitialized]");
    assert_eq!(error.matches("[uninitialized]").count(), 1, "{error}");

    let mut builder = GraphBuilder::new(&device(), "Unwritten");
    let tmp = builder.scratch::<[f32; 64]>("tmp");
    let mut out = builder.host::<[f32; 64]>("out");
    builder.memcpy("copy", &tmp, &mut out);
    let error = builder.build().unwrap_err().to_string();
    let part = "node `copy` reads `tmp`, which no node before it has written [uninitialized]";
    assert!(error.contains(part), "{error}");

    let build = |written: usize| {
        let mut builder = GraphBuilder::new(&device(), "Parts");
        let tmp = builder.scratch::<[u32; 4]>("tmp");
        let mut out = builder.host::<[u32; 4]>("out");
        let download = builder.memcpy("download", &tmp, &mut out);
        for element in 0..written {
            let set = builder.memset(format!("set{element}"), &mut tmp.row(element), 1_u32);
            builder.after(download, &[set]);
        }
        builder.build()
    };
    assert!(build(4).is_ok());
    let message = build(1).unwrap_err().to_string();
    message.says("node `download` reads `tmp`, which is written only in part");
    message.says("no node before `download` writes `tmp[4..16]`");
}

/// Kernels that leave their scratch buffer are caught, though the next buffer follows directly in the same allocation.
#[test]
fn each_buffer_ends_where_it_ends() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Bounds");
    let (mut a, mut b) = (builder.scratch::<[u32; 64]>("a"), builder.scratch::<[u32; 64]>("b"));
    let mut out = builder.device::<[u32; 64]>("out");
    let write_b = builder.memset("write_b", &mut b, 7_u32);
    let write_a = builder.kernel("write_a", Launch::new(1, 64), fill_index::call(&mut a));
    builder.after(write_a, &[write_b]);
    let copy_b = builder.memcpy("copy_b", &b, &mut out);
    let copy_a = builder.memcpy("copy_a", &a, &mut out);
    in_order(&mut builder, &[write_a, copy_b, copy_a]);
    let mut graph = builder.build().unwrap();
    let plan = graph.plan();
    let expected = [Some(256), Some(0)];
    assert_eq!([0, 1].map(|resource| plan.resources[resource].offset), expected);
    graph.launch().unwrap();
    assert_eq!(graph.device(&out).unwrap().read().unwrap()[63], 63);

    let mut builder = GraphBuilder::new(&Device::emulator(), "Bounds");
    let [mut a, mut b] = ["a", "b"].map(|name| builder.scratch::<[f32; 64]>(name));
    let mut index = builder.scratch::<[u32; 64]>("index");
    let mut out = builder.device::<[f32; 64]>("out");
    let writes = [
        builder.memset("write_a", &mut a, 1.0_f32),
        builder.memset("write_b", &mut b, 2.0_f32),
        builder.memset("write_index", &mut index, 70_u32),
    ];
    // SAFETY: it is false, and the emulator finds it.
    let call = unsafe { gather::call(&index, &a, &mut out) };
    let last = builder.kernel("gather", Launch::new(1, 64), call);
    builder.after(last, &writes);
    let graph = launched(builder.build()).unwrap();
    refused(graph.synchronize()).says("`a`, which has 256 bytes");
}

#[test]
fn nothing_is_left_from_the_launch_before() {
    let device = emulator_with(|options| options.check_uninitialized = true);
    let mut builder = GraphBuilder::new(&device, "Stale");
    let mut tmp = builder.scratch::<[f32; 64]>("tmp");
    let mut data = builder.device::<[f32; 64]>("data");
    let affine = |n| Affine::new(1.0, 1.0, n);
    // SAFETY: both have 64 elements.
    let call = unsafe { copy_struct::call(affine(32), &data, &mut tmp) };
    let write = builder.kernel("write", Launch::new(1, 64), call);
    // SAFETY: as above.
    let call = unsafe { copy_struct::call(affine(32), &tmp, &mut data) };
    let read = builder.kernel("read", Launch::new(1, 64), call);
    builder.after(read, &[write]);
    let mut graph = launched(builder.build()).unwrap();
    graph.synchronize().unwrap();
    let changed = graph.update("longer", |update| {
        // SAFETY: as above.
        let call = unsafe { copy_struct::call(affine(33), &tmp, &mut data) };
        update.kernel(read, Launch::new(1, 64), call)
    });
    changed.unwrap();
    graph.launch().unwrap();
    refused(graph.synchronize()).says("load of 4 bytes at offset 128 of `tmp`, which nothing has written");
}

#[test]
fn scratch_memory_may_be_empty_or_too_large() {
    let mut builder = GraphBuilder::new(&device(), "Empty");
    let mut none = builder.scratch_slice::<f32>("none", 0);
    builder.memset("set", &mut none, 1.0_f32);
    let graph = launched(builder.build()).unwrap();
    graph.synchronize().unwrap();

    let mut builder = GraphBuilder::new(&device(), "Large");
    let mut large = builder.scratch_slice::<f32>("large", usize::MAX);
    builder.memset("set", &mut large, 1.0_f32);
    let error = builder.build().unwrap_err();
    let is_refused = matches!(error, Error::OutOfMemory { .. } | Error::Cuda { .. });
    assert!(is_refused, "{error}");
}
