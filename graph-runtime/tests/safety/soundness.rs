//! Graphs stay sound whatever a program does with them: leaking, swapping, dropping or moving it in flight, and
//! using places where they do not belong.

use crate::common::*;
use std::mem;

/// A graph that takes its time and then writes `value`.
fn slow_graph(value: f32) -> Result<(Graph, Place<[f32; 256], OnHost>)> {
    let mut builder = GraphBuilder::new(&device(), "Slow");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut data = builder.device::<[f32; 256]>("data");
    let mut output = builder.host::<[f32; 256]>("output");
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let set = builder.memset("set", &mut data, value);
    let download = builder.memcpy("download", &data, &mut output);
    in_order(&mut builder, &[slow, set, download]);
    Ok((builder.build()?, output))
}

#[test]
fn reading_waits_and_swapping_and_moving_are_harmless() -> Result<()> {
    let (mut graph, output) = slow_graph(3.0)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[3.0; 256]);
    graph.host_mut(&output)?.fill(0.0);
    graph.launch()?;
    assert_eq!(graph.split_host()?.take(&output)?, &[3.0; 256]);

    let ((mut a, of_a), (mut b, of_b)) = (slow_graph(1.0)?, slow_graph(2.0)?);
    a.launch()?;
    b.launch()?;
    mem::swap(&mut a, &mut b);
    let moved = Box::new(a);
    assert_eq!(moved.host(&of_b)?, &[2.0; 256]);
    assert_eq!(b.host(&of_a)?, &[1.0; 256]);
    Ok(())
}

#[test]
fn dropping_waits_and_forgetting_leaks() -> Result<()> {
    for _ in 0..3 {
        let (mut graph, _) = slow_graph(1.0)?;
        graph.launch()?;
        graph.launch()?;
        drop(graph);
    }

    let (mut graph, _) = slow_graph(1.0)?;
    graph.launch()?;
    mem::forget(graph);
    // Memory that the forgotten launch could reach is not handed out again.
    let (mut graph, output) = slow_graph(2.0)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[2.0; 256]);
    Ok(())
}

#[test]
fn a_graph_moves_to_another_thread_and_dies_there() -> Result<()> {
    let (mut graph, output) = slow_graph(4.0)?;
    graph.launch()?;
    let graph = std::thread::spawn(move || -> Result<Graph> {
        graph.launch()?; // no context is current on this thread
        assert_eq!(graph.host(&output)?, &[4.0; 256]);
        graph.launch()?;
        Ok(graph)
    });
    let graph = graph.join().expect("the thread ends")?;
    assert_eq!(graph.host(&output)?, &[4.0; 256]);

    let (mut graph, _) = slow_graph(4.0)?;
    graph.launch()?;
    std::thread::spawn(move || drop(graph)).join().expect("the thread ends");
    Ok(())
}

/// A graph that takes its time and then writes `value` to memory that is shared.
fn slow_writer(
    device: &Device,
    data: &DeviceBuffer<[f32; 256]>,
    value: f32,
) -> Result<(Graph, Place<[f32; 256], OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Writer");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut data = builder.shared("data", data, true);
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let set = builder.memset("set", &mut data, value);
    builder.after(set, &[slow]);
    Ok((builder.build()?, data))
}

#[test]
fn shared_memory_of_a_forgotten_graph_is_waited_for() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 256]>()?;
    let (mut graph, _) = slow_writer(&device, &data, 7.0)?;
    graph.launch()?;
    mem::forget(graph);
    assert_eq!(*data.read()?, [7.0; 256]);
    drop(data); // the forgotten graph keeps it
    assert_eq!(*device.alloc::<[f32; 256]>()?.read()?, [0.0; 256]);
    Ok(())
}

#[test]
fn shared_memory_outlives_launches_of_graphs_that_let_go_of_it() -> Result<()> {
    let device = device();
    let (first, last) = (device.alloc::<[f32; 256]>()?, device.alloc::<[f32; 256]>()?);
    let (mut graph, data) = slow_writer(&device, &first, 7.0)?;
    drop(first);
    graph.launch()?;
    graph.rebind(&data, &last)?; // the last handle to `first`, in flight
    let fresh = device.alloc::<[f32; 256]>()?; // perhaps at the same address
    graph.launch()?;
    graph.synchronize()?;
    assert_eq!((*fresh.read()?, *last.read()?), ([0.0; 256], [7.0; 256]));
    Ok(())
}

