//! Spellings that the grammar allows and few authors use: trailing commas, expressions of all kinds, attributes and
//! documentation everywhere.
#![deny(warnings)]
use graph_runtime::{Device, bytemuck, cuda_graph};
use ui_tests as kernels;

/// Two numbers.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    first: f32,
    second: f32,
}

// SAFETY: all zeroes is a value of each field.
unsafe impl bytemuck::Zeroable for Pair {}
// SAFETY: `repr(C)`, two fields of four bytes each that are `Pod`, so without padding.
unsafe impl bytemuck::Pod for Pair {}

struct Size;

impl Size {
    const WIDTH: usize = 8;
}

const fn double(n: usize) -> usize {
    2 * n
}

const MID: usize = 3;
const RANGE: std::ops::RangeInclusive<usize> = 0..=2;

cuda_graph! {
    #[allow(unused_resource, dead-node,)]
    #[doc = "Documented by an attribute."]
    pub(crate) graph Spelled<'a, T, const N: usize,>(counts: std::sync::Arc<Vec<usize>>, text: &'a str,) where T: graph_runtime::Element, {
        /** A block. */
        host h: [[[[T; 2]; 3]; 4]; N];
        #[allow(unused-resource)] device unused: <Size as Sized2>::Element;
        device a: [f32; double(16)];
        device b: [f32; { let n = 16; n * 2 }];
        device pairs: [Pair; Size::WIDTH];
        device grid: [[f32; <Size>::WIDTH]; 'a' as usize - 93];
        device bytes: [u8; 5];
        device tile: [[f32; 16]; 16];
        param count: u32 = 32;
        param factor: f32 = 1.5;
        param name: &'static str = "abc";
        memset pair = pairs <- Pair { first: 1.0, second: if count_of() { 2.0 } else { 3.0 } };
        memset one_pair = pairs[2..=2] <- Pair { second: factor, first: 0.0 } after pair;
        memset row = grid[1][..] <- 2.5;
        memset part = grid[2..=2][1..MID] <- factor.mul_add(2.0, 0.5);
        memset letters = bytes <- b'x' + name.len() as u8;
        kernel write = kernels::write<<<(1,), (32,),>>>(&mut a,);
        kernel scale = self::kernels::scaled<<<(2, 1, 1,), count >> 1, 16 * 4,>>>(&mut a, -factor, { let n = count; n }) after write;
        kernel all = ::ui_tests::tile<<<1, (16, 16)>>>(&mut tile);
        #[priority(1 - 2)] #[disabled] kernel off = kernels::write<<<1 << 1, 32 >> 1>>>(&mut b);
        #[disabled] memcpy over = a[..16] -> b[16..] after scale, off,;
        for i in 0..counts.len() {
            /// In a `for`.
            memset counted = grid[i][0] <- (counts[i] + text.len()) as f32 after row, part;
            for _j in RANGE {}
        };
        for i in RANGE { join each after counted; memset z = tile[i][i..=i] <- i as f32 after all; }
        join end after each, over, one_pair, letters;
    }
}

trait Sized2 {
    type Element;
}

impl Sized2 for Size {
    type Element = u16;
}

fn count_of() -> bool {
    true
}

pub(crate) fn main() {
    let counts = std::sync::Arc::new(vec![1, 2]);
    let mut graph = Spelled::<u64, 2>::build(&Device::emulator(), counts, "text").unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.a().unwrap().read().unwrap()[31], -1.5);
    let pairs = graph.pairs().unwrap().read().unwrap();
    assert_eq!((pairs[0].first, pairs[0].second, pairs[2].second), (1.0, 2.0, 1.5));
    let grid = graph.grid().unwrap().read().unwrap();
    assert_eq!(
        (grid[0][0], grid[1][..2].to_vec(), grid[2][..4].to_vec()),
        (5.0, vec![6.0, 2.5], vec![0.0, 3.5, 3.5, 0.0])
    );
    assert_eq!(*graph.bytes().unwrap().read().unwrap(), [b'x' + 3; 5]);
    assert_eq!(graph.tile().unwrap().read().unwrap()[2][1..4], [1.0, 2.0, 1.0]);
    graph.set_count(16).unwrap();
    graph.set_name("").unwrap();
    graph.off().set_enabled(true).unwrap();
    graph.over().set_enabled(true).unwrap();
    graph.launch().unwrap();
    let b = graph.b().unwrap().read().unwrap();
    assert_eq!((b[0], b[16], graph.a().unwrap().read().unwrap()[16]), (1.0, -1.5, 1.0));
    assert_eq!(*graph.bytes().unwrap().read().unwrap(), [b'x'; 5]);
}
