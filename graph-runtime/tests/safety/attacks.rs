//! Safe programs that try to reach memory which is not theirs, or a graph that is half built.

use crate::common::*;
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::private::Declare as _;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

#[test]
fn states_are_drawn_while_building_and_those_drawn_later_are_outside() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Late");
    let noise = builder.rng("noise", 7, 16);
    let mut seen = builder.device::<Philox>("seen");
    builder.memcpy("look", &noise.draw(), &mut seen);
    let mut graph = builder.build()?;
    let late = noise.draw();
    assert!(matches!(graph.device(&late), Err(Error::OutOfBounds { .. })));
    assert!(matches!(graph.device_mut(&late), Err(Error::OutOfBounds { .. })));
    graph.rng(&noise).reseed(8)?;
    graph.launch()?;
    assert_eq!(graph.device(&seen)?.read()?.seed, 8);

    for _ in 0..50 {
        let mut builder = GraphBuilder::new(&device(), "Racing");
        let noise = builder.rng("noise", 7, 16);
        let mut seen = builder.device::<Philox>("seen");
        builder.memcpy("look", &noise.draw(), &mut seen);
        let graph = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2000 {
                    noise.draw();
                }
            });
            builder.build()
        });
        let mut graph = graph?;
        graph.launch()?;
        graph.synchronize()?;
    }
    Ok(())
}

#[test]
fn an_event_that_panics_leaves_no_node_behind() -> Result<()> {
    struct Bomb;
    impl From<Bomb> for Event {
        fn from(_: Bomb) -> Event {
            panic!("no event")
        }
    }
    let mut builder = GraphBuilder::new(&device(), "Bombed");
    let data = builder.device::<[f32; 4]>("data");
    for _ in 0..2 {
        assert!(catch_unwind(AssertUnwindSafe(|| builder.record("record", Bomb))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| builder.wait("wait", Bomb))).is_err());
    }
    builder.memset("set", &mut data.whole(), 1.0_f32);
    let graph = launched(builder.build())?;
    assert_eq!(*graph.device(&data)?.read()?, [1.0; 4]);
    Ok(())
}

#[test]
fn what_has_no_rows_or_no_size_is_nothing() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Empty");
    let a = builder.host::<[[f32; 8]; 4]>("a");
    let b = builder.device::<[[f32; 8]; 4]>("b");
    let c = builder.host::<[[f32; 8]; 4]>("c");
    builder.memcpy_2d("host", &c.rectangle_of(4..4, 3..7), &mut a.rectangle_of(4..4, 4..8));
    builder.memcpy_2d("up", &c.rectangle_of(4..4, 7..8), &mut b.rectangle_of(4..4, 7..8));
    builder.memset_2d("set", &mut b.rectangle_of(4..4, 3..8), 1.0_f32);
    builder.memcpy_2d("thin", &c.rectangle_of(1..3, 8..8), &mut a.rectangle_of(1..3, 8..8));
    builder.memcpy("none", &c.rows(4..4), &mut a.rows(4..4));
    builder.memcpy("nothing", &c.row(3).rows(8..8), &mut b.row(3).rows(8..8));
    let graph = launched(builder.build())?;
    graph.synchronize()?;

    let device = device();
    let mut builder = GraphBuilder::new(&device, "Nothing");
    let a = builder.host_slice::<()>("a", usize::MAX);
    let mut b = builder.device::<[(); 7]>("b");
    let mut c = builder.scratch::<[[u32; 0]; 3]>("c");
    let set = builder.memset("set", &mut b, ());
    builder.memset("fill", &mut c, [0_u32; 0]);
    let copy = builder.memcpy("copy", &a.rows(..5), &mut b.rows(..5));
    builder.after(copy, &[set]);
    let call = builder.call("call", (&mut a.whole(),), |(a,)| assert!(a.is_empty()));
    builder.after(call, &[copy]);
    let mut graph = launched(builder.build())?;
    assert_eq!(*graph.device(&b)?.read()?, [(); 7]);
    graph.node(set).set_enabled(false)?;
    graph.host_slice_mut(&a)?.fill(());
    let shared = device.alloc_host_slice::<()>(9)?.share();
    let (row, rows) = (shared.row(8)?, shared.rows(3..9)?);
    assert_eq!((*row.write()?, rows.write()?.len()), ((), 0));
    let buffer = device.alloc::<[(); 3]>()?;
    assert_eq!(*buffer.row(2)?.read()?, ());
    Ok(())
}

