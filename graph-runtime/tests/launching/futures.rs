//! Launches as futures.

use crate::common::*;
use std::future::Future;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// The number of rounds of the long test, if `CUDA_GRAPH_TEST_ROUNDS` names no other.
const ROUNDS: usize = 24;

/// A graph that takes its time, adds 1 to a counter, and brings it to the host.
fn counter(device: &Device, steps: u64) -> Result<(Graph, Place<[u32; 64], OnHost>)> {
    let mut builder = GraphBuilder::new(device, "Counter");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut data = builder.device::<[u32; 64]>("data");
    let mut output = builder.host::<[u32; 64]>("output");
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(steps, &mut flag));
    let add = builder.kernel("add", Launch::new(1, 64), add_to::call(&mut data, 1));
    let download = builder.memcpy("download", &data, &mut output);
    in_order(&mut builder, &[slow, add, download]);
    Ok((builder.build()?, output))
}

/// Polls once, with a waker that does nothing.
fn poll(future: &mut LaunchFuture) -> Poll<Result<()>> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Whether launches may be in flight when their futures are made: not in debug mode, which the emulator does not have.
fn is_asynchronous(device: &Device) -> bool {
    device.is_emulator() || std::env::var_os("CUDA_GRAPH_DEBUG").is_none()
}

/// A graph whose host function keeps its launches in flight until the sender is used, if they may be in flight.
fn held(device: &Device) -> Result<(Graph, Sender<()>)> {
    let (go, wait) = mpsc::channel();
    let mut builder = GraphBuilder::new(device, "Held");
    let is_held = is_asynchronous(device);
    builder.call("hold", (), move |()| {
        if is_held {
            let _ = wait.recv_timeout(Duration::from_secs(600));
        }
    });
    Ok((builder.build()?, go))
}

#[test]
fn a_future_resolves_when_its_launch_has_ended() -> Result<()> {
    let device = device();
    for steps in [1, slow_steps() / 100, slow_steps()] {
        let (mut graph, output) = counter(&device, steps)?;
        let mut future = graph.launch_async()?;
        block_on(&mut future)?;
        if let Some(raw) = graph.raw() {
            // SAFETY: the graph lives, and so does its stream.
            let status = unsafe { graph_runtime::cudarc::driver::sys::cuStreamQuery(raw.stream) };
            assert_eq!(status as u32, 0, "nothing is in flight any more");
        }
        assert!(matches!(poll(&mut future), Poll::Ready(Ok(()))), "it stays resolved");
        assert_eq!(graph.host(&output)?, &[1; 64]);
    }
    Ok(())
}

/// A host function keeps the launch in flight until the future has been polled.
#[test]
fn a_future_is_pending_while_its_launch_runs() -> Result<()> {
    let device = device();
    for max_spin in [None, Some(Duration::ZERO)] {
        let device = max_spin.map_or(device.clone(), |time| device.with_max_spin(time));
        let is_held = is_asynchronous(&device);
        let (mut graph, go) = held(&device)?;
        let mut future = graph.launch_async()?;
        assert_eq!(poll(&mut future).is_pending(), is_held);
        let thread = thread::spawn(move || block_on(future));
        if is_held {
            thread::sleep(Duration::from_millis(20));
            assert!(!thread.is_finished());
            go.send(()).expect("the function waits");
        }
        thread.join().expect("it does not panic")?;
        graph.synchronize()?;
    }
    Ok(())
}

#[test]
fn several_launches_are_in_flight() -> Result<()> {
    let (mut graph, output) = counter(&device(), slow_steps() / 20)?;
    let mut futures = (0..8).map(|_| graph.launch_async()).collect::<Result<Vec<_>>>()?;
    block_on(futures.pop().expect("there are eight"))?; // the last
    assert!(futures.iter_mut().all(|future| poll(future).is_ready())); // all others came before
    assert_eq!(graph.host(&output)?, &[8; 64]);
    let (first, second) = (graph.launch_async()?, graph.launch_async()?);
    block_on(async {
        first.await?;
        second.await
    })?;
    assert_eq!(graph.host(&output)?, &[10; 64]);
    Ok(())
}

#[test]
fn futures_are_dropped_forgotten_and_outlive_their_graph() -> Result<()> {
    let device = device();
    let (mut graph, output) = counter(&device, slow_steps() / 10)?;
    drop(graph.launch_async()?);
    let mut polled = graph.launch_async()?;
    let _ = poll(&mut polled);
    drop(polled);
    mem::forget(graph.launch_async()?);
    let mut polled = graph.launch_async()?;
    let _ = poll(&mut polled);
    mem::forget(polled);
    assert_eq!(graph.host(&output)?, &[4; 64]);
    let mut last = graph.launch_async()?;
    let unpolled = graph.launch_async()?;
    let _ = poll(&mut last);
    drop((graph, device));
    block_on(last)?;
    block_on(unpolled)
}

