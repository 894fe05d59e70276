//! Nodes that reach out of the GPU's work: host functions, and events of other streams.

use crate::common::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, mpsc};

#[test]
fn a_host_function_sees_what_came_before_and_others_see_what_it_writes() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Call");
    let mut data = builder.device::<[f32; 64]>("data");
    let mut seen = builder.host::<[f32; 64]>("seen");
    let mut sums = builder.host::<[f32; 2]>("sums");
    let mut back = builder.device::<[f32; 2]>("back");
    let mut output = builder.host::<[f32; 2]>("output");
    let set = builder.memset("set", &mut data, 1.5_f32);
    let scale = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    let download = builder.memcpy("download", &data, &mut seen);
    let mut launches = 0.0;
    let sum = builder.call("sum", (&seen, &mut sums), move |(seen, sums)| {
        launches += 1.0;
        *sums = [seen.iter().sum(), launches];
    });
    let upload = builder.memcpy("upload", &sums, &mut back);
    let again = builder.memcpy("again", &back, &mut output);
    in_order(&mut builder, &[set, scale, download, sum, upload, again]);
    let mut graph = builder.build()?;
    for launch in 1..=3 {
        graph.launch()?;
        if launch == 2 {
            continue; // a third launch while the second is in flight
        }
        assert_eq!(graph.host(&output)?, &[192.0, launch as f32]);
    }
    Ok(())
}

#[test]
fn functions_borrow_nothing_parts_and_dynamic_lengths() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Borrows");
    let rows = builder.host::<[[u32; 4]; 3]>("rows");
    let mut list = builder.host_slice::<u32>("list", 5);
    let empty = builder.host_slice::<u32>("empty", 0);
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    builder.call("count", (), move |()| {
        counter.fetch_add(1, Relaxed);
    });
    let memory = (&mut rows.row(1), &rows.rows(2..), &mut list);
    let first = builder.call("first", memory, |(row, tail, list)| {
        *row = [7; 4];
        list[4] = row[0] + tail[0][3] + list.len() as u32;
    });
    let memory = (&rows.row(1).row(2), &empty, &mut list.rows_from::<2>(0));
    let second = builder.call("second", memory, |(one, empty, two)| *two = [*one, empty.len() as u32]);
    builder.after(second, &[first]);
    let mut graph = builder.build()?;
    graph.host_mut(&rows)?[2] = [100; 4];
    graph.launch()?;
    assert_eq!(graph.host_slice(&list)?, &[7, 0, 0, 0, 112]);
    assert_eq!(graph.host(&rows)?, &[[0; 4], [7; 4], [100; 4]]);
    assert_eq!(calls.load(Relaxed), 1);
    Ok(())
}

/// `before -> boom -> later`, where `boom` panics in the first and third launch.
fn panicking(device: &Device) -> Result<(graph_runtime::Graph, graph_runtime::Place<u32, graph_runtime::OnHost>)> {
    let mut builder = GraphBuilder::new(device, "Panics");
    let mut count = builder.host::<u32>("count");
    let mut launch = 0;
    let boom = builder.call("boom", (), move |()| {
        launch += 1;
        if launch % 2 == 1 {
            panic!("launch {launch}");
        }
    });
    let also = builder.call("also", (), |()| panic!("second"));
    let later = builder.call("later", (&mut count,), |(count,)| *count += 1);
    in_order(&mut builder, &[boom, also, later]);
    Ok((builder.build()?, count))
}

#[test]
fn a_panic_comes_back_from_the_next_wait_and_the_rest_runs() -> Result<()> {
    let (mut graph, count) = panicking(&device())?;
    graph.launch()?;
    let error = graph.synchronize().unwrap_err();
    error.reads("graph `Panics`, node `boom`: the host function panicked: launch 1");
    assert!(matches!(error, Error::Panicked { .. }));
    assert_eq!(graph.host(&count)?, &1, "told once; the nodes after it ran");
    graph.launch()?;
    refused(graph.host(&count)).reads("graph `Panics`, node `also`: the host function panicked: second");
    graph.launch()?;
    graph.launch()?;
    refused(graph.host_mut(&count)).ends("`boom`: the host function panicked: launch 3");
    assert_eq!(graph.host(&count)?, &4);
    graph.launch()?;
    drop(graph); // with a panic that nobody asked for

    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let mut builder = GraphBuilder::new(&device(), "Values");
    builder.call("throw", (), |()| std::panic::panic_any(Loud));
    let graph = launched(builder.build())?;
    refused(graph.synchronize()).ends("panicked: a value that is no text");
    Ok(())
}

