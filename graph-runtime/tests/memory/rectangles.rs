//! Copies and memsets of two dimensions: in every direction, of constant and other ranges, and next to each other.

use crate::common::*;
use graph_runtime::private::plan::Code;

/// `[[0, 1, ..], [8, 9, ..], ..]`
fn numbers<const R: usize, const C: usize>() -> [[u32; C]; R] {
    std::array::from_fn(|row| std::array::from_fn(|column| (row * C + column) as u32))
}

/// The elements of a rectangle.
fn cut<const R: usize, const C: usize, const W: usize, const H: usize>(
    from: &[[u32; W]; H],
    row: usize,
    column: usize,
) -> [[u32; C]; R] {
    std::array::from_fn(|r| std::array::from_fn(|c| from[row + r][column + c]))
}

const MID: usize = 3;

cuda_graph! {
    /// Corners go around: host, device, device, host, host.
    graph Corners<const N: usize>(top: usize) {
        host   input:  [[u32; 8]; 8];
        device big:    [[u32; 12]; 10];
        device small:  [[u32; 4]; 3];
        device column: [u32; 10];
        device cells:  [u32; 8];
        host   output: [[u32; 6]; 5];
        host   copy:   [[u32; 2]; 2];
        device wide:   [[u32; N]; 4];

        memcpy up     = input[2..5][1..5] -> big[4..7][MID..MID + 4];
        memcpy across = big[4..7][3..7] -> small                          after up;
        memcpy down   = small[1..][..2] -> output[top..top + 2][4..]      after across;
        memcpy between = output[2..4][4..6] -> copy                       after down;
        memcpy tall   = big[..][5] -> column                              after up;
        memcpy one    = input[7][..] -> cells;
        memcpy cell   = input[0][1..3] -> cells[2..4]                     after one;
        memcpy last   = input[6][7] -> cells[7]                           after cell;
        memcpy some   = input[..4][..N] -> wide;
    }
}

#[test]
fn corners_are_copied_in_every_direction() -> Result<()> {
    let mut graph = Corners::<3>::build(&device(), 2)?;
    let input = numbers::<8, 8>();
    *graph.input_mut()? = input;
    graph.launch()?;
    let small: [[u32; 4]; 3] = cut(&input, 2, 1);
    assert_eq!(*graph.small()?.read()?, small);
    let mut big = [[0; 12]; 10];
    (0..3).for_each(|row| big[4 + row][3..7].copy_from_slice(&small[row]));
    assert_eq!(*graph.big()?.read()?, big);
    let mut output = [[0; 6]; 5];
    (0..2).for_each(|row| output[2 + row][4..].copy_from_slice(&small[1 + row][..2]));
    assert_eq!(graph.output()?, &output);
    assert_eq!(graph.copy()?, &cut(&output, 2, 4));
    assert_eq!(*graph.column()?.read()?, big.map(|row| row[5]));
    assert_eq!(*graph.cells()?.read()?, [56, 57, 1, 2, 60, 61, 62, 55]);
    assert_eq!(*graph.wide()?.read()?, cut(&input, 0, 0));

    assert_eq!(codes(Corners::<3>::build(&device(), 4))[0], Code::OutOfBounds);
    Ok(())
}

cuda_graph! {
    /// Values of every size, in rows that lie apart.
    graph Sets {
        param  word: u32 = 0;
        param  long: [u64; 2] = [0; 2];
        device bytes: [[u8; 7]; 5];
        device pairs: [[u16; 5]; 6];
        device words: [[u32; 8]; 8];
        device longs: [[u64; 3]; 4];
        device both:  [[[u64; 2]; 3]; 3];
        device odd:   [[[u8; 3]; 4]; 4];

        memset a = bytes[1..4][2..5] <- 9;
        memset b = pairs[..][4]      <- 0x102;
        memset c = words[2..][6..]   <- word;
        memset d = longs[1..3][1..]  <- 1 << 40;
        memset e = both[..2][1..3]   <- long[0];
        memset f = words[0][1..4]    <- 7;
        memset g = longs[..][0]      <- 0;
        memset h = odd[1..3][1..3]   <- 5;
        memset i = words[1..2][..3]  <- 8 after f;
    }
}

