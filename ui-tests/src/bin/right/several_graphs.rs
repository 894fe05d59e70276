//! One call may declare several graphs, each with its own namespace.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    /// The first.
    pub graph First {
        join start;
    }

    graph Second<const N: usize>(n: usize) {
        device start: [[f32; N]; n];
        memset clear = start <- 0.0;
    }
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<First> = First::build;
    let _: fn(&Device, usize) -> Result<Second<4>> = Second::build;
}