/// Tells when it is dropped.
struct Tell(mpsc::Sender<&'static str>);

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[test]
fn a_graph_keeps_its_functions_until_launches_have_ended() -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    let tell = Tell(sender);
    let mut builder = GraphBuilder::new(&device(), "Kept");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let call = builder.call("call", (), move |()| tell.0.send("called").unwrap());
    builder.after(call, &[slow]);
    let mut graph = builder.build()?;
    let moved = std::thread::spawn(move || {
        graph.launch()?;
        let mut boxed = Box::new(graph);
        boxed.launch()
        // dropped here, in flight
    });
    moved.join().expect("no panic")?;
    assert_eq!(receiver.iter().collect::<Vec<_>>(), ["called", "called", "dropped"]);
    Ok(())
}

#[test]
fn a_function_of_a_graph_that_was_never_built_is_dropped() {
    let (sender, receiver) = mpsc::channel();
    let tell = Tell(sender);
    let mut builder = GraphBuilder::new(&device(), "Unbuilt");
    builder.call("call", (), move |()| tell.0.send("called").unwrap());
    builder.join("call");
    assert!(builder.build().is_err());
    assert_eq!(receiver.iter().collect::<Vec<_>>(), ["dropped"]);
}

#[test]
fn accesses_of_host_functions_take_part_in_the_analysis() {
    let mut builder = GraphBuilder::new(&device(), "Race");
    let mut input = builder.host::<[f32; 4]>("input");
    let mut output = builder.host::<[f32; 4]>("output");
    builder.call("write", (&mut input,), |(input,)| input[0] = 1.0);
    builder.call("read", (&input, &mut output), |(input, output)| *output = *input);
    builder.call("both", (&mut output.rows(..2), &output.rows(1..)), |_| ());
    let text = builder.build().unwrap_err().to_string();
    let ends = "can run at the same time and both access";
    text.says(&format!("nodes `write` and `read` {ends} `input` [race]"));
    text.says(&format!("nodes `read` and `both` {ends} `output` [race]"));
    text.says("node `both` gets `output` as `&mut` and again as `&` [aliased-argument]");

    let device = device();
    let other = GraphBuilder::new(&device, "Other").host::<f32>("x");
    let mut builder = GraphBuilder::new(&device, "Foreign");
    builder.call("call", (&other,), |_| ());
    refused(builder.build()).says("node `call` uses memory of another graph [unknown-resource]");
}

#[test]
fn only_kernels_copies_and_memsets_can_be_disabled() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Fixed");
    let call = builder.call("call", (), |()| ());
    let record = builder.record("record", device.event()?);
    let mut graph = builder.build()?;
    for node in [call, record] {
        let error = graph.node(node).set_enabled(false).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
    Ok(())
}

#[test]
fn the_emulator_compares_what_unordered_functions_touch() -> Result<()> {
    let device = emulator_with(|options| options.check_unordered = true);
    let mut builder = GraphBuilder::new(&device, "Compared");
    let data = builder.host::<[u32; 4]>("data");
    let set = builder.call("set", (&mut data.row(0),), |(one,)| *one = 3);
    builder.call("side", (&data.row(1),), |_| ());
    let add = builder.call("add", (&data.row(0), &mut data.row(2)), |(from, to)| *to += *from);
    builder.after(add, &[set]);
    let graph = launched(builder.build())?;
    assert_eq!(graph.host(&data)?, &[3, 0, 3, 0]);
    Ok(())
}

#[test]
fn events_order_nothing_in_their_own_graph_and_may_be_used_twice() -> Result<()> {
    let device = device();
    let (done, never) = (device.event()?, device.event()?);
    let mut builder = GraphBuilder::new(&device, "Events");
    let mut data = builder.device::<[f32; 4]>("data");
    let start = builder.wait("start", &never);
    let set = builder.memset("set", &mut data, 1.0_f32);
    let end = builder.record("end", &done);
    let again = builder.record("again", done.clone());
    in_order(&mut builder, &[start, set, end, again]);
    let mut graph = builder.build()?;
    drop(never); // the graph keeps it
    graph.launch()?;
    graph.launch()?;
    done.synchronize()?;
    assert_eq!(*graph.device(&data)?.read()?, [1.0; 4]);
    Ok(())
}

