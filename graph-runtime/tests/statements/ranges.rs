//! Copies and memsets of ranges that params, or updates, choose.

use crate::common::*;

const N: usize = 64;

cuda_graph! {
    graph Prefix {
        host   input: [f32; N];
        device x: [f32; N];
        param  n: usize = N;

        memcpy up = input[..n] -> x[..n];
    }
}

fn prefix() -> Prefix {
    let mut graph = Prefix::build(&device()).unwrap();
    for (index, value) in graph.input_mut().unwrap().iter_mut().enumerate() {
        *value = index as f32 + 1.0;
    }
    graph
}

/// The number of elements that the next launch copies; `x` is zero before and after.
fn copied(graph: &mut Prefix) -> usize {
    graph.x_mut().unwrap().copy_from(&[0.0; N]).unwrap();
    graph.launch().unwrap();
    let x = graph.x().unwrap().read().unwrap();
    let count = x.iter().take_while(|&&value| value != 0.0).count();
    let expected = |index: usize| if index < count { index as f32 + 1.0 } else { 0.0 };
    assert_eq!(*x, std::array::from_fn(expected));
    count
}

#[test]
fn a_param_chooses_how_much_is_copied_within_the_memory() {
    let mut graph = prefix();
    assert_eq!(copied(&mut graph), N);
    for n in [3, 64, 0, 0, 1, 63] {
        graph.set_n(n).unwrap();
        assert_eq!(copied(&mut graph), n);
    }

    graph.set_n(5).unwrap();
    for n in [65, usize::MAX] {
        let error = graph.set_n(n).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        error.reads(&format!(
            "graph `Prefix` has 1 mistake\n\
                 node `up`: range 0..{n} is out of bounds of `input`, which has 64 elements [out-of-bounds]\n\
                 help: use a range within 0..64"
        ));
        assert_eq!((graph.n(), copied(&mut graph)), (5, 5));
    }

    graph.up().set_enabled(false).unwrap();
    assert_eq!(copied(&mut graph), 0);
    graph.set_n(7).unwrap();
    assert_eq!(copied(&mut graph), 0);
    graph.up().set_enabled(true).unwrap();
    assert_eq!(copied(&mut graph), 7);
    graph.set_n(0).unwrap();
    graph.up().set_enabled(false).unwrap();
    graph.up().set_enabled(true).unwrap();
    assert_eq!(copied(&mut graph), 0);
    graph.set_n(2).unwrap();
    assert_eq!(copied(&mut graph), 2);
}

cuda_graph! {
    /// Nothing at first, in every kind of statement.
    graph Windows(len: usize) {
        host   input: [[u16; 8]; len];
        device rows: [[u16; 8]; 4];
        device odd: [[u8; 3]; 8];
        device wide: [f64; 8];
        host   output: [[u16; 8]; 4];
        param  start: usize = 0;
        param  end: usize = 0;
        param  value: f64 = 1.0;

        memcpy up    = input[start..end] -> rows[start..end];
        memset three = odd[start..=end] <- 7;
        memset part  = wide[start * 2..end * 2] <- value;
        memcpy row   = rows[2][..end] -> output[0][..end]   after up;
        memcpy down  = rows -> output[..]                   after row;
        memset fixed = odd[6..] <- 1                        after three;
    }
}

#[test]
fn windows_move_in_every_kind_of_statement() {
    let mut graph = Windows::build(&device(), 4).unwrap();
    for (row, number) in graph.input_mut().unwrap().iter_mut().zip(1..) {
        *row = [number; 8];
    }
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap(), &[[0; 8]; 4]);
    assert_eq!(graph.odd().unwrap().read().unwrap()[..2], [[7; 3], [0; 3]]);
    assert_eq!(*graph.wide().unwrap().read().unwrap(), [0.0; 8]);
    graph.set_end(3).unwrap();
    graph.set_start(2).unwrap();
    graph.set_value(2.5).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap(), &[[0; 8], [0; 8], [3; 8], [0; 8]]);
    let expected = [7, 0, 7, 7, 0, 0, 1, 1].map(|value| [value; 3]);
    assert_eq!(graph.odd().unwrap().read().unwrap()[..], expected);
    let expected = [0.0, 0.0, 0.0, 0.0, 2.5, 2.5, 0.0, 0.0];
    assert_eq!(*graph.wide().unwrap().read().unwrap(), expected);
    refused(graph.set_start(4))
        .says("node `up`: range 4..3 is out of bounds of `input`, which has 4 elements [out-of-bounds]");
    graph.set_end(4).unwrap();
    let error = refused(graph.set_end(5));
    error.says("`up`: range 2..5 is out of bounds of `input`, which has 4 elements");
    assert_eq!((graph.start(), graph.end()), (2, 4));
}

