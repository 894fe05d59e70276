//! A graph with a mistake keeps its type and its methods: whoever uses it gets no further errors.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::scaled;

cuda_graph! {
    pub graph Test<T: graph_runtime::Element, const N: usize> {
        host input: [T; N];
        device data: [T; N];
        device numbers: [f32; N];
        host output: [T; N];
        param factor: f32 = 2.0;
        memcpy upload = input -> data;
        memcpy download = data -> output;
        kernel scale = scaled<<<1, N as u32>>>(&mut numbers, factor, N as u32);
    }
}

fn main() -> Result<()> {
    let device = Device::any()?;
    let mut graph = Test::<u32, 4>::build(&device)?;
    graph.input_mut()?.fill(1);
    *graph.memory_mut()?.input = [2; 4];
    graph.set_factor(graph.factor() + 1.0)?;
    graph.launch()?;
    graph.synchronize()?;
    graph.scale().set_enabled(false)?;
    let numbers: &[u32; 4] = graph.input()?;
    assert_eq!(numbers, &[2; 4]);
    graph.data()?;
    graph.numbers_mut()?;
    println!("{}", Test::<u32, 4>::PLAN.to_dot());
    Ok(())
}