#[test]
fn futures_move_to_other_threads() -> Result<()> {
    fn assert_all<T: Send + Sync + Unpin + 'static>(_: &T) {}
    let (mut graph, output) = counter(&device(), slow_steps() / 10)?;
    let futures = (0..3).map(|_| graph.launch_async()).collect::<Result<Vec<_>>>()?;
    assert_all(&futures);
    let threads = futures.into_iter().map(|mut future| {
        let _ = poll(&mut future); // another task waits first
        thread::spawn(move || block_on(future))
    });
    let threads: Vec<_> = threads.collect();
    for thread in threads {
        thread.join().expect("it does not panic")?;
    }
    assert_eq!(graph.host(&output)?, &[3; 64]);
    Ok(())
}

type Task = Pin<Box<dyn Future<Output = Result<u32>> + Send>>;

/// An executor that polls its task in its waker, as it should not.
struct Inline {
    task: Mutex<Option<Task>>,
    result: Sender<Result<u32>>,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let mut task = self.task.lock().expect("nobody panics");
        let Some(running) = task.as_mut() else { return };
        if let Poll::Ready(result) = running.as_mut().poll(&mut Context::from_waker(&self.clone().into())) {
            *task = None;
            self.result.send(result).expect("somebody waits");
        }
    }
}

#[test]
fn wakers_may_launch_graphs() -> Result<()> {
    let (mut graph, output) = counter(&device().with_max_spin(Duration::from_micros(50)), slow_steps() / 20)?;
    let (result, ended) = mpsc::channel();
    let task = async move {
        for _ in 0..5 {
            graph.launch_async()?.await?;
        }
        Ok(graph.host(&output)?[0])
    };
    let executor = Arc::new(Inline {
        task: Mutex::new(Some(Box::pin(task))),
        result,
    });
    executor.wake();
    let ended = ended.recv_timeout(Duration::from_secs(600));
    assert_eq!(ended.expect("it ends")?, 5);
    Ok(())
}

#[test]
fn a_waker_that_panics_stops_nobody() -> Result<()> {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }
    let (mut graph, output) = counter(&device(), slow_steps() / 20)?;
    let mut first = graph.launch_async()?;
    let _ = pin!(&mut first).poll(&mut Context::from_waker(&Arc::new(Panics).into()));
    let second = graph.launch_async()?;
    block_on(second)?;
    block_on(first)?;
    assert_eq!(graph.host(&output)?, &[2; 64]);
    Ok(())
}

/// The future is that of the launch that calls the function. (Another launch could not wait in one: CUDA calls all host
/// functions one after the other.)
#[test]
fn a_host_function_does_not_wait_for_futures() -> Result<()> {
    let device = device();
    if !is_asynchronous(&device) {
        return Ok(()); // the launch ends before there is a future
    }
    let (sender, own) = mpsc::channel::<LaunchFuture>();
    let (result, polled) = mpsc::channel();
    let mut builder = GraphBuilder::new(&device, "Polls");
    builder.call("poll", (), move |()| {
        let _ = result.send(block_on(own.recv().expect("the test sends the future")));
    });
    let mut graph = builder.build()?;
    sender.send(graph.launch_async()?).expect("the function waits");
    refused(polled.recv().expect("it was called")).says("in a host function");
    graph.synchronize()
}

/// A guard of the host waits for a launch on a thread; a launch waits for the launch before it; memory that a guard
/// lends refuses a launch before `launch_async` returns.
#[test]
fn launches_on_threads_claim_what_they_share() -> Result<()> {
    let device = device();
    let shared = device.alloc_host::<[u32; 4]>()?.share();
    let mut builder = GraphBuilder::new(&device, "Shares");
    let mut memory = builder.shared("memory", &shared, true);
    builder.call("add", (&mut memory,), |(memory,)| {
        thread::sleep(Duration::from_millis(20));
        memory.iter_mut().for_each(|element| *element += 1);
    });
    let mut graph = builder.build()?;
    let first = graph.launch_async()?;
    assert_eq!(*shared.read()?, [1; 4], "the guard waits");
    let second = graph.launch_async()?;
    drop(second);
    assert_eq!(*shared.read()?, [2; 4]);
    let guard = shared.read()?;
    assert!(matches!(graph.launch_async(), Err(Error::InUse { .. })));
    drop(guard);
    block_on(first)?;
    block_on(graph.launch_async()?)?;
    drop(graph);
    let unique = shared
        .into_unique()
        .expect("the launches have ended, and the graph is gone");
    assert_eq!(unique.iter().sum::<u32>(), 12);
    Ok(())
}