#[test]
fn a_first_value_out_of_range_is_an_error_of_build() {
    Windows::build(&device(), 0).unwrap(); // nothing is copied
    cuda_graph! {
        graph TooLong(n: usize) {
            device x: [f32; 4];
            param m: usize = n;
            memset clear = x[..m] <- 1.0;
        }
    }
    let graph = launched(TooLong::build(&device(), 2)).unwrap();
    assert_eq!(*graph.x().unwrap().read().unwrap(), [1.0, 1.0, 0.0, 0.0]);
    refused(TooLong::build(&device(), 5)).reads(
        "graph `TooLong` has 1 mistake\n\
         node `clear`: range 0..5 is out of bounds of `x`, which has 4 elements [out-of-bounds]\n\
         help: use a range within 0..4",
    );
}

cuda_graph! {
    graph Unequal {
        device x: [f32; 8];
        device y: [f32; 8];
        param  n: usize = 4;
        memcpy same = x[..n] -> y[4..];
    }
}

#[test]
fn both_sides_change_alike() {
    let mut graph = launched(Unequal::build(&device())).unwrap();
    refused(graph.set_n(3)).reads(
        "graph `Unequal` has 1 mistake\n\
         node `same` copies 12 bytes of `x` to 16 bytes of `y` [shape-mismatch]\n\
         help: copy between places of one length",
    );
    assert_eq!(graph.n(), 4);
    graph.launch().unwrap();
    graph.synchronize().unwrap();
}

#[test]
fn rectangles_change_too() {
    let mut graph = cuda_graph! { &device() =>
        host   image: [[u32; 16]; 8];
        device data: [[u32; 16]; 8];
        device small: [[u8; 6]; 4];
        param  rows: usize = 0;
        param  columns: usize = 3;

        memcpy cut = image[1..1 + rows][..columns] -> data[..rows][2..2 + columns];
        memset set = small[..rows][columns..] <- 9;
    }
    .unwrap();
    for (index, value) in graph.image_mut().unwrap().as_flattened_mut().iter_mut().enumerate() {
        *value = index as u32;
    }
    for (rows, columns) in [(0, 3), (2, 3), (1, 5), (4, 6), (0, 0), (3, 0), (2, 6)] {
        graph.set_columns(columns).unwrap();
        graph.set_rows(rows).unwrap();
        graph.data_mut().unwrap().copy_from(&[[0; 16]; 8]).unwrap();
        graph.small_mut().unwrap().copy_from(&[[0; 6]; 4]).unwrap();
        graph.launch().unwrap();
        let expected = |row: usize, column: usize| {
            let inside = row < rows && (2..2 + columns).contains(&column);
            if inside {
                ((row + 1) * 16 + column - 2) as u32
            } else {
                0
            }
        };
        let expected: [[u32; 16]; 8] = std::array::from_fn(|row| std::array::from_fn(|column| expected(row, column)));
        let data = graph.data().unwrap().read().unwrap();
        assert_eq!(*data, expected, "{rows} rows of {columns}");
        let set: [[u8; 6]; 4] =
            std::array::from_fn(|row| std::array::from_fn(|column| 9 * u8::from(row < rows && column >= columns)));
        let small = graph.small().unwrap().read().unwrap();
        assert_eq!(*small, set, "{rows} rows from {columns}");
    }
    refused(graph.set_columns(7)).says("node `set`: range 7..6 is out of bounds of `small[_]`, which has 6 elements");
    refused(graph.set_rows(8)).says("node `cut`: range 1..9 is out of bounds of `image`, which has 8 elements");
    graph.launch().unwrap();
    assert_eq!(graph.data().unwrap().read().unwrap()[1][7], 37);
}

cuda_graph! {
    graph Inner {
        device data: [f32; N];
        param  count: usize = 4;
        memset set = data[..count] <- 1.0;
    }

    graph Outer {
        device a: [f32; N];
        device b: [[f32; N]; 3];
        device go: u32;
        param  n: usize = 2;

        graph  child = Inner(data: &mut a, count: n);
        memset on    = go <- 1;
        if choice = go {
            memcpy copy = a[..n] -> b[0][..n];
        } after child, on;
        for i in 1..3 {
            memcpy each = a[..n] -> b[i][n..2 * n] after choice;
        }
    }
}