#[test]
fn graphs_with_shared_memory_move_swap_and_die_anywhere() -> Result<()> {
    let device = device();
    let (first, second) = (device.alloc::<[f32; 256]>()?, device.alloc::<[f32; 256]>()?);
    let (mut a, mut b) = (
        slow_writer(&device, &first, 1.0)?.0,
        slow_writer(&device, &second, 2.0)?.0,
    );
    a.launch()?;
    mem::swap(&mut a, &mut b);
    a.launch()?;
    let other = second.clone();
    let thread = std::thread::spawn(move || -> Result<()> {
        drop(a);
        b.launch()?;
        assert_eq!(*other.read()?, [2.0; 256]);
        drop((b, other));
        Ok(())
    });
    assert_eq!((*first.read()?, *second.read()?), ([1.0; 256], [2.0; 256]));
    thread.join().expect("the thread ends")
}

#[test]
fn handles_go_to_any_thread() {
    fn check<T: Send + Sync>() {}
    check::<DeviceBuffer<[f32]>>();
    check::<SharedHost<[f32]>>();
    check::<HostBuffer<[f32]>>();
    check::<HostRef<'static, [f32]>>();
    check::<HostMut<'static, [f32]>>();
}

#[test]
fn places_of_other_graphs_are_refused() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Small");
    let small = builder.host::<[f32; 1]>("small");
    let small_device = builder.device::<[f32; 1]>("small_device");
    let mut graph = builder.build()?;
    let (other, large) = slow_graph(1.0)?;
    let text = "graph `Small`: the place belongs to another graph\n\
                help: pass what this graph's own builder has returned";
    assert_eq!(graph.host(&large).unwrap_err().to_string(), text);
    assert_eq!(graph.host_mut(&large).unwrap_err().to_string(), text);
    assert_eq!(graph.host_slice(&large.rows(..)).unwrap_err().to_string(), text);
    assert_eq!(graph.split_host()?.take(&large).unwrap_err().to_string(), text);
    assert!(matches!(other.device(&small_device), Err(Error::ForeignPlace { .. })));
    refused(graph.host(&small.row(1))).reads("graph `Small`, memory `small`: the place reaches outside");
    let outside = graph.device(&small_device.row(1));
    assert!(matches!(outside, Err(Error::OutOfBounds { .. })));
    Ok(())
}

#[test]
fn a_split_lends_each_resource_once() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Split");
    let a = builder.host::<[[f32; 4]; 2]>("a");
    let b = builder.host_slice::<u8>("b", 3);
    let mut graph = builder.build()?;
    let mut split = graph.split_host()?;
    let (row, bytes) = (split.take(&a.row(1))?, split.take_slice(&b)?);
    row.fill(1.0);
    bytes.fill(2);
    refused(split.take(&a.row(0))).reads("graph `Split`, memory `a`: already taken from this split");
    assert!(matches!(split.take(&a), Err(Error::AlreadyTaken { .. })));
    assert_eq!((row[3], bytes[2]), (1.0, 2), "both live on");
    assert_eq!(graph.host(&a)?, &[[0.0; 4], [1.0; 4]]);
    assert_eq!(graph.split_host()?.take_slice(&b)?, &[2, 2, 2]);
    Ok(())
}

/// On a GPU such a kernel would end all work of the process, so only the emulator is asked.
#[test]
fn a_fault_is_told_by_whoever_waits_and_so_is_a_lie() -> Result<()> {
    let device = Device::emulator();
    let (mut graph, index, out, node) = faulty(&device)?;
    *graph.host_mut(&index)? = [0, 1, 99, 2];
    graph.launch()?;
    let error = refused(graph.synchronize());
    assert!(matches!(error, Error::Fault { .. }));
    error.begins("graph `Faulty`, node `look_up`: ");
    has(error, &["`gather`", "table"]);
    assert!(graph.device(&out).is_err());
    assert!(graph.host_mut(&index).is_err(), "every accessor tells");
    graph.node(node).set_enabled(false)?;
    graph.launch()?;
    graph.synchronize()?;

    let mut builder = GraphBuilder::new(&device, "Lie");
    let out = builder.device::<[u32; 4]>("out");
    let call = falsely::<LyingFill, 1>([CallArgument::read(&out)]);
    builder.kernel("fill", Launch::new(1, 4), call);
    let text = refused(launched(builder.build())?.synchronize());
    text.begins("graph `Lie`, node `fill`: ");
    text.says("reading only");
    Ok(())
}
