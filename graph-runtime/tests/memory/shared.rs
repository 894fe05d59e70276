//! Memory that graphs share: with each other, with the host, and with nobody else at the same time.

use crate::common::*;
use std::sync::mpsc;

/// Takes its time, so that a node that does not wait for it comes too early.
fn delay(builder: &mut GraphBuilder) -> graph_runtime::NodeId {
    let mut flag = builder.device::<[u32; 1]>("flag");
    builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps(), &mut flag))
}

/// Takes its time and sets all of `data` to `value`.
fn producer(device: &Device, data: &DeviceBuffer<[f32; 64]>, value: f32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Producer");
    let mut data = builder.shared("data", data, true);
    let delay = delay(&mut builder);
    let set = builder.memset("set", &mut data, value);
    builder.after(set, &[delay]);
    builder.build()
}

/// Reads `data` into memory of its own, with a kernel: out = data + data.
fn consumer(device: &Device, data: &DeviceBuffer<[f32; 64]>) -> Result<(Graph, Place<[f32; 64], OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Consumer");
    let data = builder.shared("data", data, false);
    let mut out = builder.device::<[f32; 64]>("out");
    builder.kernel("add", Launch::new(1, 64), add::call(&data, &data, &mut out, 64));
    Ok((builder.build()?, out))
}

/// Takes its time and copies `data` to `out`: a reader that writers must wait for.
pub(crate) fn slow_reader(
    device: &Device,
    data: &DeviceBuffer<[f32; 64]>,
    out: &SharedHost<[f32; 64]>,
) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "SlowReader");
    let data = builder.shared("data", data, false);
    let mut out = builder.shared("out", out, true);
    let delay = delay(&mut builder);
    let download = builder.memcpy("download", &data, &mut out);
    builder.after(download, &[delay]);
    builder.build()
}

/// Sets `data` to `value`, at once.
fn setter(device: &Device, data: &DeviceBuffer<[f32; 64]>, value: f32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Setter");
    let mut data = builder.shared("data", data, true);
    builder.memset("set", &mut data, value);
    builder.build()
}

#[test]
fn two_graphs_share_weights_and_many_leave_no_trace() -> Result<()> {
    let device = device();
    let weights = device.alloc::<[f32; 64]>()?;
    weights.copy_from(&counting())?;
    let ((mut first, of_first), (mut second, of_second)) =
        (consumer(&device, &weights)?, consumer(&device, &weights.clone())?);
    first.launch()?;
    second.launch()?;
    let doubled: [f32; 64] = counting::<64>().map(|x| 2.0 * x);
    assert_eq!(*first.device(&of_first)?.read()?, doubled);
    assert_eq!(*second.device(&of_second)?.read()?, doubled);
    weights.copy_from(&[1.0; 64])?;
    first.launch()?;
    assert_eq!(*first.device(&of_first)?.read()?, [2.0; 64]);

    let data = device.alloc::<[f32; 64]>()?;
    data.copy_from(&[1.0; 64])?;
    for _ in 0..20 {
        let (mut graph, _) = consumer(&device, &data)?;
        graph.launch()?;
    }
    let mut setter = setter(&device, &data, 2.0)?;
    setter.launch()?;
    assert_eq!(*data.read()?, [2.0; 64]);
    Ok(())
}

