//! `kernels/linear.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/linear.ptx")]
unsafe extern "C" {
    fn matmul_tiled(a: &[f32], b: &[f32], c: &mut [f32], m: i32, n: i32, k: i32);
    fn matmul_registers(a: &[f32], b: &[f32], c: &mut [f32], n: i32);
    fn transpose_padded(input: &[f32], out: &mut [f32], rows: i32, columns: i32);
    fn spmv_csr(starts: &[i32], columns: &[i32], values: &[f64], x: &[f64], y: &mut [f64], rows: i32);
    fn cholesky(matrix: &mut [f64]);
}

/// `a b` with the sums of each element in order, fused.
fn product(a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32, [m, n, k]: [usize; 3]) -> Vec<f32> {
    let element = |i: usize| (0..k).fold(0f32, |sum, at| a(i / n, at).mul_add(b(at, i % n), sum));
    (0..m * n).map(element).collect()
}

#[test]
fn matmul_tiled() {
    let (m, n, k) = (37, 29, 45);
    let (a, b) = (floats(1, m * k, -1.0, 1.0), floats(2, k * n, -1.0, 1.0));
    let expected = product(|row, at| a[row * k + at], |at, column| b[at * n + column], [m, n, k]);
    trial!(matmul_tiled<<<(2, 3), (16, 16)>>>(
        a: a, b: b => c: expect(expected, Bound::Bits); m as i32, n as i32, k as i32
    ));
}

#[test]
fn matmul_registers() {
    let n = 64;
    let (a, b) = (floats(3, n * n, -1.0, 1.0), floats(4, n * n, -1.0, 1.0));
    let expected = product(|row, at| a[at * n + row], |at, column| b[at * n + column], [n; 3]);
    trial!(matmul_registers<<<(2, 2), 64>>>(a: a, b: b => c: expect(expected, Bound::Bits); n as i32));
}

#[test]
fn transpose_padded() {
    let (rows, columns) = (45, 70);
    let input = floats(5, rows * columns, -9.0, 9.0);
    let expected = (0..rows * columns)
        .map(|i| input[i % rows * columns + i / rows])
        .collect();
    trial!(transpose_padded<<<(3, 2), (32, 8)>>>(
        input: input => out: expect(expected, Bound::Bits); rows as i32, columns as i32
    ));
}

#[test]
fn spmv_csr() {
    let (rows, width) = (50, 80);
    let mut starts = vec![0];
    starts.extend(
        many(6, rows, |random| random.u32_below(70) as i32)
            .iter()
            .scan(0, |sum, len| {
                *sum += len;
                Some(*sum)
            }),
    );
    let count = starts[rows] as usize;
    let columns = many(7, count, |random| random.u32_below(width) as i32);
    let values = many(8, count, |random| random.f64(-1.0, 1.0));
    let x = many(9, width as usize, |random| random.f64(-1.0, 1.0));
    let row = |row: usize| {
        let mut lanes = [0f64; 64];
        for (place, i) in (starts[row] as usize..starts[row + 1] as usize).enumerate() {
            lanes[place % 32] = values[i].mul_add(x[columns[i] as usize], lanes[place % 32]);
        }
        for offset in [16, 8, 4, 2, 1] {
            for lane in 0..offset {
                lanes[lane] += lanes[lane + offset];
            }
        }
        lanes[0]
    };
    let expected = (0..rows).map(row).collect();
    trial!(spmv_csr<<<13, 128>>>(
        starts: starts, columns: columns, values: values, x: x => y: expect(expected, Bound::Bits); rows as i32
    ));
}

#[test]
fn cholesky() {
    let n = 16;
    let b = many(10, n * n, |random| random.f64(-1.0, 1.0));
    let dot = |i: usize, j: usize| (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>();
    let matrix = (0..n * n)
        .map(|at| dot(at / n, at % n) + if at / n == at % n { 16.0 } else { 0.0 })
        .collect();
    trial!(cholesky<<<1, 16>>>(=> matrix: changed(matrix, Bound::Bits)));
}
