//! Scratch memory: written before it is read, in parts, by kernels that load nothing, in bodies and in generic graphs.
#![deny(warnings)]
use graph_runtime::cuda_graph;
use ui_tests::{read, scaled, write};

cuda_graph! {
    pub graph Scratch<const N: usize>(n: usize) {
        device flag: u32;
        device out: [f32; N];
        /// Documented.
        scratch whole: [f32; N];
        scratch rows: [[f32; N]; 2];
        scratch dynamic: [f32; n];
        scratch condition: u32;

        kernel first = write<<<1, 4>>>(&mut whole);
        kernel change = scaled<<<1, 4>>>(&mut whole, 2.0, 4) after first;
        kernel row = read<<<1, 4>>>(&whole, &mut rows[1]) after change;
        memset set = condition <- 1;
        while repeat = condition {
            kernel one = write<<<1, 4>>>(&mut rows[0]);
            kernel two = read<<<1, 4>>>(&rows[0], &mut out) after one;
            memset stop = condition <- 0 after two;
        } after row, set;
        memset fill = dynamic <- 1.0;
        kernel last = read<<<1, 4>>>(&rows[1], &mut out) after repeat;
        if maybe = flag {
            kernel inside = read<<<1, 1>>>(&dynamic[..4], &mut out);
        } after last, fill;
        #[allow(dead_node)]
        kernel useless = write<<<1, 4>>>(&mut whole) after row;
    }
}

pub(crate) fn main() {
    assert_eq!(Scratch::<64>::PLAN.arena(), 0, "`build` knows the length of `dynamic`");
}
