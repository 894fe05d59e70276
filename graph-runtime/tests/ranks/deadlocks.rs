//! Planted deadlocks: each is refused when the graph is built, or ends with an error on all ranks at once.

use super::common::{block_on, wants_cuda};
use super::{Ended, devices, messages, on_ranks, with_timeout};
use graph_runtime::{
    Code, Communicator, Device, Error, Exchange, Graph, GraphBuilder, NodeId, OnDevice, Place, Reduction, Result,
};
use std::thread;
use std::time::{Duration, Instant};

/// The codes of the mistakes of a graph.
fn codes<T>(result: Result<T>) -> Vec<Code> {
    match result {
        Err(Error::Invalid { diagnostics, .. }) => diagnostics.iter().map(|diagnostic| diagnostic.code).collect(),
        other => panic!("{:?}", other.err()),
    }
}

fn sum(builder: &mut GraphBuilder, name: &'static str, x: &Place<[f32; 4], OnDevice>, world: &Communicator) -> NodeId {
    builder.all_reduce(name, Reduction::Sum, &mut x.whole(), world)
}

#[test]
fn unordered_collectives_are_refused() {
    on_ranks(2, |device, world| {
        let mut builder = GraphBuilder::new(device, "Test");
        let (x, y) = (builder.device::<[f32; 4]>("x"), builder.device::<[f32; 4]>("y"));
        sum(&mut builder, "a", &x, &world);
        sum(&mut builder, "b", &y, &world);
        let error = builder.define().unwrap_err();
        assert!(error.to_string().contains("collectives `a` and `b`"), "{error}");
        assert_eq!(codes::<()>(Err(error)), [Code::CollectiveOrder]);
    });
}

#[test]
fn iterations_of_an_each_are_ordered_by_edges() {
    on_ranks(2, |device, world| {
        let define = |ordered: bool| {
            let mut builder = GraphBuilder::new(device, "Test");
            let x = builder.device::<[[f32; 4]; 3]>("x");
            builder.each(0..3, |builder, i| {
                let node = builder.all_reduce("sum", Reduction::Sum, &mut x.row(i), &world);
                if ordered {
                    builder.after_iteration(node, node, &[-1]);
                }
            });
            builder.define().map(drop)
        };
        assert_eq!(codes(define(false)), [Code::CollectiveOrder]);
        define(true).unwrap();
    });
}

#[test]
fn branches_by_rank_are_refused() {
    on_ranks(2, |device, world| {
        let mut builder = GraphBuilder::new(device, "Test");
        let x = builder.device::<[f32; 4]>("x");
        let own = builder.host::<u32>("own");
        let mut flag = builder.device::<u32>("flag");
        let load = builder.memcpy("load", &own, &mut flag);
        let choose = builder.if_then("choose", &flag.whole(), |body| {
            sum(body, "sum", &x, &world);
        });
        builder.after(choose, &[load]);
        let error = builder.define().unwrap_err();
        assert!(error.to_string().contains("`own` is host memory"), "{error}");
        assert_eq!(codes::<()>(Err(error)), [Code::RankDependent]);
    });
}

#[test]
fn loops_that_converge_by_themselves_are_refused() {
    on_ranks(2, |device, world| {
        let build = |agree: bool| {
            let mut builder = GraphBuilder::new(device, "Test");
            let x = builder.device::<[f32; 4]>("x");
            let own = builder.host::<u32>("own");
            let mut flag = builder.device::<u32>("flag");
            let first = builder.memset("first", &mut flag, 1_u32);
            let repeat = builder.while_loop("repeat", &flag.whole(), |body| {
                let reduce = sum(body, "sum", &x, &world);
                let decide = body.memcpy("decide", &own, &mut flag);
                if agree {
                    let agreed = body.all_reduce("agree", Reduction::Max, &mut flag, &world);
                    body.after(agreed, &[reduce, decide]);
                }
            });
            builder.after(repeat, &[first]);
            builder.define().map(drop)
        };
        assert_eq!(codes(build(false)), [Code::RankDependent]);
        build(true).unwrap();
    });
}

#[test]
fn values_that_decide_are_compared() {
    let build = |device: &Device, world: &Communicator, value: u32| {
        let mut builder = GraphBuilder::new(device, "Test");
        let x = builder.device::<[f32; 4]>("x");
        let mut flag = builder.device::<u32>("flag");
        let set = builder.memset("set", &mut flag, value);
        let choose = builder.if_then("choose", &flag.whole(), |body| {
            sum(body, "sum", &x, world);
        });
        builder.after(choose, &[set]);
        builder.build()
    };
    let same = on_ranks(2, |device, world| build(device, &world, 1)?.launch());
    assert_eq!(messages(same), ["", ""]);
    let other = on_ranks(2, |device, world| build(device, &world, world.rank() as u32).map(drop));
    for message in messages(other) {
        assert!(message.contains("node `set` is memset with the bytes"), "{message}");
    }
}

