//! The time from the end of a launch to the task that awaits it, and the costs of watching.
//!
//! The GPU's clock and the host's are not related. So launches of one length take turns: one is waited for by
//! `cuStreamSynchronize`, which spins, and one by a future. Both times begin before the launch, and their difference is
//! the time by which the future is later. (The wait itself sees the end one or two microseconds late.) Most of it is
//! the time until a thread that sleeps runs on. This is measured beside, without a GPU, as `a bare unpark`.

use super::{BATCH, Device, Graph, GraphBuilder, Launch, Result, quartiles, report, take};
use graph_runtime::LaunchFuture;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The clock of an H100 or H200, in cycles per microsecond.
const CLOCK: u32 = 1980;

/// Prints the latencies, and what a launch costs while another one is watched.
pub(crate) fn measure(device: &Device) -> Result<()> {
    println!(
        "\n{}: the time by which a future is later than `cuStreamSynchronize`",
        device.name()
    );
    for (microseconds, rounds) in [(10, 1000), (100, 1000), (1000, 300), (5000, 100), (20_000, 40)] {
        latency(device, microseconds, rounds)?;
    }
    println!("after the limit of `with_max_spin`, woken by CUDA:");
    for (microseconds, rounds) in [(1000, 100), (20_000, 20)] {
        latency(&device.with_max_spin(Duration::ZERO), microseconds, rounds)?;
    }
    launching(device)
}

/// A graph that takes some time.
fn taking(device: &Device, microseconds: u32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Taking");
    let mut data = builder.device::<[u32; 1]>("data");
    builder.kernel("take", Launch::new(1, 1), take::call(&mut data, microseconds * CLOCK));
    builder.build()
}

fn latency(device: &Device, microseconds: u32, rounds: usize) -> Result<()> {
    let mut graph = taking(device, microseconds)?;
    let [
        mut waited,
        mut parked,
        mut polled,
        mut calls,
        mut bare,
        mut floor,
        mut woken,
    ] = [const { Vec::new() }; 7];
    let since = |start: Instant| start.elapsed().as_secs_f64() * 1e6;
    for round in 0..rounds + 5 {
        let start = Instant::now();
        graph.launch()?;
        let bare_call = since(start);
        graph.synchronize()?;
        let wait = since(start);
        let start = Instant::now();
        let future = graph.launch_async()?;
        let call = since(start);
        let wake = parked_on(future, start)?;
        let park = since(start);
        let start = Instant::now();
        polled_until_ready(graph.launch_async()?)?;
        let poll = since(start);
        let unparked = unparked_after(Duration::from_micros(microseconds.into()));
        if round >= 5 {
            floor.push(unparked);
            woken.extend(wake);
            waited.push(wait);
            parked.push(park);
            polled.push(poll);
            calls.push(call);
            bare.push(bare_call);
        }
    }
    let reference = quartiles(&waited)[1];
    let later = |times: &[f64], reference: f64| {
        let mut sorted: Vec<f64> = times.iter().map(|time| time - reference).collect();
        if sorted.is_empty() {
            return "never".to_owned();
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |part: usize| sorted[(sorted.len() - 1) * part / 100];
        format!(
            "{:6.1} us (p10 {:.1}, p90 {:.1}, p99 {:.1})",
            at(50),
            at(10),
            at(90),
            at(99)
        )
    };
    println!(
        "futures: {reference:8.1} us waited for: waker called {}, parked task {}, a bare unpark {}, polled in a loop {}, the wait itself {}",
        later(&woken, reference),
        later(&parked, reference),
        later(&floor, 0.0),
        later(&polled, reference),
        later(&waited, reference),
    );
    println!(
        "futures: the call: `launch_async` {:.1} us, `launch` {:.1} us",
        quartiles(&calls)[1],
        quartiles(&bare)[1]
    );
    Ok(())
}

/// `launch` of a short graph, alone and while the end of another launch is asked for again and again.
fn launching(device: &Device) -> Result<()> {
    let (mut short, mut long) = (taking(device, 1)?, taking(device, 1900)?);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        alone.push(batch(&mut short)?);
        let mut future = long.launch_async()?;
        let _ = pin!(&mut future).poll(&mut Context::from_waker(Waker::noop()));
        beside.push(batch(&mut short)?);
        parked_on(future, Instant::now())?;
    }
    report("launch, watched", "us", &beside, &alone);
    Ok(())
}

/// The CPU time of one launch.
fn batch(graph: &mut Graph) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..BATCH {
        graph.launch()?;
    }
    let time = start.elapsed().as_secs_f64();
    graph.synchronize()?;
    Ok(time / f64::from(BATCH) * 1e6)
}

/// An executor whose thread sleeps. Returns the microseconds from `start` until its waker was called, if it was.
fn parked_on(future: LaunchFuture, start: Instant) -> Result<Option<f64>> {
    struct Unpark(Thread, OnceLock<Instant>);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            let _ = self.1.set(Instant::now());
            self.0.unpark();
        }
    }
    let unpark = Arc::new(Unpark(thread::current(), OnceLock::new()));
    let waker = unpark.clone().into();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            let woken = unpark.1.get().map(|woken| (*woken - start).as_secs_f64() * 1e6);
            return output.map(|()| woken);
        }
        thread::park();
    }
}

/// The time from another thread's unpark, after so much time, until this thread runs.
fn unparked_after(time: Duration) -> f64 {
    let (sleeper, start) = (thread::current(), Instant::now());
    let waker = thread::spawn(move || {
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
        let woken = Instant::now();
        sleeper.unpark();
        woken
    });
    thread::park();
    let awake = Instant::now();
    let woken = waker.join().expect("it does not panic");
    awake.saturating_duration_since(woken).as_secs_f64() * 1e6
}

/// An executor that never sleeps.
fn polled_until_ready(future: LaunchFuture) -> Result<()> {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        std::hint::spin_loop();
    }
}