#[test]
fn params_reach_children_bodies_and_loops() {
    let mut graph = Outer::build(&device()).unwrap();
    for n in [2, 5, 0, 32] {
        graph.a_mut().unwrap().copy_from(&[0.0; N]).unwrap();
        graph.b_mut().unwrap().copy_from(&[[0.0; N]; 3]).unwrap();
        graph.set_n(n).unwrap();
        graph.launch().unwrap();
        let row = |start: usize| std::array::from_fn(|index| f32::from(u8::from((start..start + n).contains(&index))));
        assert_eq!(*graph.a().unwrap().read().unwrap(), row(0));
        assert_eq!(*graph.b().unwrap().read().unwrap(), [row(0), row(n), row(n)]);
    }
    refused(graph.set_n(33)).says("node `each[1]`: range 33..66 is out of bounds of `b[_]`, which has 64 elements");
    refused(graph.set_n(65)).says("node `child.set`: range 0..65 is out of bounds of `data`");
}

#[test]
fn expressions_and_rebound_memory_have_them_too() -> Result<()> {
    let device = device();
    let shared = device.alloc::<[f32; 8]>()?;
    let mut graph = cuda_graph! { &device =>
        host  output: [f32; 8];
        param n: usize = 1;
        memset set = shared[n..] <- 2.0;
        memcpy down = shared[n..] -> output[..8 - n] after set;
    }?;
    graph.launch()?;
    assert_eq!(graph.output()?, &[2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0]);
    graph.set_n(8)?;
    graph.output_mut()?.fill(0.0);
    graph.launch()?;
    assert_eq!(graph.output()?, &[0.0; 8]);
    assert!(graph.set_n(9).is_err());

    // Memory that is rebound while there is nothing to copy is the memory that a later range is of.
    cuda_graph! {
        graph Rebound(x: mut device [f32; 8]) {
            host  input: [f32; 8];
            param n: usize = 0;
            memcpy up = input[..n] -> x[..n];
        }
    }
    let (first, second) = (device.alloc::<[f32; 8]>()?, device.alloc::<[f32; 8]>()?);
    let mut graph = Rebound::build(&device, &first)?;
    graph.input_mut()?.fill(3.0);
    graph.launch()?;
    graph.rebind_x(&second)?;
    drop(first);
    graph.launch()?;
    graph.set_n(2)?;
    graph.launch()?;
    assert_eq!(second.read()?[..3], [3.0, 3.0, 0.0]);
    graph.rebind_x(&device.alloc::<[f32; 8]>()?)?;
    graph.launch()?;
    assert_eq!(graph.x()?.read()?[..3], [3.0, 3.0, 0.0]);
    Ok(())
}

#[test]
fn updates_choose_within_what_the_builder_declared() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Within");
    let x = builder.device::<[f32; 16]>("x");
    let mut y = builder.device::<[f32; 16]>("y");
    let other = builder.device::<[f32; 16]>("other");
    let (low, high) = (x.rows(..8), x.rows(8..));
    let set = builder.memset_within("set", &mut x.rows(..2), 1.0_f32, &low);
    // Unordered: it chooses from other elements.
    builder.memset_within("beside", &mut x.rows(8..9), 2.0_f32, &high);
    let copy = builder.memcpy_within("copy", &x.rows(..2), &mut y.rows(..2), (&low, &y));
    let after = builder.kernel("scale", Launch::new(1, 16), scale::call(&mut y, 3.0, 16));
    in_order(&mut builder, &[set, copy, after]);
    let mut graph = builder.build()?;
    graph.update("n", |update| {
        update.memset(set, &x.rows(1..5), 4.0_f32)?;
        update.memcpy(copy, &x.rows(..5), &mut y.rows(11..))
    })?;
    graph.launch()?;
    assert_eq!(graph.device(&y)?.read()?[11..], [0.0, 12.0, 12.0, 12.0, 12.0]);
    let outside = graph.update("n", |update| update.memset(set, &x.rows(7..9), 4.0_f32));
    refused(outside).says("node `set` uses a part of `x` outside the memory that updates choose from [out-of-bounds]");
    let elsewhere = graph.update("n", |update| update.memcpy(copy, &other.rows(..1), &mut y.rows(..1)));
    refused(elsewhere).says("uses a part of `other` outside");
    let long = graph.update("n", |update| update.memcpy(copy, &low, &mut y.rows(..17)));
    refused(long).says("node `copy` uses an index or range outside `y` [out-of-bounds]");
    refused(graph.update("n", |update| update.memcpy(copy, &x.rows(..3), &mut y.rows(..2)))).says("[shape-mismatch]");
    let matrix = update_of_a_row(&device())?;
    assert!(matrix.contains("takes rows that lie apart"), "{matrix}");
    let no_copy = graph.update("n", |update| update.memcpy(set, &x.rows(..3), &mut y.rows(..3)));
    refused(no_copy).says("the node copies no memory");
    Ok(())
}

