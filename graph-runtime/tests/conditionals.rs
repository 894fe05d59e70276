//! `if`, `while` and `switch`, declared and built call by call: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

mod common;

use common::{device, shuffling};
use graph_runtime::{
    Device, EmulatorOptions, Error, Graph, GraphBuilder, Launch, NodeId, NodeKind, OnDevice, Place, Result, Role,
    cuda_graph, cuda_kernels,
};

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
    #[requires(threads <= data.len())]
    safe fn add_late(data: &mut [u32], value: u32, steps: u64);
    #[requires(threads <= from.len() && threads <= to.len())]
    safe fn accumulate(from: &[u32], to: &mut [u32]);
    #[requires(threads <= data.len() && threads <= flag.len())]
    safe fn is_below(data: &[u32], limit: u32, flag: &mut [u32]);
    #[requires(threads <= a.len() && threads <= x.len() && threads <= more.len())]
    safe fn newton(a: &[f32], x: &mut [f32], more: &mut [u32]);
}

/// What adds to a number to take one from it.
const MINUS_ONE: u32 = u32::MAX;
/// Steps of `add_late` that take a GPU some 100 microseconds.
const LATE: u64 = 6000;

cuda_graph! {
    /// What is not 0 takes one way, 0 the other.
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
fn an_if_runs_one_of_its_bodies() -> Result<()> {
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
    Ok(())
}

cuda_graph! {
    graph Alone {
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
    }
}

#[test]
fn bodies_may_be_empty_or_missing() -> Result<()> {
    let mut graph = Alone::build(&device())?;
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
fn a_while_repeats_until_its_condition_is_zero() -> Result<()> {
    let mut graph = Rounds::build(&shuffling(1))?;
    let mut total = 0;
    for rounds in [3, 0, 1, 100] {
        graph.rounds_mut()?.copy_from(&rounds)?;
        graph.launch()?;
        graph.launch()?; // now the condition is 0
        total += rounds;
        assert_eq!((*graph.sum()?.read()?, *graph.rounds()?.read()?), (total, 0));
    }
    Ok(())
}

#[test]
fn params_change_nodes_of_bodies_in_place() -> Result<()> {
    let mut graph = Rounds::build(&device())?;
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    graph.set_step(10)?; // the launch in flight is not touched
    assert_eq!(*graph.sum()?.read()?, 4);
    graph.rounds_mut()?.copy_from(&4)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 44);
    Ok(())
}

#[test]
fn nodes_of_bodies_can_be_disabled() -> Result<()> {
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
fn what_ends_a_while_and_conditionals_themselves_cannot_be_disabled() -> Result<()> {
    let mut graph = Rounds::build(&device())?;
    let error = graph.next().set_enabled(false).unwrap_err().to_string();
    assert!(
        error.starts_with("graph `Rounds`, node `next`: without this node nothing writes the condition"),
        "{error}"
    );
    let error = graph.repeat().set_enabled(false).unwrap_err().to_string();
    assert!(
        error.ends_with("only kernel, memcpy and memset nodes can be disabled"),
        "{error}"
    );
    graph.next().set_enabled(true)?;
    graph.rounds_mut()?.copy_from(&2)?;
    graph.launch()?;
    assert_eq!(*graph.sum()?.read()?, 2);
    Ok(())
}

cuda_graph! {
    graph Pick {
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
    }
}

#[test]
fn a_switch_runs_the_body_of_its_number() -> Result<()> {
    let mut graph = Pick::build(&device())?;
    let expected = [[5, 0, 0], [0; 3], [0, 2, 7], [0; 3], [0; 3]];
    for (number, expected) in [0, 1, 2, 3, u32::MAX].into_iter().zip(expected) {
        graph.number_mut()?.copy_from(&number)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, expected, "the number is {number}");
    }
    graph.set_value(6)?;
    for (number, expected) in [(0, [6, 0, 0]), (2, [0, 2, 8])] {
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

cuda_graph! {
    /// Square roots, each iteration better than the one before.
    graph Roots {
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
    }
}

#[test]
fn a_loop_runs_until_it_has_converged() -> Result<()> {
    let mut graph = Roots::build(&shuffling(7))?;
    for number in [2.0_f32, 1.0, 1e6, 0.25] {
        *graph.input_mut()? = number;
        graph.launch()?;
        let root = *graph.output()?;
        assert!(
            (root - number.sqrt()).abs() <= 1e-5 * root,
            "{root} squared is not {number}"
        );
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
        let mut graph = Late::build(&shuffling(seed))?;
        graph.launch()?;
        assert_eq!(*graph.result()?, [1311, 1]);
    }
    Ok(())
}

#[test]
fn plans_show_bodies() {
    const PLAN: graph_runtime::Plan = Either::PLAN;
    let node = |name: &str| PLAN.nodes.iter().position(|node| node.name == name).unwrap();
    let (choice, first, again, second) = (node("choice"), node("first"), node("again"), node("second"));
    assert_eq!([choice, first, again, second], [2, 3, 4, 5], "bodies follow their node");
    assert_eq!(PLAN.nodes[choice].kind, NodeKind::If);
    let body_of = |node: usize| PLAN.bodies[PLAN.nodes[node].body];
    assert_eq!((body_of(first).role, body_of(first).node), (Role::Then, Some(choice)));
    assert_eq!((body_of(second).role, body_of(second).node), (Role::Else, Some(choice)));
    assert_eq!(
        (PLAN.nodes[again].level, PLAN.nodes[again].after.as_ref()),
        (1, &[first][..])
    );
    assert!(PLAN.to_dot().contains("label=\"choice: then\";"));
    let built = Either::build(&Device::emulator()).unwrap();
    assert_eq!(format!("{built:?}"), "Graph(Either, 7 nodes, Device(CPU emulator))");
}

/// A graph of calls, and what tests of it look at.
struct Called {
    graph: Graph,
    flag: Place<u32, OnDevice>,
    data: Place<[u32; 4], OnDevice>,
}

impl Called {
    /// What the data are after a launch with this condition.
    fn run(&mut self, flag: u32) -> Result<[u32; 4]> {
        self.graph.device_mut(&self.flag)?.copy_from(&flag)?;
        self.graph.device_mut(&self.data)?.copy_from(&[0; 4])?;
        self.graph.launch()?;
        Ok(*self.graph.device(&self.data)?.read()?)
    }
}

/// `declare` declares a graph over one flag and four numbers, for a driver that supports CUDA `driver` at most.
fn called(
    driver: u32,
    declare: impl FnOnce(&mut GraphBuilder, Place<u32, OnDevice>, Place<[u32; 4], OnDevice>),
) -> Result<Called> {
    let mut builder = GraphBuilder::new(&device(), "Called");
    builder.as_if_driver(driver);
    let (flag, data) = (builder.device("flag"), builder.device("data"));
    declare(&mut builder, flag, data);
    let graph = builder.build()?;
    Ok(Called { graph, flag, data })
}

fn add(
    builder: &mut GraphBuilder,
    name: &'static str,
    data: &Place<[u32; 4], OnDevice>,
    at: usize,
    value: u32,
) -> NodeId {
    let call = add_late::call(&mut data.rows(at..=at), value, LATE);
    builder.kernel(name, Launch::new(1, 1), call)
}

/// Drivers with one body to a node, and those with several.
const DRIVERS: [u32; 2] = [12_030, 12_080];

#[test]
fn else_is_the_same_for_every_driver() -> Result<()> {
    for driver in DRIVERS {
        let mut called = called(driver, |builder, flag, data| {
            let choice = builder.if_else(
                "choice",
                &flag.whole(),
                // Each body turns the condition, which was looked at before.
                |then| {
                    then.memset("off", &mut flag.whole(), 0_u32);
                    add(then, "a", &data, 0, 1);
                },
                |otherwise| {
                    otherwise.memset("on", &mut flag.whole(), 1_u32);
                    add(otherwise, "b", &data, 1, 1);
                },
            );
            let after = add(builder, "after", &data, 0, 10);
            builder.after(after, &[choice]);
        })?;
        assert_eq!(called.run(1)?, [11, 0, 0, 0], "driver {driver}");
        assert_eq!(called.run(0)?, [10, 1, 0, 0], "driver {driver}");
    }
    Ok(())
}

#[test]
fn switches_are_the_same_for_every_driver() -> Result<()> {
    for driver in DRIVERS {
        let mut called = called(driver, |builder, mut flag, data| {
            let pick = builder.switch("pick", &flag.whole(), 3, |case, number| {
                let names = [["s0", "a0"], ["s1", "a1"], ["s2", "a2"]][number];
                // The next case, which must not run for that.
                case.memset(names[0], &mut flag, number as u32 + 1);
                add(case, names[1], &data, number, 1);
            });
            let after = add(builder, "after", &data, 3, 10);
            builder.after(after, &[pick]);
        })?;
        for flag in [0, 1, 2, 3, 4, u32::MAX] {
            let mut expected = [0, 0, 0, 10];
            if flag < 3 {
                expected[flag as usize] = 1;
            }
            assert_eq!(called.run(flag)?, expected, "driver {driver}, condition {flag}");
        }
    }
    Ok(())
}

#[test]
fn a_switch_without_cases_runs_nothing() -> Result<()> {
    for driver in DRIVERS {
        let mut called = called(driver, |builder, flag, data| {
            let before = add(builder, "before", &data, 0, 1);
            let pick = builder.switch("pick", &flag, 0, |_, _| unreachable!());
            let after = add(builder, "after", &data, 0, 1);
            builder.after(pick, &[before]);
            builder.after(after, &[pick]);
        })?;
        assert_eq!(called.run(0)?, [2, 0, 0, 0]);
    }
    Ok(())
}

#[test]
fn loops_of_calls_nest() -> Result<()> {
    for driver in DRIVERS {
        let mut called = called(driver, |builder, flag, data| {
            builder.while_loop("outer", &flag, |body| {
                let three = body.memset("three", &mut data.row(3), 3_u32);
                let inner = body.while_loop("inner", &data.row(3), |body| {
                    body.if_else(
                        "choice",
                        &data.row(0),
                        |then| {
                            add(then, "a", &data, 1, 1);
                        },
                        |otherwise| {
                            add(otherwise, "b", &data, 0, 1);
                        },
                    );
                    add(body, "less", &data, 3, MINUS_ONE);
                });
                let count = add(body, "count", &data, 2, 1);
                let end = body.kernel("end", Launch::new(1, 1), add_to::call(&mut flag.whole(), MINUS_ONE));
                body.after(inner, &[three]);
                body.after(count, &[inner]);
                body.after(end, &[count]);
            });
        })?;
        assert_eq!(called.run(0)?, [0; 4]);
        assert_eq!(called.run(2)?, [1, 5, 2, 0], "driver {driver}");
        let drawing = called.graph.plan().to_mermaid();
        assert_eq!(drawing.matches("subgraph").count(), 4, "{drawing}");
    }
    Ok(())
}

#[test]
fn conditions_can_be_shared_and_rebound() -> Result<()> {
    for driver in DRIVERS {
        let device = device();
        let (first, second) = (device.alloc::<u32>()?, device.alloc::<u32>()?);
        let mut builder = GraphBuilder::new(&device, "Called");
        builder.as_if_driver(driver);
        let flag = builder.shared("flag", &first, true);
        let data = builder.device("data");
        builder.if_else(
            "choice",
            &flag.whole(),
            |then| {
                add(then, "a", &data, 0, 1);
                then.while_loop("repeat", &flag.whole(), |body| {
                    let step = add(body, "b", &data, 1, 1);
                    let next = body.kernel("next", Launch::new(1, 1), add_to::call(&mut flag.whole(), MINUS_ONE));
                    body.after(next, &[step]);
                });
            },
            |otherwise| {
                add(otherwise, "c", &data, 2, 1);
            },
        );
        let mut graph = builder.build()?;
        first.copy_from(&3)?;
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [1, 3, 0, 0]);
        first.copy_from(&100)?;
        graph.rebind(&flag, &second)?;
        graph.launch()?;
        assert_eq!(
            *graph.device(&data)?.read()?,
            [1, 3, 1, 0],
            "driver {driver}: `second` is 0"
        );
        second.copy_from(&2)?;
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [2, 5, 1, 0], "driver {driver}");
        assert_eq!((*first.read()?, *second.read()?), (100, 0));
    }
    Ok(())
}

#[test]
fn drivers_without_conditionals_are_refused() -> Result<()> {
    let declare = |builder: &mut GraphBuilder, flag: Place<u32, OnDevice>, data: Place<[u32; 4], OnDevice>| {
        builder.if_then("maybe", &flag, |then| {
            add(then, "a", &data, 0, 1);
        });
    };
    let built = called(12_020, declare);
    if device().is_emulator() {
        assert_eq!(built?.run(1)?, [1, 0, 0, 0], "the emulator has no driver");
        return Ok(());
    }
    let error = built.map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error,
        "graph `Called`, node `maybe`: `if`, `while` and `switch` need an NVIDIA driver of CUDA 12.3 or later"
    );
    Ok(())
}

