//! Parts of two dimensions.
#![deny(warnings)]

use graph_runtime::cuda_graph;
use ui_tests::*;

const MID: usize = 4;

type Row = [f32; 8];

cuda_graph! {
    pub graph Planes<const R: usize, const C: usize>(n: usize, rows: usize) {
        param  value: f32 = 0.5;
        host   input:   [[f32; C]; R];
        device data:    [[f32; C]; R];
        device dynamic: [[f32; 8]; n];
        device corner:  [[f32; 4]; 4];
        device aliased: [Row; 4];
        device deep:    [[[[f32; 2]; 3]; 4]; 5];
        device flags:   [[u32; 2]; 2];
        host   result:  [[f32; 8]; 8];

        memcpy a = input[..][..MID] -> data[..][..MID];
        memcpy b = input[..R][MID..] -> data[..][MID..];
        memcpy c = data[..4][..4] -> corner                             after a, b;
        memcpy d = corner -> dynamic[..4][4..]                          after c;
        memcpy e = dynamic[rows..][n - 3] -> result[rows..][1]          after d;
        memcpy f = dynamic[..rows][..n - 5] -> result[..rows][5 - n + n..5 + n - 5] after d;
        memset g = aliased[1..3][2..] <- value;
        memset h = aliased[0][2..4]   <- value;
        kernel i = write<<<1, 4>>>(&mut aliased[3][..4]);
        memset j = deep[..][1..=2]    <- 1.0;
        kernel k = write<<<1, 6>>>(&mut deep[2][0])                      after j;
        for l in 0..2 {
            if maybe = flags[l][1] {
                memset m = aliased[l + 1..l + 2][l] <- 2.0;
            } after g, h, i;
        }
    }
}

pub(crate) fn main() {
    let build = Planes::<8, 8>::build;
    let _ = build;
}