#[test]
fn values_of_every_size_are_set() -> Result<()> {
    let mut graph = Sets::build(&device())?;
    for long in [1_u64 << 33, 3] {
        graph.set_word(77)?;
        graph.set_long([long, 0])?;
        graph.launch()?;
        let set = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
            move |row: usize, column: usize| rows.contains(&row) && columns.contains(&column)
        };
        let bytes = set(1..4, 2..5);
        let expected = |row| std::array::from_fn(|column| 9 * u8::from(bytes(row, column)));
        assert_eq!(*graph.bytes()?.read()?, std::array::from_fn::<[u8; 7], 5, _>(expected));
        let pairs = graph.pairs()?.read()?;
        assert!(pairs.iter().all(|row| *row == [0, 0, 0, 0, 0x102]));
        let words = graph.words()?.read()?;
        let expected = ([0, 7, 7, 7, 0, 0, 0, 0], [8, 8, 8, 0, 0, 0, 0, 0]);
        assert_eq!((words[0], words[1]), expected);
        assert!(words[2..].iter().all(|row| *row == [0, 0, 0, 0, 0, 0, 77, 77]));
        let expected = [[0; 3], [0, 1 << 40, 1 << 40], [0, 1 << 40, 1 << 40], [0; 3]];
        assert_eq!(*graph.longs()?.read()?, expected);
        let both = graph.both()?.read()?;
        assert_eq!((both[0], both[2]), ([[0; 2], [long; 2], [long; 2]], [[0; 2]; 3]));
        let odd = graph.odd()?.read()?;
        assert_eq!((odd[0], odd[2]), ([[0; 3]; 4], [[0; 3], [5; 3], [5; 3], [0; 3]]));
    }
    Ok(())
}

#[test]
fn columns_are_written_at_once_or_one_after_the_other() -> Result<()> {
    // Nothing orders the nodes: what they touch lies apart.
    let mut graph = cuda_graph! { &device() =>
        host   left:  [[u32; 4]; 64];
        host   right: [[u32; 4]; 64];
        device data:  [[u32; 12]; 64];
        memcpy a = left -> data[..][..4];
        memcpy b = right -> data[..][8..];
        memset c = data[..32][4..8] <- 5;
        memset d = data[32..][4..8] <- 6;
    }?;
    *graph.left_mut()? = numbers();
    *graph.right_mut()? = [[9; 4]; 64];
    graph.launch()?;
    let data = graph.data()?.read()?;
    assert_eq!((cut(&data, 0, 0), cut(&data, 0, 8)), (numbers::<64, 4>(), [[9; 4]; 64]));
    let expected = (vec![5; 4], vec![6; 4]);
    assert_eq!((data[31][4..8].to_vec(), data[32][4..8].to_vec()), expected);

    let mut graph = Loops::build(&device())?;
    *graph.input_mut()? = numbers();
    graph.launch()?;
    let data = graph.data()?.read()?;
    assert_eq!(data[3], [0, 18, 19, 20, 21, 22, 23, 0]);
    assert_eq!(data[2], [0, 12, 13, 14, 15, 0, 1, 2]);
    Ok(())
}

cuda_graph! {
    /// One column for each iteration; a kernel gets part of a row.
    graph Loops {
        host   input: [[u32; 6]; 4];
        device data:  [[u32; 8]; 4];

        for i in 0..6 {
            memcpy put = input[..][i] -> data[..][i + 1];
        }
        kernel fill = number<<<1, 3>>>(&mut data[2][5..8]) after put;
    }
}

#[test]
fn disabled_copies_of_columns_copy_nothing() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Disabled");
    let from = builder.host::<[[u32; 4]; 4]>("from");
    let to = builder.device::<[[u32; 4]; 4]>("to");
    let copy = builder.memcpy_2d("copy", &from.rectangle::<2, 2>(1, 1), &mut to.rectangle::<2, 2>(0, 2));
    let set = builder.memset_2d("set", &mut to.column::<2>(2, 0), 3_u32);
    builder.disable(copy);
    let mut graph = builder.build()?;
    *graph.host_mut(&from)? = [[7; 4]; 4];
    graph.launch()?;
    let expected = [[0; 4], [0; 4], [3, 0, 0, 0], [3, 0, 0, 0]];
    assert_eq!(*graph.device(&to)?.read()?, expected);
    graph.node(copy).set_enabled(true)?;
    graph.node(set).set_enabled(false)?;
    graph.device_mut(&to)?.copy_from(&[[0; 4]; 4])?;
    graph.launch()?;
    let expected = [[0, 0, 7, 7], [0, 0, 7, 7], [0; 4], [0; 4]];
    assert_eq!(*graph.device(&to)?.read()?, expected);
    Ok(())
}