#[test]
fn an_endless_loop_ends_with_a_fault_on_the_emulator() -> Result<()> {
    let device = Device::emulator_with(EmulatorOptions {
        iteration_limit: Some(10),
        ..Default::default()
    });
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
    assert!(
        message.starts_with("began more than 10 iterations in one launch"),
        "{message}"
    );
    Ok(())
}

#[test]
fn faults_in_bodies_name_the_inner_node() -> Result<()> {
    let limited = Device::emulator_with(EmulatorOptions {
        step_limit: Some(100),
        ..Default::default()
    });
    let mut builder = GraphBuilder::new(&limited, "Called");
    let (flag, data) = (builder.device("flag"), builder.device("data"));
    builder.if_then("maybe", &flag, |then| {
        add(then, "late", &data, 0, 1);
    });
    let graph = builder.build()?;
    let mut called = Called { graph, flag, data };
    let error = called.run(1).unwrap_err().to_string();
    assert!(
        error.starts_with("graph `Called`, node `late`: kernel `add_late`"),
        "{error}"
    );
    Ok(())
}

/// The message of the first mistake.
fn mistake(declare: impl FnOnce(&mut GraphBuilder, Place<u32, OnDevice>, Place<[u32; 4], OnDevice>)) -> String {
    match called(u32::MAX, declare).map(|_| ()) {
        Err(Error::Invalid { diagnostics, .. }) => diagnostics[0].to_string(),
        other => panic!("a mistake was expected, not {other:?}"),
    }
}

