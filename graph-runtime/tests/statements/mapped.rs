//! Mapped memory, `&[Mapped<T>]`: kernels and the host access it while the graph runs.

use crate::common::*;
use std::thread;
use std::time::{Duration, Instant};

#[cuda_kernels("tests/kernels/mapped.ptx")]
unsafe extern "C" {
    #[requires(grid == 1 && block == 1 && len <= tokens.len())]
    safe fn next(tokens: &[Mapped<u32>], len: u32, stop: &Mapped<u32>, position: &mut u32, more: &mut u32);
    #[requires(grid == 1 && block == 1)]
    safe fn until(stop: &Mapped<u32>, calls: &Mapped<u32>, more: &mut u32);
    #[requires(threads <= values.len())]
    safe fn fill(values: &[Mapped<u64>], first: u64);
    #[requires(grid == 1 && len <= 4)]
    safe fn copy_row(pairs: &[[Mapped<f32>; 4]; 2], len: u32);
    #[requires(grid == 1 && block == 1)]
    safe fn answer(question: &[Mapped<u32>; 2], reply: &[Mapped<u32>; 2]);
    fn plainly(words: &[Mapped<u32>]);
    fn by_atomics(words: &[Mapped<u32>]);
    fn by_halves(words: &[Mapped<u32>]);
}

/// Loads an element until `is_right` holds; fails after half a minute.
fn wait_for(memory: &MappedHost<u32>, index: usize, is_right: impl Fn(u32) -> bool) -> u32 {
    let start = Instant::now();
    loop {
        let value = memory.load(index).unwrap();
        if is_right(value) {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "element {index} is {value}");
        thread::yield_now();
    }
}

cuda_graph! {
    /// Makes tokens until there are `n`, or the host stops it.
    graph Decode(n: usize) {
        mapped tokens: [u32; n];
        mapped stop: u32;
        device position: u32;
        device more: u32;

        memset start = position <- 0;
        memset go = more <- 1;
        while decode = more {
            kernel step = next<<<1, 1>>>(&tokens, n as u32, &stop, &mut position, &mut more);
        } after start, go;
    }

    /// Runs until the host stops it.
    graph Endless {
        mapped stop: u32;
        mapped calls: u32;
        device more: u32;

        memset go = more <- 1;
        while waiting = more {
            kernel look = until<<<1, 1>>>(&stop, &calls, &mut more);
        } after go;
    }

    /// Two unordered nodes fill the same numbers.
    graph Fill(rows: usize) {
        mapped values: [u64; 64];
        mapped many: [[u64; 32]; rows];
        mapped pairs: [[f32; 4]; 2];

        each i in 0..2 {
            kernel all = fill<<<2, 32>>>(&values, 100);
        }
        kernel half = fill<<<1, 32>>>(&values[..32], 100);
        kernel last = fill<<<1, 32>>>(&many[rows - 1], 7);
        kernel row = copy_row<<<1, 32>>>(&pairs, 4);
    }

    /// A child with the parent's memory.
    graph Parent {
        mapped numbers: [u64; 64];
        mapped others: [[u64; 32]; 3];
        mapped floats: [[f32; 4]; 2];

        graph child = Fill(values: &numbers, many: &others, pairs: &floats, rows: 3);
        kernel beside = fill<<<1, 64>>>(&numbers, 100);
    }
}

#[test]
fn the_host_reads_tokens_while_the_graph_makes_them() {
    for device in [device(), device().with_debug(DebugOptions::default())] {
        let mut graph = Decode::build(&device, 32).unwrap();
        let tokens = graph.tokens().unwrap();
        assert_eq!(tokens.len(), 32);
        let wait = move |index| wait_for(&tokens, index, |token| token != 0);
        let reader = thread::spawn(move || (0..32).map(wait).collect::<Vec<u32>>());
        graph.launch().unwrap();
        let expected: Vec<u32> = (0..32).map(|index| index * index + 1).collect();
        assert_eq!(reader.join().unwrap(), expected);
        graph.synchronize().unwrap();
        assert_eq!(graph.tokens().unwrap().load_vec().unwrap(), expected);
    }
}

