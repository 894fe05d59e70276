//! Memory with several lengths that only `build` knows: declared, selected from, shared, lent and refused.

use crate::common::random::Random;
use crate::common::*;
use graph_runtime::private::plan::Code;

/// `0, 1, 2, ..`
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|number| number as f32).collect()
}

/// Holds that this is the first of the mistakes.
#[track_caller]
fn is_first<T>(built: Result<T>, code: Code, text: &str) {
    let first = mistakes(built).swap_remove(0);
    assert!(first.code == code && first.message.contains(text), "{first:?}");
}

cuda_graph! {
    /// Rows, ranges of rows, and parts of rows: `out[i] = 2 w[i]` for the first rows, a copy of the others.
    graph Layers(n: usize, d: usize) {
        host   input: [[f32; d]; n];
        device w:     [[f32; d]; n];
        device row:   [f32; d];
        device out:   [[f32; d]; n];
        device tail:  [f32; 2];
        host   output: [[f32; d]; n];

        memcpy up = input -> w;
        for i in 0..n - 1 {
            memcpy load  = w[i] -> row                                  after up;
            kernel twice = add<<<1, d as u32>>>(&row, &row, &mut out[i], d as u32) after load;
        }
        memcpy last  = w[n - 1..] -> out[n - 1..]                       after twice;
        memcpy cut   = w[1][d - 2..] -> tail                            after up;
        kernel scale = scale<<<1, d as u32>>>(&mut out[0], 10.0, d as u32) after last;
        memset zero  = out[1][0] <- 0.0                                 after last;
        memcpy down  = out -> output                                    after scale, zero;
    }
}

#[test]
fn rows_and_ranges_of_rows_are_memory() -> Result<()> {
    let mut graph = Layers::build(&device(), 3, 5)?;
    assert_eq!(graph.input()?.lengths(), [3, 5]);
    graph.input_mut()?.as_flattened_mut().copy_from_slice(&numbers(15));
    graph.launch()?;
    let output = graph.output()?;
    assert_eq!(output[0], [0.0, 20.0, 40.0, 60.0, 80.0]);
    assert_eq!(output[1], [0.0, 12.0, 14.0, 16.0, 18.0]);
    assert_eq!(output[[2, 4]], 14.0);
    assert_eq!(output.row(3), None);
    assert_eq!(graph.tail()?.read()?[..], [8.0, 9.0]);
    let w = graph.w()?;
    assert_eq!((w.lengths(), w.bytes()), ([3, 5], 60));
    assert_eq!(w.row(2)?.read_vec()?, [10.0, 11.0, 12.0, 13.0, 14.0]);
    assert_eq!(w.rows(1..)?.lengths(), [2, 5]);
    assert!(matches!(w.row(3), Err(Error::OutOfBounds { .. })));
    let mut out = graph.out_mut()?;
    out.copy_from(&[1.0; 15])?;
    out.row_mut(1)?.copy_from(&[2.0; 5])?;
    assert!(matches!(out.copy_from(&[1.0; 14]), Err(Error::Length { .. })));
    assert_eq!(graph.out()?.read_vec()?[4..11], [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0]);

    let memory = graph.memory_mut()?;
    let (mut input, output) = (memory.input, memory.output);
    input.row_mut(1).unwrap()[0] = output[0][1];
    assert_eq!(input.as_flattened()[5], 20.0);
    Ok(())
}

cuda_graph! {
    graph Rectangles(n: usize, d: usize, left: usize) {
        device w:      [[u32; d]; n];
        host   corner: [[u32; 2]; 3];
        device column: [u32; n];
        device wide:   [[u32; d]; 2];
        device same:   [[u32; d]; n];

        kernel fill = number<<<1, (n * d) as u32>>>(&mut w);
        memcpy cut  = w[1..4][left..left + 2] -> corner             after fill;
        memcpy tall = w[..][d - 1] -> column                        after fill;
        memcpy some = w[..2][..] -> wide                            after fill;
        memcpy all  = w -> same                                     after fill;
        memset set  = same[1..][1..d - 1] <- 7                      after all;
    }
}

