//! Lengths, indices and ranges of any size are an error, or work. No arithmetic on them panics or wraps.

use crate::common::*;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// More elements than any memory has.
const HUGE: [usize; 9] = [
    usize::MAX,
    usize::MAX - 1,
    usize::MAX - 63,
    usize::MAX / 2 + 1,
    usize::MAX / 2,
    usize::MAX / 4 + 1,
    usize::MAX / 4,
    1 << 60,
    1 << 50,
];

/// Asserts that memory of so many elements is refused, by the device or by `build`.
#[track_caller]
fn refused<T>(result: Result<T>, case: &str) {
    match result {
        Err(Error::OutOfMemory { .. } | Error::Cuda { .. } | Error::Invalid { .. }) => {}
        Err(error) => panic!("{case}: {error}"),
        Ok(_) => panic!("{case}: there is no such memory"),
    }
}

#[test]
fn memory_outside_graphs() {
    let device = device();
    for len in HUGE {
        let case = format!("{len}");
        refused(device.alloc_slice::<u8>(len), &case);
        refused(device.alloc_slice::<[f32; 3]>(len), &case);
        refused(device.alloc_host_slice::<u8>(len), &case);
        refused(device.alloc_host_slice::<f64>(len), &case);
        for lengths in [[len, 1], [1, len], [len, len], [3, len]] {
            let case = format!("{lengths:?}");
            refused(device.alloc_table::<f32, 2>(lengths), &case);
            refused(device.alloc_host_table::<f32, 2>(lengths), &case);
        }
    }
}

#[test]
fn memory_of_graphs() {
    let device = device();
    type Declare = fn(&mut GraphBuilder, usize);
    let declares: [(&str, Declare); 7] = [
        ("host", |builder, len| {
            let mut data = builder.device_slice::<u8>("data", len);
            let host = builder.host_slice::<u8>("x", len);
            builder.memcpy("up", &host, &mut data);
        }),
        ("device", |builder, len| {
            let mut data = builder.device_slice::<f32>("data", len);
            builder.memset("set", &mut data, 1.0_f32);
        }),
        ("scratch", |builder, len| {
            let mut x = builder.scratch_slice::<f32>("x", len);
            let mut y = builder.scratch_slice::<u8>("y", len);
            builder.memset("x", &mut x.whole(), 1.0_f32);
            builder.memset("set_x", &mut x, 1.0_f32);
            builder.memset("set_y", &mut y, 1_u8);
        }),
        ("table", |builder, len| {
            let mut table = builder.device_table::<f32, 3>("x", [2, len, 3]);
            builder.memset("set", &mut table, 1.0_f32);
            let row = table.row(1).row(len - 1);
            builder.memset("set_row", &mut row.whole(), 1.0_f32);
        }),
        ("scratch table", |builder, len| {
            let mut table = builder.scratch_table::<u8, 2>("x", [len, len]);
            builder.memset("set", &mut table, 1_u8);
        }),
        ("host table", |builder, len| {
            let table = builder.host_table::<u8, 4>("x", [len, 1, 1, 1]);
            let mut rows = builder.device_table::<u8, 4>("rows", [len - 1, 1, 1, 1]);
            builder.memcpy("up", &table.rows(1..), &mut rows);
        }),
        ("columns", |builder, len| {
            let table = builder.device_table::<u8, 2>("x", [len, 8]);
            builder.memset_2d("set", &mut table.rectangle_of(1.., 2..7), 1_u8);
        }),
    ];
    for len in HUGE {
        for (name, declare) in &declares {
            let mut builder = GraphBuilder::new(&device, "Huge");
            declare(&mut builder, len);
            refused(builder.build(), &format!("{name} of {len}"));
        }
    }
}

/// Memory without bytes may have any number of rows.
#[test]
fn rows_without_elements() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Empty");
    let empty = builder.device_table::<f32, 2>("empty", [usize::MAX, 0]);
    let mut none = builder.device_table::<f32, 2>("none", [0, usize::MAX]);
    let mut output = builder.host_table::<f32, 2>("output", [usize::MAX, 0]);
    builder.memset("set", &mut empty.row(usize::MAX - 1), 1.0_f32);
    builder.memset("set_none", &mut none, 1.0_f32);
    builder.memset_2d("columns", &mut none.rectangle_of(.., 1..2), 1.0_f32);
    builder.memcpy("down", &empty.rows(5..), &mut output.rows(5..));
    builder.memcpy("all", &empty, &mut output);
    let graph = launched(builder.build())?;
    assert_eq!(graph.host_table(&output)?.as_flattened(), &[0.0; 0]);
    let last = graph.host_table(&output)?.row(usize::MAX - 1);
    assert_eq!(last.map(<[f32]>::len), Some(0));
    Ok(())
}

