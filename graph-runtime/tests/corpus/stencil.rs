//! `kernels/stencil.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/stencil.ptx")]
unsafe extern "C" {
    fn stencil_1d(input: &[i32], out: &mut [i32], n: i32);
    fn heat(input: &[f32], out: &mut [f32], width: i32, height: i32);
    fn life(input: &[u32], out: &mut [u32], words: i32, rows: i32);
}

#[test]
fn stencil_1d() {
    let n = 500i32;
    let input = many(61, n as usize, |random| random.u32_below(1000) as i32);
    let at = |i: i32| if (0..n).contains(&i) { input[i as usize] } else { 0 };
    let expected = (0..n)
        .map(|i| {
            (-3..=3i32)
                .map(|offset| at(i + offset) * (4 - offset.abs()))
                .sum::<i32>()
        })
        .collect();
    trial!(stencil_1d<<<4, 128>>>(input: input => out: expect(expected, Bound::Bits); n));
}

#[test]
fn heat() {
    let (width, height) = (40, 25);
    let mut trial = Trial::new("heat");
    let mut a = trial.changed("a", floats(62, width * height, 0.0, 100.0), Bound::Bits);
    let mut b = trial.output::<f32>("b", width * height, Bound::Bits);
    for _ in 0..2 {
        launch!(trial, heat<<<(3, 2), (16, 16)>>>(&a, &mut b, width as i32, height as i32));
        launch!(trial, heat<<<(3, 2), (16, 16)>>>(&b, &mut a, width as i32, height as i32));
    }
    trial.run();
}

#[test]
fn life() {
    let (words, rows) = (3usize, 20usize);
    let input = many(63, words * rows, |random| random.u32());
    let alive = |x: usize, y: usize| input[y % rows * words + x / 32 % words] >> (x % 32) & 1;
    let next = |x: usize, y: usize| {
        let around = (0..9)
            .filter(|&i| i != 4)
            .map(|i| alive(x + i % 3 + 32 * words - 1, y + i / 3 + rows - 1));
        let around: u32 = around.sum();
        u32::from(around == 3 || around == 2 && alive(x, y) == 1)
    };
    let word = |i: usize| {
        (0..32)
            .map(|bit| next(i % words * 32 + bit, i / words) << bit)
            .sum::<u32>()
    };
    let expected = (0..words * rows).map(word).collect();
    trial!(life<<<(1, 20), 32>>>(input: input => out: expect(expected, Bound::Bits); words as i32, rows as i32));
}