#[test]
fn rectangles_of_tables() -> Result<()> {
    let (n, d) = (4, 6);
    let graph = launched(Rectangles::build(&device(), n, d, 3))?;
    assert_eq!(graph.corner()?, &[[9, 10], [15, 16], [21, 22]]);
    assert_eq!(graph.column()?.read_vec()?, [5, 11, 17, 23]);
    assert_eq!(graph.wide()?.read_vec()?, (0..12).collect::<Vec<u32>>());
    let same = graph.same()?.read_vec()?;
    let expected = |index: usize| match (index / d, index % d) {
        (row, column) if row > 0 && (1..d - 1).contains(&column) => 7,
        _ => index as u32,
    };
    assert_eq!(same, (0..n * d).map(expected).collect::<Vec<u32>>());

    let text = "node `cut` uses an index or range outside `w`";
    is_first(Rectangles::build(&device(), 4, 6, 5), Code::OutOfBounds, text);
    Ok(())
}

cuda_graph! {
    /// The lengths of both sides are other names.
    graph Copies(a: usize, b: usize, c: usize, d: usize) {
        device from: [[u32; b]; a];
        device to:   [[u32; d]; c];
        memcpy copy = from -> to;
    }
    /// One side has constant lengths.
    graph Fixed(a: usize, b: usize) {
        device from:  [[u32; b]; a];
        device fixed: [[u32; 4]; 3];
        device rows:  [[u32; 4]; a];
        memcpy copy  = from -> fixed;
        memcpy slice = fixed -> rows          after copy;
        memcpy again = rows[1..] -> from[1..] after slice;
    }
}

#[test]
fn lengths_and_indices_are_compared_at_build() -> Result<()> {
    assert!(Copies::build(&device(), 2, 6, 2, 6).is_ok());
    for (c, d) in [(6, 2), (3, 4), (2, 5), (3, 6)] {
        let text = format!("node `copy` copies 2 x 6 elements of `from` to {c} x {d} of `to`");
        is_first(Copies::build(&device(), 2, 6, c, d), Code::ShapeMismatch, &text);
    }
    assert!(Copies::build(&device(), 0, 6, 0, 6).is_ok());
    assert!(Fixed::build(&device(), 3, 4).is_ok());
    let text = "node `copy` copies 4 x 3 elements of `from` to 3 x 4 of `fixed`";
    is_first(Fixed::build(&device(), 4, 3), Code::ShapeMismatch, text);

    let graph = launched(Rows::build(&device(), 2, 3, 1, 2))?;
    assert_eq!(graph.w()?.read_vec()?, [0, 0, 2, 1, 1, 1]);
    for (i, j, node) in [(2, 0, "row"), (0, 3, "cell"), (usize::MAX, 0, "row")] {
        let text = format!("node `{node}` uses an index or range outside `w`");
        is_first(Rows::build(&device(), 2, 3, i, j), Code::OutOfBounds, &text);
    }
    let built = Rows::build(&device(), usize::MAX, 3, 0, 0);
    assert!(matches!(built, Err(Error::OutOfMemory { .. } | Error::Cuda { .. })));
    Ok(())
}

cuda_graph! {
    graph Rows(n: usize, d: usize, i: usize, j: usize) {
        device w: [[u32; d]; n];
        memset row  = w[i] <- 1;
        memset cell = w[0][j] <- 2 after row;
    }

    /// Memory that others have, too.
    graph Shared(n: usize, d: usize, w: device [[f32; d]; n], log: mut host [[f32; d]; n]) {
        memcpy down = w -> log;
    }
}