#[test]
fn two_communicators_in_opposite_orders_are_refused() {
    let built = on_ranks(2, |device, world| {
        let other = world.split(0, world.rank())?;
        let mut builder = GraphBuilder::new(device, "Test");
        let x = builder.device::<[f32; 4]>("x");
        let (first, second) = match world.rank() {
            0 => (&world, &other),
            _ => (&other, &world),
        };
        let a = sum(&mut builder, "a", &x, first);
        let b = sum(&mut builder, "b", &x, second);
        builder.after(b, &[a]);
        builder.build().map(drop)
    });
    for message in messages(built) {
        assert!(
            message.contains("over all ranks") && message.contains("over the ranks of split [0]"),
            "{message}"
        );
    }
}

#[test]
fn differing_graphs_are_refused_by_name() {
    let build = |device: &Device, world: &Communicator, length: usize, name: &'static str| {
        let mut builder = GraphBuilder::new(device, "Test");
        let mut x = builder.device_slice::<f32>("x", length);
        builder.all_reduce(name, Reduction::Sum, &mut x, world);
        builder.build().map(drop)
    };
    let shapes = on_ranks(3, |device, world| build(device, &world, 4 + world.rank() / 2, "sum"));
    for message in messages(shapes) {
        assert!(
            message.contains("node `sum` is all_reduce sum of 4 f32")
                && message.contains("node `sum` is all_reduce sum of 5 f32"),
            "{message}"
        );
    }
    let names = on_ranks(2, |device, world| {
        build(device, &world, 4, ["one", "two"][world.rank()])
    });
    for message in messages(names) {
        assert!(message.contains("`one`") && message.contains("`two`"), "{message}");
    }
}

#[test]
fn exchanges_that_do_not_meet_are_refused() {
    let built = on_ranks(3, |device, world| {
        let mut builder = GraphBuilder::new(device, "Test");
        let (a, mut b) = (builder.device::<[f32; 4]>("a"), builder.device::<[f32; 4]>("b"));
        // All send to the next one, and all wait for the next one.
        let moves = [Exchange::send(&a, world.next()), Exchange::recv(&mut b, world.next())];
        builder.exchange("ring", moves, &world);
        builder.build().map(drop)
    });
    for message in messages(built) {
        assert!(
            message.contains("in node `ring`, rank 0 sends 16 bytes to rank 1"),
            "{message}"
        );
    }
}

#[test]
fn shapes_and_ranks_that_do_not_exist_are_refused() {
    on_ranks(2, |device, world| {
        let mut builder = GraphBuilder::new(device, "Test");
        let (part, mut whole) = (
            builder.device::<[f32; 4]>("part"),
            builder.device::<[[f32; 4]; 3]>("whole"),
        );
        let gather = builder.all_gather("gather", &part, &mut whole, &world);
        let send = builder.exchange("send", [Exchange::send(&part, 2)], &world);
        builder.after(send, &[gather]);
        assert_eq!(codes(builder.define()), [Code::ShapeMismatch, Code::OutOfBounds]);
        let mut scratch = GraphBuilder::new(device, "Scratch");
        let x = scratch.scratch::<[f32; 4]>("x");
        sum(&mut scratch, "sum", &x, &world);
        assert_eq!(codes(scratch.define()), [Code::Uninitialized]);
    });
}

/// Two graphs over one communicator.
fn two_graphs(device: &Device, world: &Communicator) -> Result<[Graph; 2]> {
    let build = |name: &'static str| {
        let mut builder = GraphBuilder::new(device, name);
        let x = builder.device::<[f32; 4]>("x");
        sum(&mut builder, "sum", &x, world);
        builder.build()
    };
    Ok([build("One")?, build("Two")?])
}

#[test]
fn graphs_that_are_launched_in_different_orders_end_at_once() {
    let timeout = Duration::from_secs(600);
    let launched = with_timeout(2, timeout, |device, world| {
        let mut graphs = two_graphs(device, &world)?;
        if world.rank() == 1 {
            graphs.reverse();
        }
        let begin = Instant::now();
        let launch = |graph: &mut Graph| graph.launch().and_then(|()| graph.synchronize());
        let launched = graphs.iter_mut().try_for_each(launch);
        assert!(begin.elapsed() < timeout);
        launched
    });
    let messages = messages(launched);
    if wants_cuda() {
        // Kernels of NCCL would not notice: the host does.
        let words = match super::by_nccl() {
            true => "all ranks launch the graphs that share a communicator in one order",
            false => "it runs another collective",
        };
        assert!(messages.iter().any(|message| message.contains(words)), "{messages:?}");
        return;
    }
    for message in messages {
        assert!(
            message.contains("rank 0 waits at node `sum` of graph `One` for rank 1")
                && message.contains("rank 1 waits at node `sum` of graph `Two` for rank 0"),
            "{message}"
        );
    }
}

/// The same graphs, but one rank launches the first one more often before the second one.
#[test]
fn graphs_that_are_launched_unequally_often_end_at_once() {
    if !super::by_nccl() {
        return; // the collectives are compared one by one
    }
    let launched = with_timeout(2, Duration::from_secs(600), |device, world| {
        let [mut one, mut two] = two_graphs(device, &world)?;
        let often = 3 - world.rank();
        for _ in 0..often {
            drop(one.launch_async()?);
        }
        two.launch()?;
        two.synchronize()
    });
    let messages = messages(launched);
    let words = "after 2 launches of the graph before it, and this rank launches graph `Two` after 3";
    assert!(messages.iter().any(|message| message.contains(words)), "{messages:?}");
}

