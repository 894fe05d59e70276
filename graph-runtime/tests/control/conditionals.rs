//! `if`, `while` and `switch`, declared: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;
use std::time::Duration;

cuda_graph! {
    /// A flag other than 0 takes one way, 0 the other.
    graph Either {
        host   input: u32;
        host   output: [u32; 2];
        device flag: u32;
        device data: [u32; 2];

        memcpy upload = input -> flag;
        memset clear = data <- 0;
        if choice = flag {
            /// Into the first.
            kernel first = add_to<<<1, 1>>>(&mut data[..1], 7);
            kernel again = add_to<<<1, 1>>>(&mut data[..1], 1) after first;
        } else {
            memset second = data[1] <- 9;
        } after upload, clear;
        memcpy download = data -> output after choice;
    }
}

#[test]
fn an_if_runs_one_of_its_bodies_and_the_plan_shows_them() -> Result<()> {
    let mut graph = Either::build(&device())?;
    for (flag, expected) in [
        (1, [8, 0]),
        (0, [0, 9]),
        (u32::MAX, [8, 0]),
        (1 << 16, [8, 0]),
        (0, [0, 9]),
    ] {
        *graph.input_mut()? = flag;
        graph.launch()?;
        assert_eq!(*graph.output()?, expected, "the condition is {flag}");
    }

    const PLAN: graph_runtime::Plan = Either::PLAN;
    let node = |name: &str| PLAN.nodes.iter().position(|node| node.name == name).unwrap();
    let (choice, first, again, second) = (node("choice"), node("first"), node("again"), node("second"));
    assert_eq!([choice, first, again, second], [2, 3, 4, 5], "bodies follow their node");
    assert_eq!(PLAN.nodes[choice].kind, NodeKind::If);
    let body_of = |node: usize| PLAN.bodies[PLAN.nodes[node].body];
    assert_eq!((body_of(first).role, body_of(first).node), (Role::Then, Some(choice)));
    assert_eq!((body_of(second).role, body_of(second).node), (Role::Else, Some(choice)));
    let expected = (1, &[first][..]);
    assert_eq!((PLAN.nodes[again].level, PLAN.nodes[again].after.as_ref()), expected);
    assert!(PLAN.to_dot().contains("label=\"choice: then\";"));
    let built = Either::build(&Device::emulator()).unwrap();
    assert_eq!(format!("{built:?}"), "Graph(Either, 7 nodes, Device(CPU emulator))");
    Ok(())
}

#[test]
fn bodies_may_be_empty_or_missing() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device flag: [u32; 3];
        device data: u32;
        if nothing = flag[0] {
        } else {
        };
        if maybe = flag[1] {
            memset set = data <- 5;
        } after nothing;
        if unless = flag[2] {
        } else {
            memset reset = data <- 0;
        } after maybe;
    }?;
    for (flags, expected) in [
        ([0, 1, 1], 5),
        ([1, 0, 1], 5),
        ([1, 0, 0], 0),
        ([0, 1, 0], 0),
        ([1, 1, 1], 5),
    ] {
        graph.flag_mut()?.copy_from(&flags)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, expected, "the conditions are {flags:?}");
    }
    Ok(())
}

cuda_graph! {
    /// `rounds` times: one to `sum`, one off `rounds`.
    graph Rounds {
        device rounds: u32;
        device sum: u32;
        param step: u32 = 1;
        while repeat = rounds {
            kernel count = add_to<<<1, 1>>>(&mut sum, step);
            kernel next = add_to<<<1, 1>>>(&mut rounds, MINUS_ONE);
        };
    }
}

#[test]
fn a_while_repeats_until_its_condition_is_zero_which_something_must_write() -> Result<()> {
    let mut graph = Rounds::build(&shuffling(1))?;
    let mut total = 0;
    for rounds in [3, 0, 1, 100] {
        graph.rounds_mut()?.copy_from(&rounds)?;
        graph.launch()?;
        graph.launch()?; // now the condition is 0
        total += rounds;
        assert_eq!((*graph.sum()?.read()?, *graph.rounds()?.read()?), (total, 0));
    }

    let mut graph = Rounds::build(&device())?;
    refused(graph.next().set_enabled(false))
        .begins("graph `Rounds`, node `next`: without this node nothing writes the condition");
    refused(graph.repeat().set_enabled(false)).ends("only kernel, memcpy and memset nodes can be disabled");
    graph.next().set_enabled(true)?;
    graph.rounds_mut()?.copy_from(&2)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 2);
    Ok(())
}

