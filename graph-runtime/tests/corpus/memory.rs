//! `kernels/memory.cu`

use crate::bound::{Bound, alike};
use crate::data::{floats, many, u32_arguments};
use crate::trial::Trial;
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::cuda_kernels;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    offsets: [i32; 5],
    padding: u32,
    weight: f64,
    tag: i8,
    more_padding: u8,
    pair: [i16; 2],
    yet_more: u16,
    nothing: u64,
}

#[cuda_kernels("tests/corpus/kernels/memory.ptx")]
unsafe extern "C" {
    fn vectors(
        bytes: &[u8],
        bytes_out: &mut [u8],
        shorts: &[i16],
        shorts_out: &mut [i16],
        words: &[i32],
        words_out: &mut [i32],
        doubles: &[f64],
        doubles_out: &mut [f64],
    );
    fn hints(input: &[i32], out: &mut [i32], n: u32);
    fn local_arrays(input: &[i32], out: &mut [i32]);
    fn constants(index: &[u32], out: &mut [f64], characters: &mut [u8]);
    fn module_state(counts: &mut [u32], out: &mut [f64]);
    fn parameters(p: Parameters, byte: u8, half: i16, wide: u64, flag: u8, out: &mut [f64]);
    fn spaces(input: &[f32], out: &mut [f32]);
    fn pieces(input: &[u8], out: &mut [u8], flags: &mut [u32]);
}

#[test]
fn vectors() {
    let n = 96;
    let bytes = many(151, 4 * n, |random| random.u32() as u8);
    let shorts = many(152, 2 * n, |random| random.u32() as i16);
    let words = many(153, 4 * n, |random| random.u32() as i32);
    let doubles = many(154, 2 * n, |random| random.f64(-9.0, 9.0));
    let turned = |group: &[i32]| [group[1], group[2], group[3], group[0]];
    let bytes_out = bytes.chunks(4).flat_map(|group| group.iter().rev().copied()).collect();
    let shorts_out = shorts.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    let words_out = words.chunks(4).flat_map(turned).collect();
    let doubles_out = doubles.chunks(2).flat_map(|pair| [pair[1], -pair[0]]).collect();

    let mut trial = Trial::new("vectors");
    let (bytes, shorts) = (trial.input("bytes", bytes), trial.input("shorts", shorts));
    let (words, doubles) = (trial.input("words", words), trial.input("doubles", doubles));
    let mut bytes_out = trial.expect::<u8>("bytes_out", bytes_out, Bound::Bits);
    let mut shorts_out = trial.expect::<i16>("shorts_out", shorts_out, Bound::Bits);
    let mut words_out = trial.expect::<i32>("words_out", words_out, Bound::Bits);
    let mut doubles_out = trial.expect::<f64>("doubles_out", doubles_out, Bound::Bits);
    launch!(trial, vectors<<<3, 32>>>(
        &bytes, &mut bytes_out, &shorts, &mut shorts_out, &words, &mut words_out, &doubles, &mut doubles_out
    ));
    trial.run();
}

#[test]
fn hints() {
    let n = 64;
    trial!(hints<<<2, 32>>>(
        input: many(155, n, |random| random.u32() as i32) => out: rows::<i32>(n, &alike(17, Bound::Bits)); n as u32
    ));
}

trials! {
    local_arrays<<<2, 48>>>(
        input: many(156, 96, |random| random.u32_below(5000) as i32) => out: output::<i32>(96, Bound::Bits)
    );
    constants<<<2, 64>>>(
        index: u32_arguments(1, 128) => out: output::<f64>(128, Bound::Bits), characters: output::<u8>(128, Bound::Bits)
    );
    spaces<<<1, 32, 320>>>(input: floats(157, 32, -100.0, 100.0) => out: output::<f32>(64, Bound::Bits));
    pieces<<<1, 32>>>(
        input: many(158, 40, |random| random.u32() as u8)
        => out: output::<u8>(32 * 24, Bound::Bits), flags: output::<u32>(64, Bound::Bits)
    );
}

#[test]
fn module_state() {
    // Three nodes in each of two launches: six in all, from launch 5 on, all but the last counted on by 1000.
    let counts = vec![1008, 1009, 10, 0, 0, 1005, 1006, 1007];
    let history = vec![1.0 + 4.0, 2.0 + 4.5, 5.0, 0.0, 0.0, 2.5, 3.0, 3.5];
    let mut trial = Trial::new("module_state");
    let mut counts = trial.expect::<u32>("counts", counts, Bound::Bits);
    let mut out = trial.expect::<f64>("out", history, Bound::Bits);
    for _ in 0..3 {
        launch!(trial, module_state<<<1, 1>>>(&mut counts, &mut out));
    }
    trial.repeat(2).run();
}

#[test]
fn parameters() {
    let p = Parameters {
        offsets: [10, -20, 30, -40, i32::MAX],
        padding: 0,
        weight: 0.375,
        tag: -5,
        more_padding: 0,
        pair: [-300, 400],
        yet_more: 0,
        nothing: 0,
    };
    let sum = |i: usize| f64::from(p.offsets[i % 5]) + p.weight * -5.0 + f64::from(p.pair[i & 1]);
    let expected = (0..32).map(|i| sum(i) + 200.0 + 7.0).collect();
    let wide = (0..32).map(|i| (u64::MAX >> i) as f64).collect();
    let mut trial = Trial::new("parameters");
    let mut flagged = trial.expect::<f64>("flagged", expected, Bound::Bits);
    let mut unflagged = trial.expect::<f64>("unflagged", wide, Bound::Bits);
    launch!(trial, parameters<<<1, 32>>>(p, 200, -7, u64::MAX, 1, &mut flagged));
    launch!(trial, parameters<<<1, 32>>>(p, 200, -7, u64::MAX, 0, &mut unflagged));
    trial.run();
}