#[test]
fn readers_writers_and_the_host_wait_for_each_other() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let mut producer = producer(&device, &data, 3.0)?;
    let (mut consumer, out) = consumer(&device, &data)?;
    for value in [0.0, 1.0] {
        data.copy_from(&[value; 64])?;
        producer.launch()?;
        consumer.launch()?;
        assert_eq!(*consumer.device(&out)?.read()?, [6.0; 64]);
    }

    let data = device.alloc::<[f32; 64]>()?;
    let outs = [device.alloc_host()?, device.alloc_host()?].map(HostBuffer::share);
    let reader = |out| slow_reader(&device, &data, out);
    let mut readers = [reader(&outs[0])?, reader(&outs[1])?];
    let mut setter = setter(&device, &data, 5.0)?;
    data.copy_from(&[2.0; 64])?;
    for reader in &mut readers {
        reader.launch()?;
    }
    setter.launch()?;
    setter.synchronize()?;
    assert_eq!((*outs[0].read()?, *outs[1].read()?), ([2.0; 64], [2.0; 64]));
    assert_eq!(*data.read()?, [5.0; 64]);

    let data = device.alloc::<[f32; 64]>()?;
    let out = device.alloc_host::<[f32; 64]>()?.share();
    let mut producer = self::producer(&device, &data, 3.0)?;
    let mut reader = slow_reader(&device, &data, &out)?;
    producer.launch()?;
    assert_eq!(*data.read()?, [3.0; 64], "reading waits for the writer");
    reader.launch()?;
    data.copy_from(&[4.0; 64])?;
    assert_eq!(*out.read()?, [3.0; 64], "writing waited for the reader");
    reader.launch()?;
    assert_eq!(*out.read()?, [4.0; 64], "the guard waits for the copy");
    producer.launch()?;
    let through = data.rows(60..)?;
    assert_eq!(through.read_vec()?, [3.0; 4], "so does reading a part");
    Ok(())
}

#[test]
fn memory_is_not_copied_onto_itself_by_other_names() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let build = |first: &DeviceBuffer<[f32]>, second: &DeviceBuffer<[f32]>, copy: bool| {
        let mut builder = GraphBuilder::new(&device, "Twice");
        let a = builder.shared("a", first, false);
        let mut b = builder.shared("b", second, true);
        if copy {
            builder.memcpy("copy", &a, &mut b);
        }
        builder.build()
    };
    let (low, high, middle) = (data.rows(..32)?, data.rows(32..)?, data.rows(16..48)?);
    let expected = "graph `Twice` has 1 mistake\n\
         node `copy` copies `a` to `b`, which are shared memory that overlaps [aliased-argument]\n\
         note: 64 bytes belong to both\n\
         help: share memory that does not overlap, or pass parts that do not";
    assert_eq!(build(&low, &middle, true).unwrap_err().to_string(), expected);
    assert!(matches!(build(&high, &middle, true), Err(Error::Invalid { .. })));
    build(&low, &middle, false)?.launch()?;
    data.copy_from(&counting())?;
    let _graph = launched(build(&low, &high, true))?;
    assert_eq!(high.read_vec()?, counting::<32>());
    Ok(())
}

#[test]
fn what_is_shared_to_read_is_not_written_and_lengths_are_checked() -> Result<()> {
    let device = device();
    let data = device.alloc_slice::<f32>(64)?;
    let mut builder = GraphBuilder::new(&device, "Honest");
    let mut w = builder.shared("w", &data, false);
    builder.kernel("scale", Launch::new(1, 64), scale::call(&mut w, 2.0, 64));
    let expected = "graph `Honest` has 1 mistake\n\
         node `scale` writes `w`, which is shared without `mut` [access]\n\
         help: share `w` as `mut`: `true` as the last argument of `GraphBuilder::shared`, or `#[places(mut)]` on its field";
    assert_eq!(builder.build().unwrap_err().to_string(), expected);

    let data = device.alloc_slice::<[f32; 4]>(5)?;
    let mut builder = GraphBuilder::new(&device, "Lengths");
    let w = builder.shared("w", &data, false);
    builder.require_len(&w, 5);
    builder.require_len(&w, 6);
    let expected = "graph `Lengths` has 1 mistake\n\
         `w` has 6 rows, but the memory shared as `w` has 5 [shape-mismatch]";
    assert_eq!(builder.build().unwrap_err().to_string(), expected);
    refused(data.row(5)).reads("memory `buffer`: the place reaches outside");
    let host = device.alloc_host_slice::<f32>(3)?.share();
    assert!(host.rows(2..4).is_err() && host.row(3).is_err());
    assert_eq!((host.len(), host.rows(1..)?.len(), host.rows(1..)?.bytes()), (3, 2, 8));
    Ok(())
}