#[test]
fn shared_memory_has_its_lengths() -> Result<()> {
    let device = device();
    let w = device.alloc_table([3, 4])?;
    w.copy_from(&numbers(12))?;
    let mut log = device.alloc_host_table([3, 4])?;
    log.view_mut()[[0, 0]] = 5.0;
    assert_eq!((log.view()[0][0], log.lengths()), (5.0, [3, 4]));
    let log: SharedHost<Table<f32>> = log.share();
    let mut graph = launched(Shared::build(&device, 3, 4, &w, &log))?;
    assert_eq!(log.read()?.view()[2], [8.0, 9.0, 10.0, 11.0]);
    assert_eq!(log.row(1)?.read()?[..], [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(log.rows(1..)?.read()?.view()[[1, 3]], 11.0);
    graph.log_mut()?.view_mut()[0][0] = 9.0;
    assert_eq!(graph.log()?.view()[[0, 0]], 9.0);
    assert_eq!(graph.w()?.lengths(), [3, 4]);

    // Parts of buffers are memory of their own; fixed lengths are lengths.
    let large: DeviceBuffer<Table<f32, 3>> = device.alloc_table([2, 3, 4])?;
    assert_eq!((large.lengths(), large.row(1)?.lengths()), ([2, 3, 4], [3, 4]));
    let wide: DeviceBuffer<Table<f32>> = device.alloc_table([4, 3])?;
    let fixed = device.alloc::<[[f32; 4]; 3]>()?;
    graph.rebind_w(&large.row(1)?)?;
    graph.rebind_w(&fixed)?;
    graph.rebind_w(device.alloc_slice::<[f32; 4]>(3)?)?;
    let text = "`w` has lengths 3 x 4, but the memory shared as `w` has 4 x 3";
    is_first(graph.rebind_w(&wide), Code::ShapeMismatch, text);
    is_first(Shared::build(&device, 3, 4, &wide, &log), Code::ShapeMismatch, text);
    let text = "has 2 x 4";
    is_first(graph.rebind_w(&large.row(0)?.rows(1..)?), Code::ShapeMismatch, text);
    assert!(Shared::build(&device, 3, 4, &fixed, &log).is_ok());
    let text = "`log` has lengths 4 x 3, but the memory shared as `log` has 3 x 4";
    is_first(Shared::build(&device, 4, 3, &wide, &log), Code::ShapeMismatch, text);
    Ok(())
}

cuda_graph! {
    /// Fixed lengths of the graph, run-time ones of what it is given.
    graph Exact(w: device [[f32; 4]; 3]) {
        host output: [[f32; 4]; 3];
        memcpy down = w -> output;
    }
}

#[test]
fn fixed_arguments_take_tables_of_their_lengths() -> Result<()> {
    let device = device();
    let mut graph = launched(Exact::build(&device, device.alloc_table([3, 4])?))?;
    let text = "`w` has lengths 3 x 4, but the memory shared as `w` has 4 x 3";
    let wide = device.alloc_table([4, 3])?;
    is_first(Exact::build(&device, &wide), Code::ShapeMismatch, text);
    is_first(graph.rebind_w(&wide), Code::ShapeMismatch, text);
    graph.launch()
}

cuda_graph! {
    graph Step(n: usize, d: usize) {
        device  data: [[f32; d]; n];
        scratch sums: [[f32; d]; n];
        param   rate: f32 = 1.0;

        for i in 0..n {
            kernel sum  = add<<<1, d as u32>>>(&data[i], &data[i], &mut sums[i], d as u32);
            kernel back = scale<<<1, d as u32>>>(&mut sums[i], rate, d as u32) after sum;
            memcpy copy = sums[i] -> data[i] after back;
        }
    }
    graph Twice(n: usize, d: usize, inner: usize) {
        device w:     [[[f32; d]; n]; 2];
        device fixed: [[f32; 3]; 2];
        param  rate:  f32 = 0.5;

        graph  first  = Step(data: &mut w[0], n: n, d: d, rate: rate);
        graph  second = Step(data: &mut w[1], n: n, d: d);
        graph  third  = Step(data: &mut fixed, n: 2, d: inner);
    }
}

#[test]
fn children_are_bound_to_parts_of_tables() -> Result<()> {
    let mut graph = Twice::build(&device(), 2, 3, 3)?;
    graph.w_mut()?.copy_from(&numbers(12))?;
    graph.fixed_mut()?.copy_from(&[[1.0; 3]; 2])?;
    graph.set_rate(2.0)?;
    graph.launch()?;
    let expected: Vec<f32> = (0..12).map(|n| n as f32 * if n < 6 { 4.0 } else { 2.0 }).collect();
    assert_eq!(graph.w()?.read_vec()?, expected);
    assert_eq!(*graph.fixed()?.read()?, [[2.0; 3]; 2]);
    let found = mistakes(Twice::build(&device(), 2, 3, 4));
    let is_told = |found: &Diagnostic| found.code == Code::ShapeMismatch && found.message.contains("has lengths 2 x 4");
    assert!(found.iter().any(is_told), "{found:?}");
    Ok(())
}

cuda_graph! {
    /// Two buffers of scratch that are never live at once, and one of three dimensions.
    graph Scratch(n: usize, d: usize) {
        host    input:  [[f32; d]; n];
        scratch a:      [[f32; d]; n];
        scratch b:      [[[f32; d]; n]; 2];
        device  copy:   [[f32; d]; n];
        scratch c:      [[f32; d]; n];
        host    output: [[f32; d]; n];

        memcpy up    = input -> a;
        memcpy over  = a -> b[1]                                    after up;
        memset clear = b[0] <- 0.0;
        memcpy keep  = b[0] -> copy                                 after clear;
        memcpy move_on = b[1] -> c                                  after over, clear;
        memcpy down  = c -> output                                  after move_on;
    }
}

#[test]
fn scratch_shares_an_arena_of_sizes_that_build_knows() -> Result<()> {
    let mut graph = Scratch::build(&device(), 8, 16)?;
    graph.input_mut()?.as_flattened_mut().copy_from_slice(&numbers(128));
    graph.launch()?;
    assert_eq!(graph.output()?.as_flattened(), numbers(128));
    let mut builder = GraphBuilder::new(&device(), "Arena");
    let mut a = builder.scratch_table::<f32, 2>("a", [8, 16]);
    let mut b = builder.scratch_table::<f32, 2>("b", [16, 8]);
    let first = builder.memset("first", &mut a, 0.0_f32);
    let second = builder.memset("second", &mut b, 0.0_f32);
    builder.after(second, &[first]);
    assert_eq!(builder.build()?.plan().arena(), 512);
    Ok(())
}

cuda_graph! {
    graph Called(n: usize, d: usize) {
        host input: [[u32; d]; n];
        host sums:  [u32; n];
        host cube:  [[[u32; 2]; d]; n];

        call sum = |&input, &mut sums| for (row, sum) in input.rows().zip(sums) {
            *sum = row.iter().sum();
        };
        call fill = |&mut cube| for (number, cell) in cube.as_flattened_mut().iter_mut().enumerate() {
            *cell = [number as u32; 2];
        };
    }
}

#[test]
fn host_functions_get_views() -> Result<()> {
    let mut graph = Called::build(&device(), 2, 3)?;
    let numbers = [1, 2, 3, 4, 5, 6];
    graph.input_mut()?.as_flattened_mut().copy_from_slice(&numbers);
    graph.launch()?;
    assert_eq!(graph.sums()?, [6, 15]);
    assert_eq!((graph.cube()?[1][2], graph.cube()?.lengths()), ([5, 5], [2, 3]));
    Ok(())
}

#[test]
fn expressions_have_tables() -> Result<()> {
    let device = device();
    let (n, d) = (3, 4);
    let moved = device.alloc_table::<f32, 2>([n, d])?;
    let mut graph = cuda_graph! { &device =>
        host   input:  [[f32; d]; n];
        device w:      [[f32; d]; n];
        host   output: [[f32; d]; n];
        param  factor: f32 = 2.0;

        memcpy up   = input -> w;
        kernel some = scale<<<1, d as u32>>>(&mut w[1], factor, d as u32) after up;
        memcpy keep = w -> moved after some;
        memset last = moved[2][1..3] <- factor after keep;
        memcpy down = moved -> output after last;
        call   nothing = |&input| assert_eq!(input.lengths(), [n, d]);
    }?;
    let mut memory = graph.memory_mut()?;
    memory.input.as_flattened_mut().copy_from_slice(&numbers(12));
    memory.output[0][0] = 1.0;
    graph.launch()?;
    let output: TableRef<'_, f32> = graph.output()?;
    assert_eq!(output[1], [8.0, 10.0, 12.0, 14.0]);
    assert_eq!(output[2], [8.0, 2.0, 2.0, 11.0]);
    assert_eq!(graph.w()?.row(0)?.read_vec()?, numbers(4));
    assert_eq!(graph.moved()?.lengths(), [3, 4]);
    graph.set_factor(3.0)?;
    graph.launch()?;
    assert_eq!(graph.output()?[2][1], 3.0);
    assert_eq!(graph.into_parts()?.moved.row(1)?.read_vec()?, [12.0, 15.0, 18.0, 21.0]);
    Ok(())
}

cuda_graph! {
    /// Four dimensions, constant lengths inside and between.
    graph Deep(a: usize, b: usize, c: usize) {
        device whole: [[[[u32; c]; 3]; b]; a];
        device outer: [[[u32; 5]; b]; a];
        device same:  [[[u32; c]; b]; a];
        device row:   [[u32; 5]; b];
        host   cells: [[u32; c]; 3];

        kernel fill  = number<<<1, (a * b * 3 * c) as u32>>>(&mut whole);
        memcpy cell  = whole[a - 1][b - 1] -> cells                 after fill;
        kernel flat  = number<<<1, (a * b * 5) as u32>>>(&mut outer);
        memcpy copy  = outer -> same                                after flat;
        memcpy one   = outer[1] -> row                              after flat;
        memcpy part  = outer[..][1..2] -> same[..][..1]             after copy;
    }
}

#[test]
fn four_dimensions_and_constant_lengths() -> Result<()> {
    let graph = launched(Deep::build(&device(), 2, 2, 5))?;
    assert_eq!(graph.whole()?.lengths(), [2, 2, 3, 5]);
    assert_eq!(graph.cells()?.as_flattened(), (45..60).collect::<Vec<u32>>());
    assert_eq!(graph.outer()?.row(1)?.read_vec()?, graph.row()?.read_vec()?);
    assert_eq!(graph.outer()?.read_vec()?[1], [5, 6, 7, 8, 9]);
    let same = graph.same()?.read_vec()?;
    assert_eq!(same[..5], [5, 6, 7, 8, 9]);
    assert_eq!(same[10..15], [15, 16, 17, 18, 19]);
    let found = mistakes(Deep::build(&device(), 2, 2, 4));
    found[0].says("copies 2 x 2 x 5 elements of `outer` to 2 x 2 x 4 of `same`");
    Ok(())
}

#[test]
fn builders_have_tables_also_without_elements() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Tables");
    let w = builder.device_table::<f32, 2>("w", [4, 8]);
    let out = builder.host_table::<f32, 3>("out", [2, 4, 8]);
    let expected = ([4, 8], [2, 8], [4, 8]);
    assert_eq!((w.lengths(), w.rows(1..3).lengths(), out.row(1).lengths()), expected);
    let upload = builder.memcpy("upload", &out.row(0), &mut w.whole());
    let scale = builder.kernel("scale", Launch::new(1, 8), scale::call(&mut w.row(2), 3.0, 8));
    let down = builder.memcpy("down", &w, &mut out.row(1));
    in_order(&mut builder, &[upload, scale, down]);
    let mut graph = builder.build()?;
    graph.host_table_mut(&out)?.as_flattened_mut()[..32].copy_from_slice(&numbers(32));
    graph.launch()?;
    let view = graph.host_table(&out)?;
    let row = view.row(1).unwrap();
    assert_eq!((row[[2, 1]], row[[3, 1]]), (51.0, 25.0));
    assert_eq!(view.rows().map(|table| table[[0, 1]]).collect::<Vec<f32>>(), [1.0, 1.0]);
    let mut split = graph.split_host()?;
    split.take_table(&out)?.row_mut(1).unwrap()[[0, 0]] = 4.0;
    assert!(matches!(split.take_table(&out), Err(Error::AlreadyTaken { .. })));

    let graph = launched(Copies::build(&device(), 3, 0, 3, 0))?;
    assert_eq!(graph.from()?.lengths(), [3, 0]);
    let mut builder = GraphBuilder::new(&device(), "Empty");
    let empty = builder.host_table::<u32, 2>("empty", [2, 0]);
    builder.call("none", (&mut empty.whole(),), |(mut empty,)| {
        assert_eq!(empty.rows_mut().count(), 2);
        assert_eq!(empty.view().rows().count(), 2);
    });
    let graph = launched(builder.build())?;
    assert_eq!(graph.host_table(&empty)?.row(1), Some(&[][..]));
    assert_eq!(graph.host_table(&empty)?.row(2), None);
    graph.synchronize()
}

/// A part of a table: ranges of rows, columns and layers.
#[derive(Debug)]
enum Part {
    Row(usize),
    Rows(usize, usize),
    Within(usize, usize, usize),
    Columns([usize; 2], [usize; 2]),
    Column(usize, usize, usize),
}

impl Part {
    fn random(random: &mut Random, [n, d, _]: [usize; 3]) -> Self {
        // One more than is right, and reversed, now and then.
        let mut range = |length: usize| {
            let mut bound = || random.below(length + 1) + usize::from(random.chance(5));
            let [start, end] = [bound(), bound()];
            if random.chance(10) {
                [start, end]
            } else {
                [start.min(end), start.max(end)]
            }
        };
        let (rows, columns) = (range(n), range(d));
        match random.below(5) {
            0 => Self::Row(rows[0]),
            1 => Self::Rows(rows[0], rows[1]),
            2 => Self::Within(rows[0], columns[0], columns[1]),
            3 => Self::Columns(rows, columns),
            _ => Self::Column(rows[0], rows[1], columns[0]),
        }
    }

    /// Its rows and columns, and whether they are there.
    fn ranges(&self, [_, d, _]: [usize; 3]) -> [[usize; 2]; 2] {
        match *self {
            Self::Row(row) => [[row, row + 1], [0, d]],
            Self::Rows(start, end) => [[start, end], [0, d]],
            Self::Within(row, start, end) => [[row, row + 1], [start, end]],
            Self::Columns(rows, columns) => [rows, columns],
            Self::Column(start, end, column) => [[start, end], [column, column + 1]],
        }
    }
}

#[test]
fn random_parts_are_the_elements_that_their_indices_name() -> Result<()> {
    // Kept: a device that nothing uses any more is given back, and costs a GPU 0.2 s to have again.
    let device = device();
    let mut refused = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let lengths @ [n, d, e] = [random.below(4), random.below(4), 1 + random.below(3)];
        let part = Part::random(&mut random, lengths);
        let what = format!("seed {seed}: {part:?} of {lengths:?}");
        let mut builder = GraphBuilder::new(&device, "Part");
        let table = builder.device_table::<u32, 3>("table", lengths);
        match part {
            Part::Row(row) => builder.memset("set", &mut table.row(row), 1_u32),
            Part::Rows(start, end) => builder.memset("set", &mut table.rows(start..end), 1_u32),
            Part::Within(row, start, end) => builder.memset("set", &mut table.row(row).rows(start..end), 1_u32),
            Part::Columns([top, bottom], [left, right]) => {
                builder.memset_2d("set", &mut table.rectangle_of(top..bottom, left..right), 1_u32)
            }
            Part::Column(start, end, column) => {
                builder.memset_2d("set", &mut table.column_rows(start..end, column), 1_u32)
            }
        };
        let [rows, columns] = part.ranges(lengths);
        let fits = |[start, end]: [usize; 2], length| start <= end && end <= length;
        let built = builder.build();
        if !(fits(rows, n) && fits(columns, d)) {
            let codes = codes(built);
            assert!(codes.contains(&Code::OutOfBounds), "{what}: {codes:?}");
            refused += 1;
            continue;
        }
        let mut graph = built?;
        graph.launch()?;
        let is_in = |[start, end]: [usize; 2], index| (start..end).contains(&index);
        let expected = (0..n * d * e).map(|index| {
            let (row, column) = (index / (d * e), index / e % d);
            u32::from(is_in(rows, row) && is_in(columns, column))
        });
        let wanted = expected.collect::<Vec<u32>>();
        assert_eq!(graph.device(&table)?.read_vec()?, wanted, "{what}");
    }
    assert!((50..300).contains(&refused), "{refused} of 400");
    Ok(())
}

