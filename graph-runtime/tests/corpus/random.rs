//! `kernels/random.cu`

use crate::bound::Bound;
use crate::data::many;
use crate::generator;
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::cuda_kernels;

/// CUDA's `uint2`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(8))]
struct Uint2([u32; 2]);

#[cuda_kernels("tests/corpus/kernels/random.ptx")]
unsafe extern "C" {
    fn philox(out: &mut [u32], key: Uint2, offset: u64);
    fn box_muller(input: &[u32], out: &mut [f32]);
    fn hashes(input: &[u64], out: &mut [u64], n: u32);
    fn sha256(messages: &[u32], digests: &mut [u32]);
}

#[test]
fn philox() {
    // A known answer of Random123: counter and key of zeros.
    let wanted = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    assert_eq!(generator::philox(0, 0, 0), wanted);
    let (key, offset) = ([0x1234_5678, 0x9abc_def0], 0xffff_ffc0);
    let expected = (0..128).flat_map(|i| generator::philox(0x9abc_def0_1234_5678, 0, offset + i));
    let expected = expected.collect();
    trial!(philox<<<2, 64>>>(=> out: expect(expected, Bound::Bits); Uint2(key), offset));
}

#[test]
fn box_muller() {
    let mut input = many(81, 2 * 256, |random| random.u32());
    input[..4].copy_from_slice(&[0, 0, u32::MAX, u32::MAX]);
    // Logarithm, root, sine and cosine without approximate instructions.
    trial!(box_muller<<<2, 128>>>(input: input => out: output::<f32>(2 * 256, Bound::Bits)));
}

#[test]
fn hashes() {
    let mut input = many(82, 96, |random| random.u64());
    input[0] = 0;
    let murmur = |mut h: u64| {
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53, 1] {
            h = (h ^ h >> 33).wrapping_mul(factor);
        }
        h
    };
    let mix = |x: u64| {
        x.wrapping_mul(0x9e37_79b1_85eb_ca87)
            .rotate_left(31)
            .wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
    };
    let fnv = |x: u64| {
        x.to_le_bytes().iter().fold(2_166_136_261u32, |hash, &byte| {
            (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
        })
    };
    let crc = |x: u64| {
        !x.to_le_bytes().iter().fold(u32::MAX, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| {
                if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
            })
        })
    };
    let rows = [&murmur as &dyn Fn(u64) -> u64, &mix, &|x| u64::from(fnv(x)), &|x| {
        u64::from(crc(x))
    }];
    let expected = rows
        .iter()
        .flat_map(|row| input.iter().map(|&x| row(x)).collect::<Vec<_>>())
        .collect();
    trial!(hashes<<<3, 32>>>(input: input => out: expect(expected, Bound::Bits); 96));
}

#[test]
fn sha256() {
    let mut messages = many(83, 32 * 16, |random| random.u32());
    // "abc" with its padding; the answer is in FIPS 180-4.
    messages[..16].fill(0);
    messages[0] = 0x8063_6261;
    messages[15] = 24 << 24;
    trial!(sha256<<<1, 32>>>(messages: messages => digests: output::<u32>(32 * 8, Bound::Bits)));
}
