//! A graph may have nothing in it.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! { pub graph Empty {} }
cuda_graph! { graph Generic<T: Send, const N: usize> {} }

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Empty> = Empty::build;
    let _: fn(&Device) -> Result<Generic<String, 4>> = Generic::build;
}