#[test]
fn bodies_order_their_own_nodes_only() {
    let text = mistake(|builder, flag, data| {
        let before = add(builder, "before", &data, 0, 1);
        builder.if_then("maybe", &flag, |then| {
            let inner = add(then, "inner", &data, 0, 1);
            then.after(inner, &[before]);
        });
    });
    assert_eq!(
        text,
        "node `inner` cannot run after `before`, which is in another body [unknown-node]\n\
         note: `before` is in no body, `inner` is in a body of `maybe`\n\
         note: `after` orders nodes of one body, each with all that is in its own bodies\n\
         help: add `before` to the `after` list of `maybe`"
    );
}

#[test]
fn what_a_body_touches_races_with_what_is_around_it() {
    let text = mistake(|builder, flag, data| {
        builder.if_then("maybe", &flag, |then| {
            add(then, "inner", &data, 0, 1);
        });
        add(builder, "outer", &data, 0, 1);
    });
    assert_eq!(
        text,
        "nodes `maybe` and `outer` can run at the same time and both access `data` [race]\n\
         note: `maybe` writes `data[0..4]`, `outer` writes it\n\
         note: that of `maybe` is in its node `inner`\n\
         help: add `maybe` to the `after` list of `outer`"
    );
}

#[test]
fn the_condition_races_with_who_writes_it() {
    let text = mistake(|builder, mut flag, data| {
        builder.if_then("maybe", &flag.whole(), |then| {
            add(then, "inner", &data, 0, 1);
        });
        builder.memset("set", &mut flag, 1_u32);
    });
    assert!(
        text.starts_with("nodes `maybe` and `set` can run at the same time and both access `flag` [race]"),
        "{text}"
    );
}

#[test]
fn a_while_must_be_able_to_end() {
    let text = mistake(|builder, flag, data| {
        builder.while_loop("repeat", &flag, |body| {
            add(body, "inner", &data, 0, 1);
        });
    });
    assert_eq!(
        text,
        "no node in the body of `repeat` writes its condition `flag` [endless-while]\n\
         note: once it has begun, it would never end\n\
         help: let a kernel or a copy of the body write `flag`: 0 ends the loop"
    );
}

#[test]
fn bodies_hold_what_cuda_runs_in_them() {
    let text = mistake(|builder, flag, data| {
        let result = builder.host::<u32>("result");
        builder.if_then("maybe", &flag, |then| {
            let inner = then.if_then("really", &flag, |then| {
                then.call("print", (&result,), |(result,)| println!("{result}"));
            });
            let after = add(then, "after", &data, 0, 1);
            then.after(after, &[inner]);
        });
    });
    assert_eq!(
        text,
        "call node `print` cannot be in the body of `really` [conditional-body]\n\
         note: CUDA runs kernels, copies, memsets, joins, child graphs and conditionals in conditional bodies, and nothing else\n\
         help: move `print` out of the body, before or after `maybe`"
    );
}
