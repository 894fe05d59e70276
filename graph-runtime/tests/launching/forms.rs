//! `kernels/forms.ptx`: forms of PTX that people write and compilers do not, on the emulator and on the GPU.

use crate::common::*;

#[cuda_kernels("tests/kernels/forms.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    #[requires(threads * 8 <= out.len())]
    safe fn declarations(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn constant_predicates(out: &mut [u32]);
    /// Reads through a pointer that a variable holds.
    #[requires(threads * 8 <= out.len())]
    fn variables(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn dynamic_shared(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn policies(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn vectors(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn copies(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn transposed(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn products(out: &mut [u32]);
    #[requires(threads * 8 <= out.len())]
    safe fn carries(out: &mut [u32]);
}

/// The words that each thread of a warp wrote.
fn run(shared: u32, call: impl FnOnce(&mut Place<[u32], OnDevice>) -> KernelCall<1>) -> Vec<[u32; 8]> {
    let mut builder = GraphBuilder::new(&device(), "Forms");
    let mut out = builder.device_slice::<u32>("out", 32 * 8);
    let call = call(&mut out);
    let clear = builder.memset("clear", &mut out, 0_u32);
    let node = builder.kernel("form", Launch::new(1, 32).shared(shared), call);
    builder.after(node, &[clear]);
    let mut graph = builder.build().unwrap_or_else(|error| panic!("{error}"));
    graph.launch().unwrap_or_else(|error| panic!("{error}"));
    graph.synchronize().unwrap_or_else(|error| panic!("{error}"));
    let words = graph.device(&out).and_then(|memory| memory.read_vec());
    let words = words.unwrap_or_else(|error| panic!("{error}"));
    words.as_chunks::<8>().0.to_vec()
}

/// The words that every thread must write, by its lane.
fn by_lane(words: impl Fn(u32) -> [u32; 8]) -> Vec<[u32; 8]> {
    (0..32).map(words).collect()
}

#[test]
fn forms_that_compilers_do_not_write() {
    // Functions are declared without a semicolon.
    let expected = by_lane(|lane| [lane + 1, 3 * (lane + 1), 0, 0, 0, 0, 0, 0]);
    assert_eq!(run(0, declarations::call), expected);
    // Literals are predicates.
    let expected = by_lane(|lane| {
        let low = if lane < 16 { 1 } else { 2 };
        let parity = u32::from(lane % 2 == 0 || lane % 2 == 1);
        [lane, 77, 1, u32::MAX, 32, 0, low, parity]
    });
    assert_eq!(run(0, constant_predicates::call), expected);
    // Functions have variables in global and constant memory.
    let expected = by_lane(|_| [3, 20, 4, 5, 6, 7, 0, 0]);
    // SAFETY: the pointer that the kernel reads through is to a variable of its module.
    assert_eq!(run(0, |out| unsafe { variables::call(out) }), expected);
    // Dynamic shared memory has an address.
    let expected = by_lane(|_| [1, 2, 3, 0, 0, 0, 0, 0]);
    assert_eq!(run(128, dynamic_shared::call), expected);
    // Cache policies and discards change no result.
    let expected = by_lane(|lane| [lane, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(run(0, policies::call), expected);
}

#[test]
fn vectors_are_moved_and_passed_whole() {
    let expected = by_lane(|lane| {
        // After the second move: the halves are 1, 0, 3, 2 more than the lane.
        let (x, y, z, w) = (lane + 1, lane, lane + 3, lane + 2);
        let (low, high) = (x | y << 16, (z | w << 16) + 256);
        [0, lane, 9, 0, low, high, low.rotate_left(16), 5]
    });
    assert_eq!(run(0, vectors::call), expected);
}

#[test]
fn asynchronous_copies_of_all_forms() {
    const TO: [u32; 16] = [1, 2, 3, 0, 1, 2, 3, 4, 3, 4, 3, 0, 0, 0, 1, 2];
    let expected = by_lane(|lane| {
        let word = |index: u32| TO[(index + lane % 4) as usize];
        [word(0), word(4), word(8), word(12), 0, 0, 0, 0]
    });
    assert_eq!(run(0, copies::call), expected);
}

#[test]
fn matrices_are_loaded_transposed() {
    let expected = by_lane(|lane| {
        // Of a tile, a lane gets the elements in the column of its number / 4, in two rows.
        let (row, column) = (2 * (lane % 4), lane / 4);
        let element = |tile: u32, row: u32| 64 * tile + 8 * row + column;
        let pair = |tile: u32| element(tile, 0) | element(tile, 0) << 16;
        let [first, second, third, fourth] =
            [(0, 0), (0, 1), (3, 0), (3, 1)].map(|(tile, more)| element(tile, row + more));
        [first, second, third, fourth, pair(0), pair(2), 0, 0]
    });
    assert_eq!(run(0, transposed::call), expected);
}

#[test]
fn products_of_bytes() {
    let register = |lane: u32, factor: u32, base: u32| lane.wrapping_mul(factor).wrapping_add(base);
    // The byte of a lane's registers that is an element of `a` (row, column) or of `b` (row, column).
    let a = |row: u32, column: u32| {
        let (lane, which) = (row % 8 * 4 + column % 16 / 4, row / 8 + 2 * (column / 16));
        let factors = [0x0103_0507, 0x0b0d_1113, 0x1517_191b, 0x1d1f_2123];
        let bases = [0x80ff_017f, 0x7f80_ff01, 0x017f_80ff, 0xff01_7f80];
        register(lane, factors[which as usize], bases[which as usize]) >> (column % 4 * 8)
    };
    let b = |row: u32, column: u32| {
        let (lane, which) = (column * 4 + row % 16 / 4, row / 16);
        let (factors, bases) = ([0x2527_2923, 0x2d2f_3133], [0x12f4_567a, 0x9abc_3ef0]);
        register(lane, factors[which as usize], bases[which as usize]) >> (row % 4 * 8)
    };
    let signed = |byte: u32| i64::from(byte as u8 as i8);
    let unsigned = |byte: u32| i64::from(byte as u8);
    let expected = by_lane(|lane| {
        std::array::from_fn(|index| {
            let index = index as u32;
            let (row, column) = (lane / 4 + index % 4 / 2 * 8, lane % 4 * 2 + index % 2);
            let sum = |element: &dyn Fn(u32) -> i64| -> i64 {
                (0..32).map(|k| element(a(row, k)) * signed(b(k, column))).sum()
            };
            match index {
                0 => sum(&signed) + i64::from(lane),
                1..4 => sum(&signed) + i64::from(index),
                _ => {
                    let start = [i32::MAX, i32::MIN, 0, 0][index as usize % 4];
                    (sum(&unsigned) + i64::from(start)).clamp(i32::MIN.into(), i32::MAX.into())
                }
            }
            .cast_unsigned() as u32
        })
    });
    assert_eq!(run(0, products::call), expected);
}

/// The flag after a subtraction is the absence of a borrow, whatever instruction reads it.
#[test]
fn carry_chains_of_several_kinds() {
    let expected = by_lane(|lane| match lane % 2 {
        // x + y below: sums that do not carry, differences that do not borrow.
        0 => [1, 1, 1, 0, u32::MAX, u32::MAX - 1, 0, 5],
        _ => [0, 4, 0, 1, 0, u32::MAX, 0, 4],
    });
    assert_eq!(run(0, carries::call), expected);
}