/// The error of an update that sets columns of several rows by a node that was declared for memory in one piece.
fn update_of_a_row(device: &Device) -> Result<String> {
    let mut builder = GraphBuilder::new(device, "Rows");
    let matrix = builder.device::<[[f32; 4]; 4]>("matrix");
    let set = builder.memset_within("set", &mut matrix.row(0), 1.0_f32, &matrix);
    let mut graph = builder.build()?;
    graph.update("rows", |update| {
        update.memset_2d(set, &matrix.rectangle::<2, 4>(1, 0), 2.0_f32)
    })?;
    let error = graph.update("columns", |update| {
        update.memset_2d(set, &matrix.rectangle::<2, 2>(1, 0), 2.0_f32)
    });
    graph.launch()?;
    let expected = [[0.0; 4], [2.0; 4], [2.0; 4], [0.0; 4]];
    assert_eq!(*graph.device(&matrix)?.read()?, expected);
    Ok(error.unwrap_err().to_string())
}

cuda_graph! {
    /// Lengths that only build knows, in every dimension.
    graph Tables(n: usize, d: usize) {
        host   input: [[u32; d]; n];
        device data: [[u32; d]; n];
        param  rows: usize = 1;
        param  columns: usize = 2;

        memcpy up  = input[..rows] -> data[..rows];
        memset set = data[1][..columns] <- 7          after up;
        memset one = data[..rows][columns..] <- 5     after set;
    }
}

#[test]
fn rows_of_lengths_that_build_knows_are_chosen() -> Result<()> {
    let mut graph = Tables::build(&device(), 3, 4)?;
    graph.input_mut()?.as_flattened_mut().fill(1);
    graph.launch()?;
    assert_eq!(graph.data()?.read_vec()?, [1, 1, 5, 5, 7, 7, 0, 0, 0, 0, 0, 0]);
    graph.set_rows(3)?;
    graph.set_columns(4)?;
    graph.launch()?;
    assert_eq!(graph.data()?.read_vec()?, [1, 1, 1, 1, 7, 7, 7, 7, 1, 1, 1, 1]);
    refused(graph.set_rows(4)).says("node `up`: range 0..4 is out of bounds of `input`, which has 3 elements");
    refused(graph.set_columns(5)).says("node `set`: range 0..5 is out of bounds of `data[_]`, which has 4 elements");
    Ok(())
}

#[test]
fn what_is_chosen_is_analysed_as_all_of_it() {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Race");
    let (x, y) = (builder.device::<[f32; 8]>("x"), builder.device::<[f32; 8]>("y"));
    builder.memcpy_within("copy", &x.rows(..2), &mut y.rows(..2), (&x, &y.whole()));
    builder.memset("set", &mut y.rows(6..), 1.0_f32);
    refused(builder.build()).says("nodes `copy` and `set` can run at the same time and both access `y` [race]");

    let mut builder = GraphBuilder::new(&device, "Scratch");
    let (x, s) = (builder.device::<[f32; 8]>("x"), builder.scratch::<[f32; 8]>("s"));
    let set = builder.memset_within("set", &mut s.whole(), 1.0_f32, &s);
    let copy = builder.memcpy("copy", &s, &mut x.whole());
    builder.after(copy, &[set]);
    refused(builder.build()).says(
        "node `copy` reads `s`, which no node before it has written [uninitialized]\n\
         note: `set` writes a part of `s` that updates choose, perhaps nothing",
    );

    let mut builder = GraphBuilder::new(&device, "Beyond");
    let (x, y) = (builder.device::<[f32; 8]>("x"), builder.device::<[f32; 8]>("y"));
    builder.memcpy_within("copy", &x.rows(..5), &mut y.rows(..5), (&x.rows(..4), &y));
    refused(builder.build()).says("node `copy` uses a part of `x` outside the memory that updates choose from");
}
