//! `call`, `record` and `wait` in `cuda_graph!`.

use crate::common::*;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{self, Sender};

static TICKS: AtomicU32 = AtomicU32::new(0);
const BIAS: f32 = 0.5;

fn mean<const N: usize>(values: &[f32; N]) -> f32 {
    values.iter().sum::<f32>() / N as f32
}

cuda_graph! {
    /// Upload, download, look at it, act upon it.
    graph Monitor<const N: usize> {
        host input: [f32; N];
        device data: [f32; N];
        host output: [f32; N];
        host report: [f32; 2];

        call tick = || { TICKS.fetch_add(1, Relaxed); };
        memcpy upload = input -> data;
        memcpy download = data -> output after upload;
        /// The mean, and how many there are.
        call summarise = |&output, &mut report| {
            let count = N as f32;
            *report = [mean::<N>(output) + BIAS, count];
        } after download;
        call double = |&mut report| report[0] *= 2.0 after summarise;
    }
}

#[test]
fn closures_see_their_memory_and_plans_tell_of_it() -> Result<()> {
    let mut graph = Monitor::<4>::build(&device())?;
    *graph.input_mut()? = [1.0, 2.0, 3.0, 4.0];
    for launch in 1..=2 {
        graph.launch()?;
        assert_eq!(graph.report()?, &[6.0, 4.0]);
        assert_eq!(TICKS.load(Relaxed), launch);
    }
    assert_eq!(graph.summarise().name(), "summarise");

    let node = |name: &str| {
        let nodes = Monitor::<4>::PLAN.nodes;
        nodes.iter().find(|node| node.name == name).cloned().unwrap()
    };
    let summarise = node("summarise");
    assert_eq!((summarise.kind, summarise.level), (NodeKind::Call, 2));
    let expected = [PlanAccess::new(2, Mode::Read), PlanAccess::new(3, Mode::ReadWrite)];
    assert_eq!(*summarise.accesses, expected);
    assert!(node("tick").accesses.is_empty());
    let part = "call summarise<br>reads output<br>writes report";
    assert!(Monitor::<4>::PLAN.to_mermaid().contains(part));
    let kinds: Vec<NodeKind> = Framed::PLAN.nodes.iter().map(|node| node.kind).collect();
    assert_eq!(kinds, [NodeKind::Wait, NodeKind::Call, NodeKind::Record]);
    Ok(())
}

cuda_graph! {
    graph Framed(ready: Event, done: Event, sender: Sender<u32>) {
        host count: u32;
        wait start = ready;
        call send = |&mut count| { *count += 1; sender.send(*count).unwrap() } after start;
        record end = &done after send;
    }
}

#[test]
fn build_arguments_move_into_closures_and_events_or_are_cloned() -> Result<()> {
    let device = device();
    let (sender, receiver) = mpsc::channel();
    let (ready, done) = (device.event()?, device.event()?);
    let graph = launched(launched(Framed::build(&device, ready, done.clone(), sender)))?;
    graph.synchronize()?;
    done.synchronize()?;
    drop(graph);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]); // the sender went with the graph

    let (sender, receiver) = mpsc::channel();
    let graph = launched(Shared::build(&device, 3, sender))?;
    graph.synchronize()?;
    drop(graph);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [(3, 1), (3, 7)]);

    let path = std::env::temp_dir().join(format!("cuda-graph-log-{}", std::process::id()));
    let mut graph = Log::build(&device, File::create(&path).expect("a file"))?;
    *graph.text_mut()? = *b"hello";
    graph.launch()?;
    graph.synchronize()?;
    drop(graph);
    assert_eq!(std::fs::read(&path).expect("the file"), b"hello");
    std::fs::remove_file(&path).expect("removed");
    Ok(())
}

cuda_graph! {
    graph Shared(n: usize, sender: Sender<(usize, u32)>) {
        host list: [u32; n];
        call first = |&mut list| { list[n - 1] = 7; sender.send((list.len(), 1)).unwrap() };
        call second = |&list| sender.send((n, list[n - 1])).unwrap() after first;
    }
    graph Log(file: File) {
        host text: [u8; 5];
        // `File` is no `Clone`, and need not be for one closure.
        call write = |&text| { let mut file = &file; file.write_all(text).unwrap() };
    }

    graph Failing {
        host count: u32;
        call check = |&mut count| { *count += 1; assert_ne!(*count, 2, "twice"); };
    }
}

#[test]
fn panics_come_back_with_the_node() -> Result<()> {
    let mut graph = launched(Failing::build(&device()))?;
    assert_eq!(graph.count()?, &1);
    graph.launch()?;
    let error = graph.count().unwrap_err().to_string();
    error.begins("graph `Failing`, node `check`: the host function panicked: ");
    assert!(error.contains("twice"), "{error}");
    assert_eq!(graph.count()?, &2);
    Ok(())
}

cuda_graph! {
    graph Repeated(sender: Sender<usize>) {
        host total: [u64; 4];
        for i in 0..4 {
            call add = |&mut total| { total[i] += 1 + i as u64; sender.send(i).unwrap() };
        }
    }
}

#[test]
fn each_iteration_has_a_closure_of_its_own() -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    let graph = launched(launched(Repeated::build(&device(), sender)))?;
    assert_eq!(graph.total()?, &[2, 4, 6, 8]);
    drop(graph);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
    Ok(())
}
