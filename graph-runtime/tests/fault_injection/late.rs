//! Graphs whose launches run later, on other threads, as on a GPU. With a sanitizer, this finds memory of the host that
//! is lent, freed or moved before launches have ended; the results find what is seen too early.

use crate::common::*;
use crate::enumeration::runs;
use crate::graphs::Run;
use crate::software::device;
use graph_runtime::fault_injection as faults;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const N: usize = 1 << 14;

cuda_graph! {
    /// Copies, and looks at the copy.
    graph Doubled {
        host   input:  [u32; N];
        device data:   [u32; N];
        device again:  [u32; N];
        host   output: [u32; N];
        host   sum:    u64;
        param  value:  u32 = 7;

        memcpy up   = input -> data;
        memset last = data[N - 1] <- value               after up;
        memcpy over = data -> again                      after last;
        memcpy down = again -> output                    after over;
        call   add  = |&output, &mut sum| *sum += output.iter().map(|&one| u64::from(one)).sum::<u64>() after down;
    }

    /// The same with memory of others.
    graph Shared(from: host [u32; N], to: mut host [u32; N], seen: mut host u64) {
        device data: [u32; N];

        memcpy up   = from -> data;
        memcpy down = data -> to                         after up;
        call   look = |&to, &mut seen| *seen = to.iter().map(|&one| u64::from(one)).sum() after down;
    }
}

#[test]
fn scenarios_with_launches_that_run_later() {
    let Some((device, _turn)) = device("late::scenarios_with_launches_that_run_later") else {
        return;
    };
    for (name, device, scenario) in runs(&device) {
        let mut run = Run::new();
        let ran = scenario(&device, &mut run);
        assert!(
            ran.is_ok() && run.errors.is_empty(),
            "{name}: {ran:?}, {:?}",
            run.errors
        );
    }
}

#[test]
fn a_graphs_own_memory_is_lent_after_its_launches() -> Result<()> {
    let Some((device, _turn)) = device("late::a_graphs_own_memory_is_lent_after_its_launches") else {
        return Ok(());
    };
    let last = N as u64 - 1;
    for device in [device.clone(), device.with_runtime_api()] {
        let mut graph = Doubled::build(&device)?;
        graph.input_mut()?.fill(1);
        graph.launch()?;
        graph.launch()?;
        graph.input_mut()?.fill(2); // after both
        assert_eq!(*graph.sum()?, 2 * (last + 7));
        graph.set_value(9)?; // for later launches
        graph.launch()?;
        assert_eq!((graph.output()?[0], graph.output()?[N - 1]), (2, 9));
        graph.last().set_enabled(false)?;
        graph.launch()?;
        assert_eq!(graph.output()?[N - 1], 2);
        block_on(graph.launch_async()?)?;
        assert_eq!(graph.again()?.read()?[0], 2);
        let stream = device.context().and_then(|context| context.new_stream().ok());
        let stream = stream.expect("a new stream");
        graph.input_mut()?.fill(4);
        graph.launch_on(&stream)?;
        assert_eq!(graph.output()?[0], 4);
        for _ in 0..3 {
            graph.launch_on(&stream)?;
            graph.launch()?;
        }
        graph.reset()?; // zeroes memory after them
        assert_eq!((*graph.sum()?, graph.output()?[0]), (0, 0));
        graph.launch()?;
        drop(graph); // frees memory after it
        let mut kept = Doubled::build(&device)?;
        kept.launch()?;
        let mut other = Doubled::build(&device)?;
        other.input_mut()?.fill(3);
        other.launch()?;
        kept.update_from(Doubled::define(&device)?)?; // frees its memory after its launch
        kept.launch()?;
        mem::forget(kept); // frees nothing
        assert_eq!(other.output()?[1], 3);
    }
    Ok(())
}

/// Memory of a value.
fn filled(device: &Device, value: u32) -> Result<SharedHost<[u32; N]>> {
    let mut memory = device.alloc_host::<[u32; N]>()?;
    memory.fill(value);
    Ok(memory.share())
}

