//! A graph is not swapped for another while its memory is lent.
use graph_runtime::{Device, Result, cuda_graph};

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn main() -> Result<()> {
    let mut first = Test::build(&Device::any()?)?;
    let mut second = Test::build(&Device::any()?)?;
    let input = first.input()?;
    std::mem::swap(&mut first, &mut second);
    println!("{input:?}");
    Ok(())
}
