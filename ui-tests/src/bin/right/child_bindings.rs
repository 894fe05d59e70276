//! Children that are bound to parts, values, lengths, params and references, under paths of all kinds, in loops and
//! bodies.
#![deny(warnings)]
use graph_runtime::{Device, cuda_graph};
use ui_tests::scaled;

mod library {
    use graph_runtime::{Element, cuda_graph};

    cuda_graph! {
        pub(super) graph Filled<T: Element, const N: usize>(value: T, n: usize) {
            device data: [T; N];
            host   copy: [T; N];
            memcpy download = data -> copy after set;
            memset set      = data[..n] <- value;
        }
        pub graph Counted(names: &[&str], count: fn(&[&str]) -> u32, n: usize, from: device [f32; 8], to: mut device [f32; 8]) {
            device  any: [u32; n];
            scratch own: [u32; n];
            memcpy take  = from -> to;
            memset set   = own <- count(names);
            memcpy leave = own -> any after set;
        }
    }
}

cuda_graph! {
    pub graph Scaled<const N: usize> {
        device data: [f32; N];
        param  threads: u32 = all + 0;
        param  all: u32 = N as u32;
        param  factor: f32 = 2.0;
        kernel scale = scaled<<<1, threads>>>(&mut data, factor, all);
    }
    pub graph Around<const N: usize> {
        device flag: u32;
        device data: [f32; N];
        param  factor: f32 = 3.0;
        graph first = Scaled::<N>(data: &mut data, factor: factor);
        if again = flag {
            graph second = crate::child_bindings::Scaled::<{ N }>(factor: factor * 2.0, data: &mut data,);
        } after first;
    }
    pub graph Whole<const ROW: usize>(rows: usize) {
        device rows_of: [[f32; 32]; 4];
        device flags: [u32; 2];
        device words: [[u16; 8]; 3];
        host   copy: [u16; 8];
        device moved: [[f32; 8]; 2];
        device counts: [u32; 6];
        param  factor: f32 = 1.0;
        memset ones = rows_of <- 1.0;
        for i in 0..rows {
            graph around = Around::<32>(data: &mut rows_of[i], factor: factor + i as f32, flag: &flags[ROW]) after ones;
        }
        graph r#filled = library::Filled::<u16, 8>(value: 7, n: 5, data: &mut words[1], copy: &mut copy);
        graph counted = self::library::Counted(
            any: &mut counts,
            names: &["a", "b"],
            count: |names: &[&str]| names.len() as u32,
            n: 2 * ROW + 4,
            from: &moved[0],
            to: &mut moved[1],
        );
    }
}

pub(crate) fn main() {
    let mut graph = Whole::<1>::build(&Device::emulator(), 2).unwrap();
    graph.flags_mut().unwrap().copy_from(&[0, 1]).unwrap();
    graph.launch().unwrap();
    let row = |graph: &Whole<1>, index: usize| graph.rows_of().unwrap().read().unwrap()[index][31];
    assert_eq!([0, 1, 2].map(|index| row(&graph, index)), [2.0, 8.0, 1.0]);
    graph.set_factor(2.0).unwrap();
    graph.launch().unwrap();
    assert_eq!([0, 1, 2].map(|index| row(&graph, index)), [8.0, 18.0, 1.0]);
    assert_eq!(graph.copy().unwrap(), &[7, 7, 7, 7, 7, 0, 0, 0]);
    assert_eq!(*graph.counts().unwrap().read().unwrap(), [2; 6]);
    assert_eq!(graph.around(1).name(), "around[1]");
}
