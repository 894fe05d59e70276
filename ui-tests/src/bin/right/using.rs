//! All that a graph's user does with it.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::scaled;

cuda_graph! {
    pub graph Test<const N: usize> {
        host input: [f32; N];
        device data: [f32; N];
        host output: [f32; N];
        param factor: f32 = 2.0;
        memcpy upload = input -> data;
        kernel scale = scaled<<<1, N>>>(&mut data, factor, N as u32) after upload;
        memcpy download = data -> output after scale;
    }
}

fn run(device: &Device) -> Result<()> {
    let mut first = Test::<4>::build(device)?;
    let mut second = Test::<4>::build(device)?;
    first.input_mut()?.fill(21.0);
    first.launch()?;
    first.launch()?;
    first.set_factor(3.0)?;
    std::mem::swap(&mut first, &mut second);
    let memory = first.memory_mut()?;
    memory.output.copy_from_slice(&*memory.input);
    std::mem::swap(memory.input, memory.output);
    first.synchronize()?;
    first.scale().set_enabled(false)?;
    first.data_mut()?.copy_from(&[1.0; 4])?;
    let data: Box<[f32; 4]> = first.data()?.read()?;
    assert_eq!(first.factor(), data[0]);
    std::thread::spawn(move || second.launch()).join().expect("no panic")?;
    std::mem::forget(first);
    assert_eq!(Test::<4>::PLAN.nodes.len(), 3);
    Ok(())
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<()> = run;
}
