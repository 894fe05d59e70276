//! `if`, `while` and `switch` built call by call, also as for older drivers, and what their bodies may not do: on the
//! emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;
use graph_runtime::private::Declare as _;

/// A graph of calls, and what tests of it look at.
struct Called {
    graph: Graph,
    flag: Place<u32, OnDevice>,
    data: Place<[u32; 4], OnDevice>,
}

impl Called {
    /// The data after a launch with this condition.
    fn run(&mut self, flag: u32) -> Result<[u32; 4]> {
        self.graph.device_mut(&self.flag)?.copy_from(&flag)?;
        self.graph.device_mut(&self.data)?.copy_from(&[0; 4])?;
        self.graph.launch()?;
        Ok(*self.graph.device(&self.data)?.read()?)
    }
}

/// `declare` declares a graph over one flag and four numbers, for a driver that supports CUDA `driver` at most. Its
/// conditionals are nodes of CUDA.
fn called(
    driver: u32,
    declare: impl FnOnce(&mut GraphBuilder, Place<u32, OnDevice>, Place<[u32; 4], OnDevice>),
) -> Result<Called> {
    called_on(&device().with_bodies(Bodies::Nodes), driver, declare)
}

fn called_on(
    device: &Device,
    driver: u32,
    declare: impl FnOnce(&mut GraphBuilder, Place<u32, OnDevice>, Place<[u32; 4], OnDevice>),
) -> Result<Called> {
    let mut builder = GraphBuilder::new(device, "Called");
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
fn else_and_switches_are_the_same_for_every_driver() -> Result<()> {
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

    for driver in DRIVERS {
        let mut called = called(driver, |builder, flag, data| {
            let before = add(builder, "before", &data, 0, 1);
            let pick = builder.switch("pick", &flag, 0, |_, _| unreachable!());
            let after = add(builder, "after", &data, 0, 1);
            in_order(builder, &[before, pick, after]);
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
                in_order(body, &[three, inner, count, end]);
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
        assert_eq!(*graph.device(&data)?.read()?, [1, 3, 1, 0]); // `second` is 0
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
    // Predicated kernels need no such driver.
    let predicated = device().with_bodies(Bodies::Cheapest);
    assert_eq!(called_on(&predicated, 12_020, declare)?.run(1)?, [1, 0, 0, 0]);
    assert_eq!(called_on(&predicated, 12_020, declare)?.run(0)?, [0; 4]);
    if runs_node_by_node() {
        assert_eq!(built?.run(1)?, [1, 0, 0, 0], "the host reads the condition");
        return Ok(());
    }
    refused(built)
        .reads("graph `Called`, node `maybe`: `if`, `while` and `switch` need an NVIDIA driver of CUDA 12.3 or later");
    Ok(())
}

#[test]
fn faults_in_bodies_name_the_inner_node() -> Result<()> {
    let limited = emulator_with(|options| options.step_limit = Some(100));
    let mut builder = GraphBuilder::new(&limited, "Called");
    let (flag, data) = (builder.device("flag"), builder.device("data"));
    builder.if_then("maybe", &flag, |then| {
        add(then, "late", &data, 0, 1);
    });
    let graph = builder.build()?;
    let mut called = Called { graph, flag, data };
    refused(called.run(1)).begins("graph `Called`, node `late`: kernel `add_late`");
    Ok(())
}

/// The message of the first mistake.
fn mistake(declare: impl FnOnce(&mut GraphBuilder, Place<u32, OnDevice>, Place<[u32; 4], OnDevice>)) -> String {
    mistakes(called(u32::MAX, declare))[0].to_string()
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
    let expected = "node `inner` cannot run after `before`, which is in another body [unknown-node]\n\
         note: `before` is in no body, `inner` is in a body of `maybe`\n\
         note: `after` orders nodes of one body, each with all that is in its own bodies\n\
         help: move `before` from the `after` list of `inner` to the `after` list of `maybe`";
    assert_eq!(text, expected);
}

#[test]
fn what_a_body_touches_and_its_condition_race_with_what_is_around() {
    let text = mistake(|builder, flag, data| {
        builder.if_then("maybe", &flag, |then| {
            add(then, "inner", &data, 0, 1);
        });
        add(builder, "outer", &data, 0, 1);
    });
    let expected = "nodes `maybe` and `outer` can run at the same time and both access `data` [race]\n\
         note: `inner`, in the body of `maybe`, writes `data[0..4]`, `outer` writes it\n\
         help: add `maybe` to the `after` list of `outer`, or give one of them a buffer of its own";
    assert_eq!(text, expected);

    let text = mistake(|builder, mut flag, data| {
        builder.if_then("maybe", &flag.whole(), |then| {
            add(then, "inner", &data, 0, 1);
        });
        builder.memset("set", &mut flag, 1_u32);
    });
    text.begins("nodes `maybe` and `set` can run at the same time and both access `flag` [race]");
}

#[test]
fn a_while_must_be_able_to_end() {
    let text = mistake(|builder, flag, data| {
        builder.while_loop("repeat", &flag, |body| {
            add(body, "inner", &data, 0, 1);
        });
    });
    let expected = "no node in the body of `repeat` writes its condition `flag` [endless-while]\n\
         note: once it has begun, it would never end\n\
         help: let a kernel, a copy or a memset of the body write `flag`, where 0 ends the loop, for example \
         `memset stop = flag <- 0;`; or use `if` to run the body once";
    assert_eq!(text, expected);
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
    let expected = "call node `print` cannot be in the body of `really` [conditional-body]\n\
         note: CUDA runs kernels, copies, memsets, joins, captures, child graphs and conditionals in conditional bodies, and nothing else\n\
         help: move `print` out of the body, before or after `maybe`, where it runs whatever the condition is, and remove \
         `really`, which then runs nothing; or keep the condition: `memcpy` `flag` to `host` memory, which `print` takes \
         outside of the body and tests itself; or let a kernel of the body store to `mapped` memory, which the host loads \
         meanwhile";
    assert_eq!(text, expected);
}
