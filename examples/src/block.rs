//! The inputs and weights of `transformer_block`, by a formula that `pytorch/transformer_block.py` repeats, and the
//! results that PyTorch has computed of them.

use crate::compare::{close, largest};
use crate::tensors;
use graph_runtime::BoxError;
use safetensors::{Dtype, SafeTensors};

/// Results of PyTorch: some rows, in f64.
const REFERENCE: &[u8] = include_bytes!("../data/transformer_block.safetensors");

/// Numbers within `scale` of `offset`.
pub fn numbers(seed: u32, count: usize, scale: f32, offset: f32) -> Vec<f32> {
    let number = |index: usize| {
        let mut mixed = (index as u32)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(seed.wrapping_mul(2_246_822_519));
        mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85eb_ca6b);
        mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
        ((mixed ^ mixed >> 16) >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|index| number(index) * scale + offset).collect()
}

/// Compares some of the `rows` of a result with PyTorch's of this size, which may differ by `tolerance` of the largest.
/// Prints the largest difference.
///
/// # Errors
/// If a difference is larger.
pub fn check(name: &str, size: &str, rows: usize, results: &[f32], tolerance: f32) -> Result<(), BoxError> {
    let width = results.len() / rows;
    let expected: Vec<f32> = tensors::numbers(&SafeTensors::deserialize(REFERENCE)?, size, Dtype::F32, None)?;
    let apart = results.len() / expected.len();
    let found: Vec<f32> = results.chunks(width).step_by(apart).flatten().copied().collect();
    let largest = largest(&expected);
    let worst = close(name, &found, &expected, tolerance * largest)?;
    println!(
        "check:   {name}: {rows} x {width}, differs by at most {worst:.1e} from PyTorch's f64, of at most {largest:.1}"
    );
    Ok(())
}
