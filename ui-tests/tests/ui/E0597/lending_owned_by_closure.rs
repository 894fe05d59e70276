//! Memory that ends before the scope that lends it.
use graph_runtime::{Device, Result, SharedHost};

fn lent(device: &Device) -> Result<SharedHost<[f32]>> {
    device.scope(|scope| {
        let numbers = vec![0.0; 4];
        scope.lend(&numbers)
    })
}

fn main() {}
