//! `kernels/print.cu`

use crate::bound::Bound;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/print.ptx")]
unsafe extern "C" {
    fn print(input: &[i32], out: &mut [i32]);
}

#[test]
fn print() {
    // The test does not see the printed text. It compares the numbers that printf returns.
    let mut expected = vec![6; 33];
    expected[..16].fill(106);
    expected[32] = 0;
    trial!(print<<<1, 32>>>(
        input: (0..32).map(|i| i * 1000 - 15_000).collect() => out: expect::<i32>(expected, Bound::Bits)
    ));
}