#[test]
fn memory_of_a_while_is_of_one_graph_and_outlives_it() {
    let mut graph = Endless::build(&device()).unwrap();
    let (stop, calls) = (graph.stop().unwrap(), graph.calls().unwrap());
    let stopper = thread::spawn(move || {
        let seen = wait_for(&calls, 0, |calls| calls > 3);
        stop.store(0, 1).unwrap();
        seen
    });
    graph.launch().unwrap();
    let seen = stopper.join().unwrap();
    graph.synchronize().unwrap();
    assert!(graph.calls().unwrap().load(0).unwrap() >= seen);

    let mut definition = Endless::define(&device()).unwrap();
    let first = definition.instantiate(InstantiateOptions::default()).unwrap();
    let second = definition.instantiate(InstantiateOptions::default()).unwrap();
    let (one, other) = (first.calls().unwrap(), second.calls().unwrap());
    one.store(0, 5).unwrap();
    assert_eq!((one.load(0).unwrap(), other.load(0).unwrap()), (5, 0));
    drop(first);
    std::mem::forget(second);
    let copy = one.clone();
    drop(one);
    assert_eq!((copy.load(0).unwrap(), other.load(0).unwrap()), (5, 0));

    let mut graph = Endless::build(&device()).unwrap();
    let plan = Endless::PLAN;
    let modes = plan.nodes[2].accesses.iter().map(|access| access.mode);
    assert_eq!(modes.collect::<Vec<_>>(), [Mode::Mapped, Mode::Mapped, Mode::ReadWrite]);
    let part = "updates mapped stop, mapped calls";
    assert!(plan.to_mermaid().contains(part), "{}", plan.to_mermaid());
    graph.stop().unwrap().store(0, 9).unwrap();
    graph.calls().unwrap().store(0, 9).unwrap();
    assert_eq!(graph.memory_report().host, 8);
    graph.reset().unwrap();
    let loaded = [graph.stop(), graph.calls()].map(|memory| memory.unwrap().load(0).unwrap());
    assert_eq!(loaded, [0, 0]);
}

#[test]
fn host_and_kernel_speak_with_each_other() {
    // Answers the host's questions while it runs.
    let mut graph = cuda_graph! { &device() =>
        mapped question: [u32; 2];
        mapped reply: [u32; 2];

        kernel speak = answer<<<1, 1>>>(&question, &reply);
    }
    .unwrap();
    let (question, reply) = (graph.question().unwrap(), graph.reply().unwrap());
    let asking = thread::spawn(move || {
        let mut answers = Vec::new();
        for number in 1..=50 {
            question.store(1, number + 10).unwrap();
            question.store(0, number).unwrap();
            wait_for(&reply, 0, |answered| answered == number);
            answers.push(reply.load(1).unwrap());
        }
        question.store(0, u32::MAX).unwrap();
        answers
    });
    graph.launch().unwrap();
    let squares: Vec<u32> = (11..=60).map(|number| number * number).collect();
    assert_eq!(asking.join().unwrap(), squares);
    graph.synchronize().unwrap();
}

#[test]
fn unordered_nodes_and_children_access_all_types_and_shapes() {
    let mut graph = Fill::build(&shuffling(3), 5).unwrap();
    let (values, many, pairs) = (graph.values().unwrap(), graph.many().unwrap(), graph.pairs().unwrap());
    (0..4).for_each(|index| pairs.store(index, index as f32 + 0.5).unwrap());
    graph.launch().unwrap();
    graph.synchronize().unwrap();
    assert_eq!(values.load_vec().unwrap(), (100..164).collect::<Vec<u64>>());
    assert_eq!(many.load_vec().unwrap()[4 * 32..], (7..39).collect::<Vec<u64>>());
    assert_eq!(many.load_vec().unwrap()[..4 * 32], [0; 4 * 32]);
    assert_eq!(pairs.load_vec().unwrap(), [0.5, 1.5, 2.5, 3.5, 1.5, 2.5, 3.5, 4.5]);

    let graph = launched(Parent::build(&shuffling(7))).unwrap();
    graph.synchronize().unwrap();
    let expected = (100..164).collect::<Vec<u64>>();
    assert_eq!(graph.numbers().unwrap().load_vec().unwrap(), expected);
    assert_eq!(graph.others().unwrap().load(95).unwrap(), 38);
}