#[test]
fn places_lie_within_or_are_refused_whatever_is_selected() -> Result<()> {
    let extremes = [0, 1, 3, 4, 5, usize::MAX - 1, usize::MAX];
    let mut builder = GraphBuilder::new(&device(), "Extremes");
    let x = builder.host::<[[u8; 3]; 4]>("x");
    let zero = builder.host::<[[u8; 0]; 4]>("zero");
    let graph = builder.build()?;
    for from in extremes {
        for to in extremes {
            let right = from <= to && to <= 4;
            assert_eq!(graph.host_slice(&x.rows(from..to)).is_ok(), right, "{from}..{to}");
            if let Ok(rows) = graph.host_slice(&x.rows(from..to)) {
                assert_eq!(rows.len(), to - from);
            }
            let right = from < 4 && to < 3;
            assert_eq!(graph.host(&x.row(from).row(to)).is_ok(), right, "[{from}][{to}]");
            let _ = graph.host_slice(&zero.rows(from..=to)).map(<[_]>::len);
            let _ = graph.host(&zero.row(from)).copied();
        }
    }
    Ok(())
}

#[test]
fn a_host_function_gets_no_memory_twice() {
    let mut builder = GraphBuilder::new(&device(), "Twice");
    let x = builder.host::<[[u32; 4]; 4]>("x");
    let mut n = x.rows(1..3);
    builder.call("whole and row", (&x, &mut x.row(2)), |(_, _)| ());
    builder.call("rows", (&mut x.rows(0..2), &mut n), |(_, _)| ());
    builder.call("same", (&mut x.whole(), &mut x.whole()), |(_, _)| ());
    builder.call("element", (&mut x.row(1).row(3), &x.row(1)), |(_, _)| ());
    let diagnostics = mistakes(builder.build());
    let aliased = diagnostics
        .iter()
        .filter(|found| found.to_string().contains("[aliased-argument]"));
    assert_eq!(aliased.count(), 4, "{diagnostics:#?}");
}

/// A closure is lent a builder. Whatever it does with it, the result is one graph or none.
#[test]
fn builders_are_swapped_while_they_are_lent() {
    let device = device();
    for way in 0..8 {
        let mut other = GraphBuilder::new(&device, "Other");
        let spare = other.device::<u32>("spare");
        let mut builder = GraphBuilder::new(&device, "Swapped");
        let flag = builder.device::<u32>("flag");
        let x = builder.device::<[f32; 4]>("x");
        {
            let swap = |inner: &mut GraphBuilder| {
                inner.memset("before", &mut x.whole(), 1.0_f32);
                mem::swap(inner, &mut other);
                inner.memset("after", &mut spare.whole(), 1_u32);
            };
            match way {
                0 => drop(builder.child("node", swap)),
                1 => drop(builder.if_then("node", &flag, swap)),
                2 => drop(builder.if_else("node", &flag, swap, |inner| _ = inner.join("j"))),
                3 => drop(builder.while_loop("node", &flag, swap)),
                4 => {
                    let mut swap = Some(swap);
                    builder.switch("node", &flag, 2, |inner, _| {
                        if let Some(mut swap) = swap.take() {
                            swap(inner);
                        }
                    });
                }
                5 => {
                    let mut swap = Some(swap);
                    builder.repeat(0..3, |inner, _| {
                        if let Some(mut swap) = swap.take() {
                            swap(inner);
                        }
                    });
                }
                6 => drop(catch_unwind(AssertUnwindSafe(|| {
                    builder.child("node", |inner| {
                        inner.begin_body();
                        inner.repeat(0..2, |_, _| panic!("half-way"));
                    })
                }))),
                _ => {
                    builder.child("node", |inner| {
                        let built = mem::replace(inner, GraphBuilder::new(&device, "New")).build();
                        drop(built);
                        inner.end_child(Ok(()));
                        inner.end_loop();
                        inner.end_body();
                    });
                }
            }
        }
        for builder in [builder, other] {
            if let Ok(mut graph) = builder.build() {
                drop(graph.launch().and_then(|()| graph.synchronize()));
                drop(graph.plan().to_dot());
            }
        }
    }
}

/// A function of a graph that shares memory, and what it is allowed to do with that meanwhile.
#[test]
fn a_host_function_cannot_borrow_what_its_launch_writes() -> Result<()> {
    let device = device();
    let shared: SharedHost<[u32; 4]> = device.alloc_host::<[u32; 4]>()?.share();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut builder = GraphBuilder::new(&device, "Inside");
    let mut x = builder.shared("x", &shared, true);
    let (handle, log) = (shared.clone(), seen.clone());
    builder.call("call", (&mut x,), move |(x,)| {
        x.fill(1);
        let refused = [
            handle.read().is_err(),
            handle.write().is_err(),
            handle.row(1).unwrap().read().is_err(),
        ];
        log.lock().unwrap().push(refused);
    });
    let graph = launched(builder.build())?;
    graph.synchronize()?;
    assert_eq!(*seen.lock().unwrap(), [[true; 3]]);
    assert_eq!(*shared.read()?, [1; 4]);
    Ok(())
}