#[test]
fn events_of_other_devices_are_refused() -> Result<()> {
    let (device, emulator) = (device(), Device::emulator());
    let mut builder = GraphBuilder::new(&emulator, "Emulated");
    builder.wait("start", device.event()?);
    assert_eq!(builder.build().is_err(), !device.is_emulator());
    if device.is_emulator() {
        return Ok(());
    }
    let mut builder = GraphBuilder::new(&device, "Cuda");
    builder.record("end", emulator.event()?);
    refused(builder.build()).reads("graph `Cuda`, node `end`: the event is one of the CPU emulator");
    Ok(())
}

/// `wait -> add -> record`: the kernel counts only what the stream wrote before it recorded the event.
#[test]
#[ignore = "needs a CUDA device"]
fn other_streams_are_waited_for_and_wait() -> Result<()> {
    let device = cuda_device();
    let context = device.context().expect("a CUDA device has a context").clone();
    let stream = context.new_stream().expect("a stream");
    let ready = Arc::new(context.new_event(None).expect("an event"));
    let done = device.event()?;

    let mut first = GraphBuilder::new(&device, "First");
    let mut flag = first.device::<[u32; 1]>("flag");
    let busy = first.kernel("busy", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let mut order = first.host::<u32>("order");
    let clock = Arc::new(AtomicU32::new(0));
    let tick = clock.clone();
    let write = first.call("write", (&mut order,), move |(order,)| {
        *order = 1 + tick.fetch_add(1, Relaxed)
    });
    first.after(write, &[busy]);
    let mut first = first.build()?;

    let mut second = GraphBuilder::new(&device, "Second");
    let mut late = second.host::<u32>("late");
    let start = second.wait("start", &ready);
    let tick = clock.clone();
    let write = second.call("write", (&mut late,), move |(late,)| {
        *late = 1 + tick.fetch_add(1, Relaxed)
    });
    let end = second.record("end", &done);
    in_order(&mut second, &[start, write, end]);
    let mut second = second.build()?;

    for round in 0..3 {
        first.launch_on(&stream)?;
        ready.record(&stream).expect("recorded");
        second.launch()?;
        let after = context.new_stream().expect("a stream");
        after.wait(done.as_cudarc().expect("one of CUDA")).expect("waits");
        after.synchronize().expect("done");
        let expected = 2 * round + 2;
        assert_eq!(clock.load(Relaxed), expected, "the last stream has waited for both");
        let expected = (2 * round + 1, 2 * round + 2);
        assert_eq!((*first.host(&order)?, *second.host(&late)?), expected);
    }
    Ok(())
}

#[test]
fn shared_memory_of_a_host_function_can_be_rebound() -> Result<()> {
    let device = device();
    let buffers: Vec<_> = (0..3)
        .map(|_| device.alloc_host::<[u32; 4]>().map(HostBuffer::share))
        .collect::<Result<_>>()?;
    let mut builder = GraphBuilder::new(&device, "Rebound");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut shared = builder.shared("shared", &buffers[0], true);
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let mut launch = 0;
    let write = builder.call("write", (&mut shared,), move |(shared,)| {
        launch += 1;
        *shared = [launch; 4];
    });
    builder.after(write, &[slow]);
    let mut graph = builder.build()?;
    for buffer in &buffers {
        graph.rebind(&shared, buffer)?;
        graph.launch()?; // the one before is still in flight
    }
    for (buffer, launch) in buffers.iter().zip(1..) {
        assert_eq!(*buffer.read()?, [launch; 4]);
    }
    for _ in 0..100 {
        graph.rebind(&shared, &buffers[0])?;
    }
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [4; 4]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn cuda_is_refused_in_host_functions() -> Result<()> {
    let device = cuda_device();
    let (sender, receiver) = mpsc::channel();
    let mut builder = GraphBuilder::new(&device, "Forbidden");
    let (inside, behind) = (device.clone(), device.event()?);
    let mut other = GraphBuilder::new(&device, "Other").build()?;
    let record = builder.record("record", &behind);
    let call = builder.call("call", (), move |()| {
        // The event is recorded after this function, which would wait for itself.
        let results = [
            inside.alloc::<[f32; 4]>().map(drop),
            inside.event().map(drop),
            behind.synchronize(),
            other.launch(),
        ];
        sender.send(results).unwrap();
    });
    builder.after(record, &[call]);
    let graph = launched(builder.build())?;
    graph.synchronize()?;
    for result in receiver.recv().unwrap() {
        refused(result).says("a CUDA call in a host function failed");
    }
    Ok(())
}
