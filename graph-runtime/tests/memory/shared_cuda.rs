//! Shared memory where only CUDA has something to test: streams, contexts, and cudarc's memory.

use crate::common::*;
use graph_runtime::cudarc::driver::{CudaContext, CudaSlice};

/// `data += 1`, perhaps after a delay.
fn increment(device: &Device, data: &DeviceBuffer<[f32]>, wait: bool) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Increment");
    let mut data = builder.shared("data", data, true);
    let node = builder.kernel("bounded", Launch::new(1, 64), bounded::call(&mut data));
    if wait {
        let mut flag = builder.device::<[u32; 1]>("flag");
        let delay = builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
        builder.after(node, &[delay]);
    }
    builder.build()
}

/// `data *= 10`
fn tenfold(device: &Device, data: &DeviceBuffer<[f32]>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Tenfold");
    let mut data = builder.shared("data", data, true);
    builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 10.0, 64));
    builder.build()
}

#[test]
#[ignore = "needs a CUDA device"]
fn streams_in_any_mixture() -> Result<()> {
    let device = cuda_device();
    let data = device.alloc_slice::<f32>(64)?;
    let (mut increment, mut tenfold) = (increment(&device, &data, true)?, tenfold(&device, &data)?);
    let (first, second) = (new_stream(&device), new_stream(&device));
    increment.launch_on(&first)?; // 1
    tenfold.launch_on(&second)?; // 10
    increment.launch_on(&second)?; // 11
    tenfold.launch_on(&second)?; // 110
    increment.launch()?; // 111
    tenfold.launch()?; // 1110
    increment.launch_on(&first)?; // 1111
    drop((first, second));
    let fresh = new_stream(&device); // perhaps at the address of an old one
    tenfold.launch_on(&fresh)?; // 11110
    assert_eq!(data.read_vec()?, [11110.0; 64]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn per_thread_streams_are_not_one_stream() -> Result<()> {
    let device = cuda_device();
    let data = device.alloc_slice::<f32>(64)?;
    let (mut increment, mut tenfold) = (increment(&device, &data, true)?, tenfold(&device, &data)?);
    let stream = device.context().expect("a context").per_thread_stream();
    increment.launch_on(&stream)?;
    let thread = std::thread::spawn(move || -> Result<()> {
        stream.context().bind_to_thread().expect("the context binds");
        tenfold.launch_on(&stream)
    });
    thread.join().expect("the thread ends")?;
    assert_eq!(data.read_vec()?, [10.0; 64]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_of_other_contexts_is_refused() -> Result<()> {
    let device = cuda_device();
    let other = Device::from(CudaContext::new_non_primary(0, 0).expect("a second context"));
    let theirs = other.alloc_slice::<f32>(64)?;
    assert!(matches!(tenfold(&device, &theirs), Err(Error::ForeignMemory { .. })));
    let mut graph = tenfold(&other, &theirs)?;
    graph.launch()?;
    graph.synchronize()
}

#[test]
#[ignore = "needs a CUDA device"]
fn slices_of_cudarc_become_shared_memory() -> Result<()> {
    let device = cuda_device();
    let stream = new_stream(&device);
    let slice: CudaSlice<f32> = stream.clone_htod(&vec![1.0; 64]).expect("a copy");
    let data = DeviceBuffer::from(slice);
    let (mut increment, mut tenfold) = (increment(&device, &data, true)?, tenfold(&device, &data)?);
    increment.launch()?;
    // SAFETY: the slice is read on a stream of its context before it is given back.
    let lent = unsafe { data.as_cudarc() }?; // waits
    assert_eq!(stream.clone_dtoh(&*lent).expect("a copy"), [2.0; 64]);
    assert!(matches!(tenfold.launch(), Err(Error::InUse { .. })));
    drop(lent);
    tenfold.launch()?;
    let half = data.rows(32..)?;
    assert_eq!(read_by_cudarc(&half, &stream)?, [20.0; 32]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn copies_go_on_to_memory_of_pools_and_back() -> Result<()> {
    let device = cuda_device();
    let stream = new_stream(&device);
    let pool = |value: f32| DeviceBuffer::from(stream.clone_htod(&vec![value; 64]).expect("a copy"));
    let own = device.alloc_slice::<f32>(64)?;
    let mut builder = GraphBuilder::new(&device, "Copy");
    let from = builder.shared("from", &own, false);
    let mut to = builder.host::<[f32; 64]>("to");
    builder.memcpy("copy", &from, &mut to);
    let mut graph = builder.build()?;
    for (round, value) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        graph.rebind(&from, &pool(value))?;
        graph.launch()?;
        assert_eq!(graph.host(&to)?, &[value; 64]);
        if round == 1 {
            graph.rebind(&from, &own)?;
            graph.launch()?;
            assert_eq!(graph.host(&to)?, &[0.0; 64]);
        }
    }
    Ok(())
}