/// Bounds that are outside memory of 8 elements.
fn ranges() -> Vec<(Bound<usize>, Bound<usize>)> {
    let mut ranges = vec![(Excluded(7), Included(usize::MAX)), (Excluded(usize::MAX), Unbounded)];
    for far in HUGE.into_iter().chain([9, u32::MAX as usize]) {
        ranges.extend([
            (Unbounded, Excluded(far)),
            (Unbounded, Included(far)),
            (Included(far), Unbounded),
            (Included(far), Excluded(far)),
            (Included(far), Included(far)),
            (Included(3), Included(far)),
            (Excluded(far), Included(2)),
        ]);
    }
    ranges
}

#[test]
fn ranges_of_places() {
    type Select = fn(&mut GraphBuilder, &Place<[[u8; 8]; 8], OnDevice>, (Bound<usize>, Bound<usize>));
    let selects: [Select; 7] = [
        |builder, x, range| _ = builder.memset("set", &mut x.rows(range), 1_u8),
        |builder, x, range| _ = builder.memset("set", &mut x.row(1).rows(range), 1_u8),
        |builder, x, range| _ = builder.memset("set", &mut x.rows(range).row(0), 1_u8),
        |builder, x, range| _ = builder.memset_2d("set", &mut x.rectangle_of(range, ..2), 1_u8),
        |builder, x, range| _ = builder.memset_2d("set", &mut x.rectangle_of(1..3, range), 1_u8),
        |builder, x, range| _ = builder.memset_2d("set", &mut x.column_rows(range, 2), 1_u8),
        |builder, x, range| _ = builder.memset_within("set", &mut x.rows(range), 1_u8, x),
    ];
    let device = device();
    for range in ranges() {
        for (number, select) in selects.iter().enumerate() {
            let mut builder = GraphBuilder::new(&device, "Outside");
            let x = builder.device::<[[u8; 8]; 8]>("x");
            select(&mut builder, &x, range);
            assert_is_outside(builder, &format!("{range:?} of selection {number}"));
        }
    }
    for far in HUGE {
        let mut builder = GraphBuilder::new(&device, "Outside");
        let x = builder.device::<[[u8; 8]; 8]>("x");
        builder.memset("a", &mut x.row(far), 1_u8);
        builder.memset("b", &mut x.rows_from::<2>(far), 1_u8);
        builder.memset_2d("c", &mut x.rectangle::<2, 2>(far, far), 1_u8);
        builder.memset_2d("d", &mut x.column::<2>(0, far), 1_u8);
        builder.memset_2d("e", &mut x.rectangle_rows::<2>(..2, far), 1_u8);
        assert_is_outside(builder, &format!("{far}"));
    }
}

#[track_caller]
fn assert_is_outside(builder: GraphBuilder, case: &str) {
    let Err(Error::Invalid { diagnostics, .. }) = builder.build() else {
        panic!("{case} is not refused");
    };
    let are_outside = diagnostics.iter().all(|found| found.code == Code::OutOfBounds);
    assert!(are_outside, "{case}: {diagnostics:?}");
}

#[test]
fn ranges_of_buffers_and_views() -> Result<()> {
    let device = device();
    let data = device.alloc::<[u32; 8]>()?;
    let host = device.alloc_host::<[u32; 8]>().map(HostBuffer::share)?;
    let mut builder = GraphBuilder::new(&device, "View");
    let own = builder.device::<[u32; 8]>("own");
    let mut graph = builder.build()?;
    for range in ranges() {
        assert!(matches!(data.rows(range), Err(Error::OutOfBounds { .. })), "{range:?}");
        assert!(matches!(host.rows(range), Err(Error::OutOfBounds { .. })), "{range:?}");
        let view = graph.device_mut(&own)?.rows(range).map(drop);
        assert!(matches!(view, Err(Error::OutOfBounds { .. })), "{range:?}");
        let view = graph.device(&own.rows(range));
        assert!(matches!(view, Err(Error::OutOfBounds { .. })), "{range:?}");
    }
    for far in HUGE {
        assert!(matches!(data.row(far), Err(Error::OutOfBounds { .. })));
        assert!(matches!(host.row(far), Err(Error::OutOfBounds { .. })));
    }
    Ok(())
}

