//! Mistakes that rustc reports as E0502.
use graph_runtime::{Device, Result, cuda_graph};

// A graph is not swapped for another while its memory is lent.
cuda_graph! {
    graph GraphReplacedWhileLent {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
    }
}

fn graph_replaced_while_lent() -> Result<()> {
    let mut first = GraphReplacedWhileLent::build(&Device::any()?)?;
    let mut second = GraphReplacedWhileLent::build(&Device::any()?)?;
    let input = first.input()?;
    std::mem::swap(&mut first, &mut second);
    println!("{input:?}");
    Ok(())
}

// While memory is lent for reading, nothing can be launched that may write it.
cuda_graph! {
    graph LaunchWhileLentToRead {
        device data: [f32; 4];
        host output: [f32; 4];
        memcpy download = data -> output;
    }
}

fn launch_while_lent_to_read() -> Result<()> {
    let mut graph = LaunchWhileLentToRead::build(&Device::any()?)?;
    let output = graph.output()?;
    graph.launch()?;
    println!("{output:?}");
    Ok(())
}

// Memory is lent once for writing; `memory_mut` lends all of it, split.
cuda_graph! {
    graph LentTwice {
        host input: [f32; 4];
        device data: [f32; 4];
        host output: [f32; 4];
        memcpy upload = input -> data;
        memcpy download = data -> output after upload;
    }
}

fn lent_twice() -> Result<()> {
    let mut graph = LentTwice::build(&Device::any()?)?;
    let input = graph.input_mut()?;
    let output = graph.output()?;
    input.copy_from_slice(output);
    Ok(())
}

// A `param` is not changed while memory is lent: updates wait for launches, as lending does.
cuda_graph! {
    graph ParamSetWhileLent {
        device data: [f32; 4];
        param value: f32 = 0.0;
        host output: [f32; 4];
        memset fill = data <- value;
        memcpy download = data -> output after fill;
    }
}

fn param_set_while_lent() -> Result<()> {
    let mut graph = ParamSetWhileLent::build(&Device::any()?)?;
    let output = graph.output()?;
    graph.set_value(1.0)?;
    println!("{output:?}");
    Ok(())
}

// A view borrows the graph, as a reference does.
cuda_graph! {
    graph LentTwiceLentTwice(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        host output: [[f32; d]; n];
        memcpy upload = input -> data;
        memcpy download = data -> output after upload;
    }
}

fn lent_twice_lent_twice() -> Result<()> {
    let mut graph = LentTwiceLentTwice::build(&Device::any()?, 2, 3)?;
    let mut input = graph.input_mut()?;
    let output = graph.output()?;
    input.row_mut(0).unwrap().copy_from_slice(&output[1]);
    Ok(())
}

fn main() {}