#[test]
fn params_and_handles_change_nodes_of_bodies() -> Result<()> {
    let mut graph = Rounds::build(&device())?;
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    graph.set_step(10)?; // the launch in flight is not touched
    assert_eq!(*graph.sum()?.read()?, 4);
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 44);

    let mut graph = Rounds::build(&device())?;
    graph.count().set_enabled(false)?;
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    assert_eq!((*graph.sum()?.read()?, *graph.rounds()?.read()?), (0, 0));
    graph.count().set_enabled(true)?;
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 4);
    Ok(())
}

#[test]
fn a_switch_runs_the_body_of_its_number() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device number: u32;
        device data: [u32; 3];
        param value: u32 = 5;
        memset clear = data <- 0;
        switch pick = number {
            { memset zero = data[0] <- value; }
            { }
            {
                kernel two = add_to<<<1, 2>>>(&mut data[1..], 2);
                kernel more = add_to<<<1, 1>>>(&mut data[2..], value) after two;
            }
        } after clear;
    }?;
    let expected = [[5, 0, 0], [0; 3], [0, 2, 7], [0; 3], [0; 3]];
    let others = [(6, 0, [6, 0, 0]), (6, 2, [0, 2, 8])];
    let first = [0, 1, 2, 3, u32::MAX]
        .into_iter()
        .zip(expected)
        .map(|(number, expected)| (5, number, expected));
    for (value, number, expected) in first.chain(others) {
        graph.set_value(value)?;
        graph.number_mut()?.copy_from(&number)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, expected, "the number is {number}");
    }
    Ok(())
}

cuda_graph! {
    /// A value that CUDA's own memset cannot write, and a copy from host memory to host memory.
    graph Wide {
        host   input: [f64; 8];
        host   output: [f64; 8];
        device flag: u32;
        device data: [f64; 8];
        param value: f64 = 1.5;
        if maybe = flag {
            memset set = data <- value;
            memcpy pass = input -> output;
        };
    }
}

#[test]
fn bodies_hold_fills_and_copies_of_every_kind() -> Result<()> {
    let mut graph = Wide::build(&device())?;
    graph.input_mut()?.fill(3.0);
    graph.launch()?;
    assert_eq!((*graph.data()?.read()?, *graph.output()?), ([0.0; 8], [0.0; 8]));
    graph.flag_mut()?.copy_from(&1)?;
    graph.launch()?;
    assert_eq!((*graph.data()?.read()?, *graph.output()?), ([1.5; 8], [3.0; 8]));
    graph.set_value(-2.25)?;
    graph.pass().set_enabled(false)?;
    graph.input_mut()?.fill(4.0);
    graph.launch()?;
    assert_eq!((*graph.data()?.read()?, *graph.output()?), ([-2.25; 8], [3.0; 8]));
    Ok(())
}

cuda_graph! {
    /// An `if` in a `while` in an `if`: the sum of the even numbers below `below`, if `wanted`.
    graph Deep {
        host   limit: u32;
        host   result: u32;
        device wanted: u32;
        device sum: u32;
        device at: u32;
        device odd: u32;
        device more: u32;
        device never: u32;
        device left: u32;

        memset clear = sum <- 0;
        if outer = wanted {
            memset start = at <- 0;
            memset even = odd <- 0;
            memcpy bound = limit -> left;
            while middle = left {
                if inner = odd {
                    memset now_even = odd <- 0;
                } else {
                    kernel add = accumulate<<<1, 1>>>(&at, &mut sum);
                    memset now_odd = odd <- 1;
                };
                kernel step = add_to<<<1, 1>>>(&mut at, 1) after inner;
                kernel next = add_to<<<1, 1>>>(&mut left, MINUS_ONE);
                kernel check = is_below<<<1, 1>>>(&at, 3, &mut more) after step;
                while innermost = more {
                    switch once = never {
                        { memset stop = more <- 0; }
                        { kernel wrong = add_to<<<1, 1>>>(&mut sum, 1000); }
                    };
                } after check;
            } after start, even, bound;
            memcpy down = sum -> result after middle;
        } after clear;
    }
}

