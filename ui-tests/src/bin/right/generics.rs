//! A graph has generics as a struct has: lifetimes, types, constants, defaults and where clauses.
use graph_runtime::{Device, Element, Result, cuda_graph};
use std::fmt::Debug;
use ui_tests::write;

cuda_graph! {
    pub graph Copies<T, const N: usize = 4>
    where
        T: Element + Debug,
    {
        host input: [T; N];
        device data: [[T; N]; 2];
        memcpy first = input -> data[0];
        memcpy second = input -> data[1];
    }
}

cuda_graph! {
    graph Fills<'a, T: Element + 'a, const N: usize, const ROWS: usize> {
        device data: [[f32; N]; ROWS];
        device other: T;
        host output: T;
        kernel fill = write<<<ROWS, N>>>(&mut data);
        memcpy download = other -> output;
    }
}

fn build<T: Element + Debug>(device: &Device) -> Result<Copies<T>> {
    let mut graph = Copies::<T>::build(device)?;
    graph.input_mut()?.fill(T::zeroed());
    Ok(graph)
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Copies<u16>> = build;
    let _: fn(&Device) -> Result<Fills<'static, [u8; 3], 128, 64>> = Fills::build;
}