#[test]
fn memory_of_others_is_lent_and_freed_after_launches() -> Result<()> {
    let Some((device, _turn)) = device("late::memory_of_others_is_lent_and_freed_after_launches") else {
        return Ok(());
    };
    for device in [device.clone(), device.with_runtime_api()] {
        let (from, to) = (filled(&device, 1)?, filled(&device, 0)?);
        let seen = device.alloc_host::<u64>()?.share();
        let mut graph = Shared::build(&device, &from, &to, &seen)?;
        graph.launch()?;
        assert_eq!(to.read()?[0], 1);
        graph.launch()?;
        from.write()?.fill(2);
        assert_eq!(*seen.read()?, N as u64);
        // More host functions are replaced than are kept for launches in flight. Handles to the old memory are dropped
        // while launches use it.
        for value in 3..100 {
            graph.rebind_from(filled(&device, value)?)?;
            graph.rebind_to(filled(&device, 0)?)?;
            graph.launch()?;
        }
        assert_eq!(*seen.read()?, 99 * N as u64);
        graph.rebind_to(&to)?;
        graph.launch()?;
        // Another graph, on another stream, waits for the launch of the first.
        let (next, ends) = (filled(&device, 0)?, device.alloc_host::<u64>()?.share());
        let mut second = Shared::build(&device, &to, &next, &ends)?;
        second.launch()?;
        drop((graph, to));
        assert_eq!((next.read()?[N - 1], *ends.read()?), (99, 99 * N as u64));
        let (lent, mut target) = (vec![5; N], vec![0; N]);
        device.scope(|scope| {
            let lent: &[u32; N] = lent.as_slice().try_into().expect("it is as long");
            let target: &mut [u32; N] = target.as_mut_slice().try_into().expect("it is as long");
            second.rebind_from(scope.lend(lent)?)?;
            second.rebind_to(scope.lend(target)?)?;
            second.launch()
        })?;
        assert_eq!(target, lent);
    }
    Ok(())
}

#[test]
fn an_event_is_recorded_when_somebody_waits() -> Result<()> {
    let Some((device, _turn)) = device("late::an_event_is_recorded_when_somebody_waits") else {
        return Ok(());
    };
    let numbers = || Ok(device.alloc_host::<u64>()?.share());
    let memory: Vec<_> = (0..3).map(|value| filled(&device, value + 1)).collect::<Result<_>>()?;
    let (first, second, sums) = (numbers()?, numbers()?, numbers()?);
    let mut fills = Shared::build(&device, &memory[0], &memory[1], &first)?;
    let mut reads = Shared::build(&device, &memory[1], &memory[2], &second)?;
    let recorded = |launch: &mut dyn FnMut() -> Result<()>| -> Result<[usize; 2]> {
        faults::start();
        launch()?;
        let calls = faults::counts();
        Ok(["cuEventRecord", "cuStreamWaitEvent"].map(|call| calls.get(call).copied().unwrap_or_default()))
    };
    assert_eq!(recorded(&mut || (0..5).try_for_each(|_| fills.launch()))?, [0, 0]);
    assert_eq!(recorded(&mut || reads.launch())?, [1, 1]); // the graph that waits records the event
    assert_eq!(recorded(&mut || reads.launch())?, [0, 1]); // which stands for all launches so far
    assert_eq!(recorded(&mut || fills.launch())?, [1, 1]);
    // The host waits, too; a failure is an error, and the next one waits all the same.
    faults::start();
    faults::fail("cuEventRecord", 1);
    refused(first.read().map(drop)).says("cuEventRecord");
    assert_eq!((*first.read()?, *second.read()?), (N as u64, N as u64));
    // Once a graph has waited itself, there is nothing to record.
    fills.launch()?;
    fills.synchronize()?;
    assert_eq!(recorded(&mut || memory[1].read().map(drop))?[0], 0);
    // Memory that is replaced is waited for by the launches before.
    fills.launch()?;
    fills.rebind_seen(&sums)?;
    assert_eq!(recorded(&mut || fills.launch())?[0], 1);
    assert_eq!((*first.read()?, *sums.read()?), (N as u64, N as u64));
    Ok(())
}

#[test]
fn a_closure_is_dropped_after_launches_that_call_it() -> Result<()> {
    /// Counts down when it is dropped.
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    let Some((device, _turn)) = device("late::a_closure_is_dropped_after_launches_that_call_it") else {
        return Ok(());
    };
    let (dropped, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for launches in 1..20 {
        let (counted, called) = (Counted(dropped.clone()), calls.clone());
        let mut graph = cuda_graph! { &device =>
            host number: u64;
            call count = |&mut number| {
                assert_eq!(counted.0.load(Relaxed), launches - 1);
                *number += called.fetch_add(1, Relaxed) as u64;
            };
        }?;
        (0..launches).try_for_each(|_| graph.launch())?;
        drop(graph);
        assert_eq!(dropped.load(Relaxed), launches);
    }
    assert_eq!(calls.load(Relaxed), (1..20).sum::<usize>());
    Ok(())
}