#[test]
fn conditionals_nest() -> Result<()> {
    for seed in 0..4 {
        let mut graph = Deep::build(&shuffling(seed))?;
        *graph.limit_mut()? = 11;
        graph.launch()?;
        assert_eq!(*graph.result()?, 0, "not wanted");
        graph.wanted_mut()?.copy_from(&1)?;
        graph.launch()?;
        assert_eq!(*graph.result()?, 30);
        *graph.limit_mut()? = 4;
        graph.launch()?;
        graph.launch()?;
        assert_eq!(*graph.result()?, 2);
    }
    Ok(())
}

#[test]
fn a_loop_runs_until_it_has_converged() -> Result<()> {
    // Square roots, each iteration better than the one before.
    let mut graph = cuda_graph! { &shuffling(7) =>
        host   input: f32;
        host   output: f32;
        device a: f32;
        device x: f32;
        device more: u32;
        device iterations: u32;

        memcpy upload = input -> a;
        memcpy guess = input -> x;
        memset begin = more <- 1;
        memset none = iterations <- 0;
        while improve = more {
            kernel step = newton<<<1, 1>>>(&a, &mut x, &mut more);
            kernel count = add_to<<<1, 1>>>(&mut iterations, 1);
        } after upload, guess, begin, none;
        memcpy download = x -> output after improve;
    }?;
    for number in [2.0_f32, 1.0, 1e6, 0.25] {
        *graph.input_mut()? = number;
        graph.launch()?;
        let root = *graph.output()?;
        let near = (root - number.sqrt()).abs() <= 1e-5 * root;
        assert!(near, "{root} squared is not {number}");
        let iterations = *graph.iterations()?.read()?;
        assert!((1..30).contains(&iterations), "{iterations} iterations");
    }
    Ok(())
}

cuda_graph! {
    /// Every node takes its time, so that one which does not wait for the one before reads what is old.
    graph Late {
        device flag: u32;
        device number: u32;
        device turns: u32;
        device data: u32;
        device copy: u32;
        host   result: [u32; 2];

        kernel before = add_late<<<1, 1>>>(&mut flag, 1, LATE);
        memset start = turns <- 3;
        if choice = flag {
            kernel a = add_late<<<1, 1>>>(&mut data, 1, LATE);
            memcpy b = data -> copy after a;
            kernel c = add_late<<<1, 1>>>(&mut data, 10, LATE) after b;
            while repeat = turns {
                kernel d = add_late<<<1, 1>>>(&mut data, 100, LATE);
                kernel e = add_late<<<1, 1>>>(&mut turns, MINUS_ONE, LATE);
            } after c;
            kernel f = add_late<<<1, 1>>>(&mut number, 1, LATE) after repeat;
            switch last = number {
                { }
                { kernel g = add_late<<<1, 1>>>(&mut data, 1000, LATE); }
            } after f;
        } after before, start;
        memcpy first = data -> result[0] after choice;
        memcpy second = copy -> result[1] after choice;
    }
}

#[test]
fn slow_nodes_are_waited_for() -> Result<()> {
    for seed in 0..3 {
        let graph = launched(Late::build(&shuffling(seed)))?;
        assert_eq!(*graph.result()?, [1311, 1]);
    }
    Ok(())
}

/// By default after ten seconds, however long one iteration takes.
#[test]
fn an_endless_loop_ends_on_the_emulator() -> Result<()> {
    let seconds = EmulatorOptions::default().time_limit.map(|limit| limit.as_secs());
    assert_eq!(seconds, Some(10));
    let device = emulator_with(|options| options.time_limit = Some(Duration::from_millis(30)));
    let mut graph = Rounds::build(&device)?;
    graph.rounds_mut()?.copy_from(&u32::MAX)?;
    graph.launch()?;
    let error = graph.synchronize().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Rounds`, node `repeat`: began an iteration more than 30ms after the launch, the limit of the emulator's \
         options: does its condition ever become 0?"
    );
    graph.reset()?; // forgets the error
    graph.rounds_mut()?.copy_from(&0)?; // an iteration might begin too late, on a busy machine
    graph.launch()?;
    graph.synchronize()?;

    let device = emulator_with(|options| options.iteration_limit = Some(10));
    let mut graph = Rounds::build(&device)?;
    graph.rounds_mut()?.copy_from(&10)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 10);
    graph.rounds_mut()?.copy_from(&11)?;
    graph.launch()?;
    let Err(Error::Fault { site, message }) = graph.synchronize() else {
        panic!("eleven iterations are too many");
    };
    assert_eq!(site.node_name(), Some("repeat"));
    message.begins("began more than 10 iterations in one launch");
    Ok(())
}