#[test]
fn memory_outlives_handles_graphs_and_devices() -> Result<()> {
    let (data, mut graph) = {
        let device = device();
        let data = device.alloc::<[f32; 64]>()?;
        let graph = producer(&device, &data, 3.0)?;
        (data, graph)
    };
    graph.launch()?;
    drop(graph); // before the buffer, in flight
    assert_eq!(*data.read()?, [3.0; 64]);

    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let (mut producer, (mut consumer, out)) = (producer(&device, &data, 4.0)?, consumer(&device, &data)?);
    drop((data, device)); // before the graphs
    producer.launch()?;
    consumer.launch()?;
    drop(producer);
    assert_eq!(*consumer.device(&out)?.read()?, [8.0; 64]);
    Ok(())
}

#[test]
fn memory_of_other_devices_is_refused() -> Result<()> {
    let (ours, other) = (device(), Device::emulator());
    let text = "graph `Consumer`, memory `data`: the memory belongs to another device\nhelp: ";
    let theirs = other.alloc::<[f32; 64]>()?;
    refused(consumer(&ours, &theirs)).begins(text);
    let mine = ours.alloc::<[f32; 64]>()?;
    refused(consumer(&other, &mine)).begins(text);

    // Memory of two emulators may have the same addresses.
    let (ours, other) = (Device::emulator(), Device::emulator());
    let (a, b) = (ours.alloc_slice::<u32>(8)?, other.alloc_slice::<u32>(8)?);
    for order in [[&a, &b], [&b, &a]] {
        let mut builder = GraphBuilder::new(&ours, "Two");
        let mut first = builder.shared("first", order[0], true);
        let second = builder.shared("second", order[1], false);
        builder.memcpy("copy", &second, &mut first);
        refused(builder.build()).says("the memory belongs to another device");
    }
    Ok(())
}

#[test]
fn shared_device_memory_is_read_through_its_graphs() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let mut builder = GraphBuilder::new(&device, "View");
    let place = builder.shared("data", &data.rows(32..)?, false);
    let mut graph = builder.build()?;
    graph.device_mut(&place.rows(30..))?.copy_from(&[1.0, 2.0])?;
    assert_eq!(data.read()?[61..], [0.0, 1.0, 2.0]);
    let mut producer = producer(&device, &data, 3.0)?;
    producer.launch()?;
    assert_eq!(graph.device(&place)?.read_vec()?, [3.0; 32]); // another graph is waited for
    Ok(())
}

#[test]
fn threads_share_memory() -> Result<()> {
    const EACH: usize = 50;
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let graph = || -> Result<Graph> {
        let mut builder = GraphBuilder::new(&device, "Increment");
        let mut data = builder.shared("data", &data, true);
        builder.kernel("bounded", Launch::new(1, 64), bounded::call(&mut data));
        builder.build()
    };
    let graphs = [graph()?, graph()?, graph()?];
    let results = graphs.map(|mut graph| {
        std::thread::spawn(move || -> Result<()> {
            for _ in 0..EACH {
                graph.launch()?;
            }
            Ok(())
        })
    });
    while data.read()?[0] < (3 * EACH) as f32 {
        std::thread::yield_now();
    }
    for result in results {
        result.join().expect("the thread ends")?;
    }
    assert_eq!(*data.read()?, [(3 * EACH) as f32; 64]);
    Ok(())
}

#[test]
fn two_pieces_of_memory_in_either_order_do_not_block() -> Result<()> {
    let device = device();
    let (a, b) = (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?);
    let graph = |from: &DeviceBuffer<[f32; 64]>, to: &DeviceBuffer<[f32; 64]>| -> Result<Graph> {
        let mut builder = GraphBuilder::new(&device, "Copy");
        let from = builder.shared("from", from, false);
        let mut to = builder.shared("to", to, true);
        builder.memcpy("copy", &from, &mut to);
        builder.build()
    };
    let (done, wait) = mpsc::channel();
    for mut graph in [graph(&a, &b)?, graph(&b, &a)?] {
        let done = done.clone();
        std::thread::spawn(move || {
            let launched = (0..200).try_for_each(|_| graph.launch());
            done.send(launched.and_then(|()| graph.synchronize()))
        });
    }
    for _ in 0..2 {
        wait.recv_timeout(std::time::Duration::from_secs(60))
            .expect("no deadlock")?;
    }
    Ok(())
}