#[test]
fn memory_of_every_shape_is_copied_flat() -> Result<()> {
    let device = device();
    let buffer = device.alloc::<[[u32; 3]; 2]>()?;
    buffer.copy_from_slice(&[1, 2, 3, 4, 5, 6])?;
    assert_eq!(*buffer.read()?, [[1, 2, 3], [4, 5, 6]]);
    assert_eq!(buffer.read_vec::<u32>()?, [1, 2, 3, 4, 5, 6]);
    assert_eq!(buffer.row(1)?.read_vec::<u32>()?, [4, 5, 6]);
    buffer.copy_from(&[[7; 3]; 2])?;
    let error = buffer.copy_from_slice(&[1_u32; 5]).unwrap_err();
    let is_length = matches!(
        error,
        Error::Length {
            expected: 24,
            given: 20,
            ..
        }
    );
    assert!(is_length, "{error}");

    let mut builder = GraphBuilder::new(&device, "Flat");
    let cube = builder.shared("cube", &buffer, true);
    let one = builder.device::<f32>("one");
    let mut graph = builder.build()?;
    assert_eq!(graph.device(&cube)?.read_vec::<u32>()?, [7; 6]);
    graph.device_mut(&cube)?.copy_from_slice(&[8; 6])?;
    graph.device_mut(&cube)?.row_mut(0)?.copy_from(&[9; 3])?;
    assert_eq!(*buffer.read()?, [[9; 3], [8; 3]]);
    graph.device_mut(&one)?.copy_from(&0.5)?;
    assert_eq!(graph.device(&one)?.read_vec::<f32>()?, [0.5]);
    Ok(())
}