#[test]
fn an_expression_has_mapped_memory() -> Result<()> {
    let mut graph = cuda_graph! {
        &device() =>
        mapped values: [u64; 32];
        kernel all = fill<<<1, 32>>>(&values, 1);
    }?;
    let values = graph.values()?;
    graph.launch()?;
    graph.synchronize()?;
    assert_eq!(values.load(31)?, 32);
    Ok(())
}

#[test]
fn places_are_parts_of_one_graph_and_within_its_memory() {
    let mut builder = GraphBuilder::new(&device(), "Built");
    let table = builder.mapped_table::<u64, 2>("table", [3, 4]);
    builder.kernel("fill", Launch::new(1, 4), fill::call(&table.row(2), 1_u64));
    let words = builder.mapped_slice::<u32>("words", 3);
    let graph = launched(builder.build()).unwrap();
    graph.synchronize().unwrap();
    let row: MappedHost<u64> = graph.mapped(&table.row(2)).unwrap();
    assert_eq!(row.load_vec().unwrap(), [1, 2, 3, 4]);
    let values = graph.mapped::<u64, _>(&table).unwrap().load_vec().unwrap();
    assert_eq!(values[7..], [0, 1, 2, 3, 4]);
    assert_eq!(graph.mapped::<u32, _>(&words.row(1)).unwrap().len(), 1);
    assert!(matches!(
        graph.mapped::<u32, _>(&words.rows(2..4)),
        Err(Error::OutOfBounds { .. })
    ));
    let other = GraphBuilder::new(&device(), "Other").build().unwrap();
    assert!(matches!(
        other.mapped::<u32, _>(&words),
        Err(Error::ForeignPlace { .. })
    ));

    let graph = Decode::build(&device(), 3).unwrap();
    let tokens = graph.tokens().unwrap();
    for error in [tokens.load(3).unwrap_err(), tokens.store(usize::MAX, 1).unwrap_err()] {
        assert!(matches!(error, Error::OutOfBounds { .. }), "{error}");
        error.reads("graph `Decode`, memory `tokens`: the place reaches outside");
    }
}

#[test]
fn the_emulator_finds_accesses_that_may_meet_those_of_the_host() {
    let device = Device::emulator();
    let message = |call: fn(&graph_runtime::Place<[u32; 4], graph_runtime::OnMapped>) -> KernelCall<1>| {
        let mut builder = GraphBuilder::new(&device, "Wrong");
        let words = builder.mapped::<[u32; 4]>("words");
        builder.kernel("wrong", Launch::new(1, 1), call(&words));
        let mut graph = builder.build().unwrap();
        let run = graph.launch().and_then(|()| graph.synchronize());
        run.unwrap_err().to_string()
    };
    // SAFETY: the emulator refuses what these kernels do.
    let calls: [fn(&_) -> _; 3] = [
        |words| unsafe { plainly::call(words) },
        |words| unsafe { by_atomics::call(words) },
        |words| unsafe { by_halves::call(words) },
    ];
    let accesses = ["load of 4", "atomic operation of 4", "store of 2"];
    for (call, access) in calls.into_iter().zip(accesses) {
        let message = message(call);
        let expected = format!("{access} bytes at offset 0 of `words`, which is mapped");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn build_checks_that_mapped_memory_is_taken_as_such() {
    let mut builder = GraphBuilder::new(&device(), "Wrong");
    let words = builder.mapped::<[u64; 4]>("words");
    let argument = CallArgument::mapped(&words);
    // SAFETY: the kernel stores within its memory; the graph is not built.
    let call = unsafe { KernelCall::new::<fill>([argument, CallArgument::value(1_u64)]) };
    builder.kernel("right", Launch::new(1, 4), call);
    assert!(builder.build().is_ok());
}