#[test]
fn panics_and_faults_are_errors_of_their_launch() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Panics");
    let mut launches = 0;
    builder.call("sometimes", (), move |()| {
        launches += 1;
        assert!(launches % 2 == 0, "odd");
    });
    let mut graph = builder.build()?;
    let error = block_on(graph.launch_async()?).unwrap_err();
    assert!(matches!(&error, Error::Panicked { .. }), "{error}");
    error.says("graph `Panics`, node `sometimes`");
    graph.synchronize()?; // it was returned once
    block_on(graph.launch_async()?)?;
    drop(graph.launch_async()?);
    assert!(matches!(graph.synchronize(), Err(Error::Panicked { .. }))); // nobody else has seen it

    let device = emulator_with(|options| options.step_limit = Some(1000));
    let mut builder = GraphBuilder::new(&device, "Late");
    let mut flag = builder.device::<[u32; 1]>("flag");
    builder.kernel("slow", Launch::new(1, 1), slow::call(1 << 20, &mut flag));
    let mut graph = builder.build()?;
    let error = block_on(graph.launch_async()?).unwrap_err();
    assert!(matches!(error, Error::Fault { .. }), "{error}");
    assert!(graph.synchronize().is_err(), "whoever waits sees it, too");
    Ok(())
}

#[test]
fn every_graph_launches_as_a_future_on_any_stream() -> Result<()> {
    let device = device();
    let data = device.alloc::<[u32; 64]>()?;
    let mut graphs: Vec<Box<dyn AnyGraph + Send>> = Vec::new();
    for _ in 0..3 {
        graphs.push(Box::new(adder(&device, &data)?));
    }
    let futures = graphs.iter_mut().map(|graph| graph.launch_async());
    let futures = futures.collect::<Result<Vec<_>>>()?;
    futures.into_iter().try_for_each(block_on)?;
    assert_eq!(*data.read()?, [3; 64]);
    if device.is_emulator() {
        return Ok(()); // it has no streams
    }
    let stream = new_stream(&device);
    let futures = graphs.iter_mut().map(|graph| graph.launch_async_on(&stream));
    let futures = futures.collect::<Result<Vec<_>>>()?;
    drop(stream);
    futures.into_iter().try_for_each(block_on)?;
    assert_eq!(*data.read()?, [6; 64]);
    Ok(())
}

/// A graph that adds 1 to shared memory, after a while.
fn adder(device: &Device, data: &DeviceBuffer<[u32; 64]>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Adder");
    let mut data = builder.shared("data", data, true);
    let call = add_late::call(&mut data, 1, slow_steps() / 1000);
    builder.kernel("add", Launch::new(1, 64), call);
    builder.build()
}

/// Two threads launch two graphs on shared memory, and each sends graphs in flight to a third thread, which drops them.
/// Futures are awaited, cancelled before and after they were polled, and forgotten.
#[test]
fn threads_launch_drop_and_cancel_in_any_order() -> Result<()> {
    let rounds = std::env::var("CUDA_GRAPH_TEST_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().expect("a number"));
    let device = device();
    let data = device.alloc::<[u32; 64]>()?;
    let (to_drop, dropped) = mpsc::channel::<Graph>();
    let launched = thread::scope(|scope| {
        let dropper = scope.spawn(move || dropped.into_iter().for_each(drop));
        let launchers = [(); 2].map(|()| {
            let (device, data, to_drop) = (&device, &data, to_drop.clone());
            scope.spawn(move || launch_in_rounds(device, data, &to_drop, rounds))
        });
        drop(to_drop);
        let launched = launchers.map(|launcher| launcher.join().expect("it does not panic"));
        let launched: Result<Vec<u32>> = launched.into_iter().collect();
        dropper.join().expect("it does not panic");
        launched
    })?;
    assert_eq!(*data.read()?, [launched.iter().sum(); 64]);
    Ok(())
}

/// Returns the number of launches.
fn launch_in_rounds(
    device: &Device,
    data: &DeviceBuffer<[u32; 64]>,
    to_drop: &Sender<Graph>,
    rounds: usize,
) -> Result<u32> {
    let (mut graph, mut launches) = (adder(device, data)?, 0);
    for round in 0..rounds {
        let mut future = graph.launch_async()?;
        launches += 1;
        match round % 4 {
            0 => block_on(future)?,
            1 => drop(future),
            2 => {
                let _ = poll(&mut future);
                drop(future);
            }
            _ => {
                let _ = poll(&mut future);
                mem::forget(future);
            }
        }
        if round % 8 == 7 {
            let mut other = adder(device, data)?;
            let (mut cancelled, awaited) = (other.launch_async()?, other.launch_async()?);
            launches += 2;
            let _ = poll(&mut cancelled);
            to_drop.send(other).expect("the thread waits for graphs");
            drop(cancelled);
            block_on(awaited)?;
        }
    }
    graph.synchronize()?;
    Ok(launches)
}
