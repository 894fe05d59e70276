//! A value in place of borrowed memory.
use graph_runtime::{Device, Result};

fn lend(device: &Device) -> Result<()> {
    let numbers = vec![0.0; 4];
    device.scope(|scope| scope.lend(numbers).map(drop))
}

fn main() {}