/// While a launch waits, its rank calls `split` from another thread. On GPUs, kernels find the circle, not the host.
#[test]
fn a_call_of_the_host_hides_no_circle() {
    if wants_cuda() {
        return;
    }
    let launched = with_timeout(2, Duration::from_secs(600), |device, world| {
        let [mut one, mut two] = two_graphs(device, &world)?;
        let other = world.split(0, 0)?;
        if world.rank() == 1 {
            other.split(0, 0)?;
            return two.launch().and_then(|()| two.synchronize());
        }
        thread::scope(|scope| {
            let launch = scope.spawn(|| one.launch().and_then(|()| one.synchronize()));
            thread::sleep(Duration::from_millis(200));
            other.split(0, 0)?;
            launch.join().unwrap()
        })
    });
    for message in messages(launched) {
        assert!(message.contains("ranks wait for each other for ever"), "{message}");
    }
}

#[test]
fn a_communicator_of_a_graph_in_flight_waits_for_it() {
    on_ranks(super::at_most(3), |device, world| {
        let [mut one, mut two] = two_graphs(device, &world).unwrap();
        for _ in 0..20 {
            let first = one.launch_async().unwrap();
            let second = two.launch_async().unwrap();
            drop((first, second));
        }
        one.synchronize().unwrap();
        two.synchronize().unwrap();
    });
}

/// The time for which ranks wait for one that does not come. The others may be late by less, on a busy machine.
const MISSED: Duration = Duration::from_secs(2);

#[test]
fn a_rank_that_is_missing_is_named() {
    let ended = Ended::default();
    let built = with_timeout(3, MISSED, |device, world| {
        if world.rank() == 2 {
            ended.wait_for(2);
            return Ok(());
        }
        let _ended = ended.count();
        two_graphs(device, &world).map(drop)
    });
    let messages = messages(built);
    for message in &messages[..2] {
        // On a busy machine, the other one may be late, too.
        let missing = ["rank 2 has", "ranks 0, 2 have", "ranks 1, 2 have"];
        let says = |missing| message.contains(&format!("{missing} not come to the building of graph `One`"));
        assert!(missing.into_iter().any(says), "{message}");
    }
    missing_in_a_launch(How::Wait);
    missing_in_a_launch(How::Future);
}

/// The way in which a rank learns of the end of a launch.
#[derive(Clone, Copy)]
enum How {
    Wait,
    Future,
}

fn missing_in_a_launch(how: How) {
    let ended = Ended::default();
    let launched = with_timeout(2, MISSED, |device, world| {
        let _ended = ended.count();
        let [mut one, _two] = two_graphs(device, &world)?;
        one.launch().and_then(|()| one.synchronize())?; // with NCCL, the ranks meet before this one
        if world.rank() == 1 {
            ended.wait_for(1);
            return Ok(());
        }
        // In debug mode, launches return the errors, too.
        let waited = match how {
            How::Wait => one.launch().and_then(|()| one.synchronize()),
            How::Future => one.launch_async().and_then(block_on),
        };
        match waited {
            Err(Error::Peer { rank: 1, site, .. }) => {
                assert_eq!((site.graph_name(), site.node_name()), (Some("One"), Some("sum")));
            }
            other => panic!("{other:?}"),
        }
        // The communicator cannot be used any more, and the device can.
        let again = one.launch().and_then(|()| one.synchronize());
        assert!(matches!(again, Err(Error::Peer { rank: 1, .. })), "{again:?}");
        let buffer = device.alloc::<[u32; 4]>()?;
        buffer.copy_from(&[7; 4])?;
        assert_eq!(*buffer.read()?, [7; 4]);
        Ok(())
    });
    assert_eq!(self::messages(launched), ["", ""]);
}

#[test]
fn a_device_of_another_rank_is_refused() {
    let (devices, _one) = devices(2);
    let ranks = Communicator::local(&devices).unwrap();
    if wants_cuda() {
        let mixed = Communicator::local(&[devices[0].clone(), Device::emulator()]);
        assert!(matches!(mixed, Err(Error::Unsupported { .. })));
    }
    if devices[0].context().map(|context| context.cu_ctx()) == devices[1].context().map(|context| context.cu_ctx())
        && wants_cuda()
    {
        return; // one GPU is both ranks
    }
    let mut builder = GraphBuilder::new(&devices[0], "Test");
    let x = builder.device::<[f32; 4]>("x");
    sum(&mut builder, "sum", &x, &ranks[1]);
    let error = builder.define().unwrap_err();
    assert!(error.to_string().contains("another device"), "{error}");
    let twice = Communicator::local(&[devices[0].clone(), devices[0].clone()]);
    match wants_cuda() {
        true => assert!(twice.is_ok()),
        false => assert!(matches!(twice, Err(Error::Unsupported { .. }))),
    }
}