#[test]
fn numbers_of_launches_and_loops() {
    let device = device();
    for far in HUGE {
        type Declare = fn(&mut GraphBuilder, usize);
        let declares: [Declare; 8] = [
            |builder, far| {
                let mut x = builder.device::<[f32; 8]>("x");
                builder.kernel("k", Launch::new(far, 1), bounded::call(&mut x));
            },
            |builder, far| {
                let mut x = builder.device::<[f32; 8]>("x");
                builder.kernel("k", Launch::new((far, far, far), (far, far)), bounded::call(&mut x));
            },
            |builder, far| {
                let (x, mut y) = (builder.device::<[f32; 8]>("x"), builder.device::<[f32; 8]>("y"));
                builder.kernel("k", Launch::new(1, 8).shared(far), reverse_shared::call(&x, &mut y));
            },
            |builder, far| {
                let mut x = builder.device::<[u32; 8]>("x");
                builder.kernel("k", Launch::new(1, 1).cluster((far, far)), number::call(&mut x));
            },
            |builder, far| {
                let mut x = builder.device::<[f32; 8]>("x");
                builder.kernel("k", Launch::new(1, 8), scale::call(&mut x, 1.0, far));
            },
            |builder, far| builder.repeat(1..=far, |builder, _| _ = builder.join("again")),
            |builder, far| _ = builder.each(0..far, |builder, _| builder.join("each")),
            |builder, far| {
                builder.each(far..=usize::MAX, |builder, i| {
                    let x = builder.device::<[f32; 8]>("x");
                    builder.memset("set", &mut x.row(i), 1.0_f32)
                });
            },
        ];
        for (number, declare) in declares.iter().enumerate() {
            let mut builder = GraphBuilder::new(&device, "Far");
            declare(&mut builder, far);
            assert!(builder.build().is_err(), "{far} in declaration {number}");
        }
    }
}

#[test]
fn numbers_of_nodes_and_iterations() {
    let mut builder = GraphBuilder::new(&device(), "Steps");
    builder.each(usize::MAX - 1..=usize::MAX, |builder, _| {
        let node = builder.join("node");
        builder.after_iteration(node, node, &[isize::MAX]);
        builder.after_iteration(node, node, &[isize::MIN]);
        builder.after_iteration(node, node, &[-1]);
        builder.after_iteration(node, NodeId::new(usize::MAX), &[1]);
    });
    assert!(builder.build().is_err());
    let mut builder = GraphBuilder::new(&device(), "Draws");
    let noise = builder.rng("noise", u64::MAX, u64::MAX);
    let mut out = builder.device::<[u32; 4]>("out");
    let call = draw_numbers::call(&noise.draw(), &mut out, 2_u32);
    builder.kernel("draw", Launch::new(1, 2), call);
    let mut graph = builder.build().expect("any number is one");
    for _ in 0..3 {
        graph.launch().expect("a launch");
        graph.synchronize().expect("no fault");
    }
    let handle = graph.node(NodeId::new(usize::MAX)).set_enabled(false);
    assert!(matches!(handle, Err(Error::UnknownNode { .. })));
}

cuda_graph! {
    graph Ranges(start: usize, last: usize, len: usize) {
        host   input: [u32; 8];
        device x:     [u32; 8];
        device y:     [u32; len];
        device table: [[u32; len]; len];
        param  n:     usize = 0;

        memcpy up    = input[start..=last] -> x[start..=last];
        memset clear = x[..=n] <- 0 after up;
        memset all   = y <- 1;
        memset rows  = table <- 2;
    }
}

#[test]
fn inclusive_ranges_of_declared_graphs() -> Result<()> {
    let device = device();
    for far in HUGE {
        for (start, last, len) in [(0, far, 1), (far, far, 1), (far, 2, 1), (0, 7, far)] {
            let built = Ranges::build(&device, start, last, len);
            assert!(built.is_err(), "{start}..={last}, {len}");
        }
        let expression = cuda_graph! { &device =>
            host   input: [u32; 8];
            device x:     [u32; 8];
            memcpy up = input[..=far] -> x[..=far];
        };
        assert!(expression.is_err(), "{far}");
    }
    let mut graph = Ranges::build(&device, 0, 7, 1)?;
    for far in HUGE {
        assert!(matches!(graph.set_n(far), Err(Error::Invalid { .. })), "{far}");
    }
    graph.set_n(7)?;
    graph.launch()?;
    graph.synchronize()
}
