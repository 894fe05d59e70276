//! `kernels/control.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/control.ptx")]
unsafe extern "C" {
    fn recursive(out: &mut [u32]);
    fn function_table(which: &[i32], a: &[f32], b: &[f32], out: &mut [f32]);
    fn virtual_calls(sizes: &[f32], areas: &mut [f32]);
    fn interpreter(programs: &[u8], inputs: &[i32], out: &mut [i32], length: i32);
    fn branch_table(input: &[u32], out: &mut [u32]);
    fn spin_lock(counter: &mut [i32], order: &mut [i32]);
    fn relay(out: &mut [i32]);
    fn warp_specialised(input: &[i32], out: &mut [i32], rounds: i32);
    fn barrier_votes(input: &[i32], out: &mut [i32]);
    fn divergence(input: &[u32], out: &mut [u32]);
}

#[test]
fn recursive() {
    let ackermann = |i: u32| [i / 3 + 1, i / 3 + 2, 2 * (i / 3) + 3][i as usize % 3];
    let queens = |i: usize| [1, 0, 0, 2, 10, 4][i % 6];
    let expected = (0..32).map(ackermann).chain((0..32).map(queens)).collect();
    trial!(recursive<<<1, 32>>>(=> out: expect(expected, Bound::Bits)));
}

#[test]
fn function_table() {
    let (a, b) = (floats(101, 128, -2.0, 2.0), floats(102, 128, -2.0, 2.0));
    let which = many(103, 128, |random| random.u32_below(4) as i32);
    let call = |i: usize| match which[i] {
        0 => a[i] + b[i],
        1 => a[i] - b[i],
        2 => a[i].max(b[i]),
        _ => (0..4).fold(0f32, |sum, k| sum.mul_add(a[i], b[i] + k as f32)),
    };
    let expected = (0..128).map(call).collect();
    trial!(function_table<<<2, 64>>>(which: which, a: a, b: b => out: expect(expected, Bound::Bits)));
}

#[test]
fn virtual_calls() {
    let sizes = floats(104, 48, 0.5, 3.0);
    let area = |(i, size): (usize, &f32)| {
        if i % 3 == 0 {
            size * size
        } else {
            std::f32::consts::PI * size * size
        }
    };
    let expected = sizes.iter().enumerate().map(area).collect();
    trial!(virtual_calls<<<1, 48>>>(sizes: sizes => areas: expect(expected, Bound::Bits)));
}

#[test]
fn interpreter() {
    let programs = [
        [0, 2, 4, 6, 1, 9, 5, 3, 0, 200, 1, 8, 0, 7, 1, 9],
        [3, 250, 0, 5, 7, 1, 6, 2, 11, 12, 0, 0, 1, 2, 4, 8],
        [6, 0, 0, 4, 2, 7, 10, 77, 0, 8, 2, 5, 3, 1, 99, 1],
        [0, 0, 0, 2, 2, 1, 3, 5, 0, 5, 9, 1, 7, 8, 4, 6],
    ];
    let mut inputs = many(105, 96, |random| random.u32() as i32);
    inputs[..3].copy_from_slice(&[0, i32::MIN, -1]);
    trial!(interpreter<<<3, 32>>>(
        programs: programs.concat().into_iter().map(|code: i32| code as u8).collect(), inputs: inputs
        => out: output::<i32>(96, Bound::Bits); 16
    ));
}

#[test]
fn branch_table() {
    let input = many(109, 64, |random| random.u32());
    let run = |&input: &u32| {
        let (mut x, mut r) = (input, 0u32);
        for _ in 0..3 {
            r = match x & 3 {
                1 => r.wrapping_mul(7).wrapping_add(x) ^ 0x55,
                2 => r ^ 0x55,
                _ => r.wrapping_add(1),
            };
            x = x >> 2 ^ r;
        }
        r
    };
    let expected = input.iter().map(run).collect();
    trial!(branch_table<<<1, 64>>>(input: input => out: expect(expected, Bound::Bits)));
}

trials! {
    spin_lock<<<2, 64>>>(=> counter: expect(vec![128], Bound::Bits), order: expect(vec![32; 4], Bound::Bits));
    divergence<<<2, 96>>>(
        input: many(108, 192, |random| random.u32_below(100_000)) => out: output::<u32>(192, Bound::Bits)
    );
}

#[test]
fn relay() {
    let mut expected = vec![0i32; 32];
    let mut value = 7i32;
    for lane in (0..32).rev() {
        value = value.wrapping_mul(3).wrapping_add(lane as i32);
        expected[lane] = value;
    }
    trial!(relay<<<1, 32>>>(=> out: expect(expected, Bound::Bits)));
}

#[test]
fn warp_specialised() {
    let rounds = 7;
    let input = many(106, 64 * rounds, |random| random.u32_below(1000) as i32);
    let sum = |i: usize| {
        (0..=i / 64)
            .map(|round| 2 * input[round * 64 + 63 - i % 64])
            .sum::<i32>()
    };
    let expected = (0..64 * rounds).map(sum).collect();
    trial!(warp_specialised<<<1, 128>>>(input: input => out: expect(expected, Bound::Bits); rounds as i32));
}

#[test]
fn barrier_votes() {
    let input = many(107, 128, |random| random.u32_below(120) as i32 - 10);
    let count = |values: &[i32], holds: fn(i32) -> bool| values.iter().filter(|&&value| holds(value)).count() as i32;
    let odd = count(&input[..96], |value| value & 1 == 1);
    let all = i32::from(count(&input[..96], |value| value > 0) == 96);
    let any = i32::from(count(&input[..96], |value| value < 0) > 0);
    let large = count(&input[..64], |value| value > 100) > 0;
    let negative = count(&input[..64], |value| value < 0);
    let out = |i: usize| match i {
        0..64 => (odd * 1000 + negative) * 8 + all * 4 + any * 2 + i32::from(large),
        64..96 => odd * 8 + all * 4 + any * 2,
        _ => 0,
    };
    let expected = (0..128).map(out).collect();
    trial!(barrier_votes<<<1, 128>>>(input: input => out: expect(expected, Bound::Bits)));
}