/// Two graphs on two threads that write one memory, and guards on a third: an access that another does not keep off
/// would lose an addition.
#[test]
fn host_functions_on_several_threads_have_shared_memory_for_themselves() -> Result<()> {
    const LAUNCHES: u32 = 20;
    let device = device();
    let shared = device.alloc_host::<[u32; 4]>()?.share();
    let graphs = ["first", "second"].map(|name| {
        let mut builder = GraphBuilder::new(&device, name);
        let mut all = builder.shared("all", &shared, true);
        builder.call("add", (&mut all,), |(all,)| all.iter_mut().for_each(|one| *one += 1));
        builder.build()
    });
    let added = std::thread::scope(|scope| {
        for graph in graphs {
            scope.spawn(|| -> Result<()> {
                let mut graph = graph?;
                for _ in 0..LAUNCHES {
                    while matches!(graph.launch(), Err(Error::InUse { .. })) {
                        std::thread::yield_now();
                    }
                }
                graph.synchronize()
            });
        }
        let mut added = 0;
        while added < LAUNCHES {
            let Ok(mut guard) = shared.write() else { continue };
            guard.iter_mut().for_each(|one| *one += 1);
            added += 1;
        }
        added
    });
    assert_eq!(*shared.read()?, [2 * LAUNCHES + added; 4]);
    Ok(())
}

/// A function that owns another graph, and one that drops it while it runs.
#[test]
fn host_functions_own_graphs() -> Result<()> {
    let device = Device::emulator();
    let inner = {
        let mut builder = GraphBuilder::new(&device, "Inner");
        let x = builder.host::<[u32; 4]>("x");
        builder.call("set", (&mut x.whole(),), |(x,)| x.fill(3));
        (builder.build()?, x)
    };
    let result = Arc::new(Mutex::new(0));
    let mut builder = GraphBuilder::new(&device, "Outer");
    let (sum, mut inner) = (result.clone(), Some(inner));
    builder.call("run", (), move |()| {
        let Some((mut graph, x)) = inner.take() else { return };
        graph.launch().unwrap();
        *sum.lock().unwrap() = graph.host(&x).unwrap().iter().sum();
    });
    let graph = launched(launched(builder.build()))?;
    graph.synchronize()?;
    assert_eq!(*result.lock().unwrap(), 12);
    Ok(())
}

/// Larger than what an allocator aligns to by itself.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

// SAFETY: bytes, of which all are valid.
unsafe impl Zeroable for Page {}
// SAFETY: as above, without padding: as long as it is aligned.
unsafe impl Pod for Page {}

#[test]
fn host_memory_is_aligned_for_its_elements() -> Result<()> {
    let device = device();
    let small: Vec<HostBuffer<u8>> = (0..5).map(|_| device.alloc_host()).collect::<Result<_>>()?;
    let pages: Vec<HostBuffer<Page>> = (0..5).map(|_| device.alloc_host()).collect::<Result<_>>()?;
    for page in &pages {
        assert!((&raw const **page).addr().is_multiple_of(4096));
        assert!(page.0.iter().all(|&byte| byte == 0));
    }
    drop(small);
    let mut builder = GraphBuilder::new(&device, "Pages");
    let (_small, page) = (builder.host::<u8>("small"), builder.host::<Page>("page"));
    let graph = builder.build()?;
    assert!((&raw const *graph.host(&page)?).addr().is_multiple_of(4096));
    Ok(())
}

#[test]
fn launches_are_refused_only_for_their_memory() -> Result<()> {
    let device = device();
    let data = device.alloc_slice::<u32>(8)?;
    let mut builder = GraphBuilder::new(&device, "Reads");
    let low = builder.shared("low", &data.rows(..4)?, false);
    let high = builder.shared("high", &data.rows(2..)?, false);
    let out = builder.host_slice::<u32>("out", 6);
    builder.memcpy("a", &low.rows(2..), &mut out.rows(..2));
    builder.memcpy("b", &high.rows(..4), &mut out.rows(2..));
    let mut graph = launched(builder.build())?;
    assert_eq!(graph.host_slice(&out)?, &[0; 6]);
    assert!(graph.rebind(&low, &data.rows(..3)?).is_err());
    let other = device.alloc_slice::<u32>(4)?;
    graph.rebind(&low, &other)?;
    drop(other);
    graph.launch()?;
    graph.synchronize()
}