#[test]
fn what_overlaps_or_does_not_match_is_a_mistake() {
    let found = |add: fn(&mut GraphBuilder, Place<[[u32; 8]; 8], OnDevice>)| {
        let mut builder = GraphBuilder::new(&Device::emulator(), "Wrong");
        let data = builder.device("data");
        add(&mut builder, data);
        codes(builder.build())
    };
    let codes = found(|builder, data| {
        builder.memset_2d("a", &mut data.rectangle::<4, 4>(0, 0), 1_u32);
        builder.memset_2d("b", &mut data.rectangle::<4, 4>(3, 3), 2_u32);
    });
    assert_eq!(codes, [Code::Race]);
    let codes = found(|builder, data| {
        builder.memset_2d("a", &mut data.column::<8>(0, 7), 1_u32);
        builder.kernel("b", Launch::new(1, 8), number::call(&mut data.row(2)));
    });
    assert_eq!(codes, [Code::Race]);
    let codes = found(|builder, data| {
        builder.memcpy_2d("a", &data.rectangle::<4, 4>(0, 0), &mut data.rectangle::<4, 4>(0, 3));
    });
    assert_eq!(codes, [Code::AliasedArgument]);
    let codes = found(|builder, data| {
        let other = builder.device::<[[u32; 8]; 8]>("other");
        let mut to = other.rectangle_of(..3, ..5);
        builder.memcpy_2d("rows", &data.rectangle_of(..2, ..5), &mut to);
        let mut to = other.rectangle::<3, 5>(3, 0);
        builder.memcpy_2d("bounds", &data.rectangle::<3, 5>(6, 0), &mut to);
    });
    assert_eq!(codes, [Code::ShapeMismatch, Code::OutOfBounds]);

    let mut builder = GraphBuilder::new(&Device::emulator(), "Widths");
    let from = builder.host::<[[u32; 8]; 8]>("from");
    let to = builder.device::<[[u32; 4]; 3]>("to");
    builder.memcpy_2d("copy", &from.rectangle_of(..4, ..3), &mut (&to).into());
    let diagnostics = mistakes(builder.build());
    let expected = "node `copy` copies 4 rows of 12 bytes of `from` to 3 rows of 16 bytes of `to`";
    assert_eq!(diagnostics[0].message, expected);
}

#[test]
fn shared_memory_of_columns_can_be_rebound() -> Result<()> {
    let device = device();
    let (data, other) = (device.alloc::<[[u32; 4]; 4]>()?, device.alloc::<[[u32; 4]; 4]>()?);
    let mut builder = GraphBuilder::new(&device, "Rebind");
    let place = builder.shared("data", &data, true);
    let corner = builder.host::<[[u32; 2]; 2]>("corner");
    builder.memcpy_2d("copy", &(&corner).into(), &mut place.rectangle::<2, 2>(0, 0));
    let mut graph = builder.build()?;
    *graph.host_mut(&corner)? = [[7; 2]; 2];
    graph.launch()?;
    graph.rebind(&place, &other)?;
    *graph.host_mut(&corner)? = [[8; 2]; 2];
    graph.launch()?;
    assert_eq!((data.read()?[1], other.read()?[1]), ([7, 7, 0, 0], [8, 8, 0, 0]));
    data.copy_from(&[[0; 4]; 4])?;
    other.copy_from(&[[0; 4]; 4])?;
    // A memset of columns, and what is in one piece, CUDA changes in place.
    let mut builder = GraphBuilder::new(&device, "Rebind");
    let place = builder.shared("data", &data, true);
    let set = builder.memset_2d("set", &mut place.column::<4>(0, 1), 4_u32);
    let (from, mut to) = (place.rectangle::<1, 2>(0, 0), place.rectangle::<1, 2>(3, 2));
    let copy = builder.memcpy_2d("copy", &from, &mut to);
    builder.after(copy, &[set]);
    let mut graph = builder.build()?;
    graph.rebind(&place, &other)?;
    graph.launch()?;
    assert_eq!(*other.read()?, [[0, 4, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0], [0, 4, 0, 4]]);
    assert_eq!(*data.read()?, [[0; 4]; 4]);
    Ok(())
}
