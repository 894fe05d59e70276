//! Host memory that graphs share, and the guards that lend it.

use crate::common::*;
use crate::shared::slow_reader;
use std::mem;

#[test]
fn guards_that_live_refuse_launches_and_forgotten_ones_for_ever() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let out = device.alloc_host::<[f32; 64]>()?.share();
    let mut graph = slow_reader(&device, &data, &out)?;
    graph.launch()?;
    let guard = out.read()?;
    let text = "graph `SlowReader`, memory `out`: is lent by a guard that is alive: drop the guard first";
    assert_eq!(graph.launch().unwrap_err().to_string(), text);
    let second = out.read()?;
    assert_eq!(*second, [0.0; 64], "many may read");
    refused(out.write()).reads("memory `buffer`: is lent by a guard that is alive: drop the guard first");
    drop(guard);
    assert_eq!(graph.launch().unwrap_err().to_string(), text);
    drop(second);
    graph.launch()?;
    let mut guard = out.write()?;
    guard[0] = 1.0;
    assert!(matches!(out.read(), Err(Error::InUse { .. })));
    assert!(matches!(graph.launch(), Err(Error::InUse { .. })));
    drop(guard);
    graph.launch()?;

    let data = device.alloc::<[f32; 64]>()?;
    let out = device.alloc_host::<[f32; 64]>()?.share();
    let mut graph = slow_reader(&device, &data, &out)?;
    mem::forget(out.write()?);
    assert!(matches!(graph.launch(), Err(Error::InUse { .. })));
    assert!(matches!(out.read(), Err(Error::InUse { .. })));
    drop(graph);
    assert!(out.into_unique().is_err());
    Ok(())
}

#[test]
fn readers_of_host_memory_get_along() -> Result<()> {
    let device = device();
    let input = device.alloc_host::<[f32; 64]>()?.share();
    let mut builder = GraphBuilder::new(&device, "Upload");
    let place = builder.shared("input", &input, false);
    let mut data = builder.device::<[f32; 64]>("data");
    builder.memcpy("upload", &place, &mut data);
    let mut graph = builder.build()?;
    input.write()?.fill(7.0);
    let guard = input.read()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, *guard);
    let guard = (guard, input.read()?);
    graph.launch()?;
    drop(guard);
    input.write()?.fill(8.0);
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [8.0; 64]);
    Ok(())
}

#[test]
fn parts_are_used_independently() -> Result<()> {
    let device = device();
    let host = device.alloc_host::<[[f32; 32]; 2]>()?.share();
    let (first, second) = (host.row(0)?, host.row(1)?);
    let data = device.alloc::<[f32; 32]>()?;
    data.copy_from(&counting())?;
    let mut builder = GraphBuilder::new(&device, "Row");
    let from = builder.shared("from", &data, false);
    let mut to = builder.shared("to", &first, true);
    builder.memcpy("download", &from, &mut to);
    let mut graph = builder.build()?;
    let mut guard = second.write()?;
    graph.launch()?;
    guard.fill(9.0);
    assert!(matches!(host.read(), Err(Error::InUse { .. }))); // it holds the part that is lent
    drop(guard);
    assert_eq!(*host.read()?, [counting(), [9.0; 32]]);
    Ok(())
}

#[test]
fn host_buffers_become_shared_and_unique_again() -> Result<()> {
    let device = device();
    let mut buffer = device.alloc_host::<[f32; 64]>()?;
    buffer.fill(1.0);
    let shared = SharedHost::from(buffer);
    let data = device.alloc::<[f32; 64]>()?;
    data.copy_from(&[6.0; 64])?;
    let mut graph = slow_reader(&device, &data, &shared)?;
    let shared = shared.into_unique().expect_err("the graph has a handle");
    graph.launch()?;
    drop(graph);
    let part = shared.row(0)?;
    drop(shared);
    let part = part.into_unique().expect_err("it leads to a part only");
    assert_eq!(*part.read()?, 6.0);
    let whole = device.alloc_host::<[f32; 64]>()?.share();
    let mut whole: HostBuffer<[f32; 64]> = whole.into_unique().expect("nobody else has it");
    whole[3] = 2.0;
    assert_eq!(whole[2..5], [0.0, 2.0, 0.0]);
    Ok(())
}

#[test]
fn shared_host_memory_is_not_borrowed_from_a_graph() -> Result<()> {
    let device = device();
    let host = device.alloc_host::<[f32; 64]>()?.share();
    let mut builder = GraphBuilder::new(&device, "Guarded");
    let place = builder.shared("x", &host, true);
    let mut graph = builder.build()?;
    let text =
        "graph `Guarded`, memory `x`: shared host memory is lent by guards: `SharedHost::read` and `SharedHost::write`";
    assert_eq!(graph.host(&place).unwrap_err().to_string(), text);
    assert_eq!(graph.host_mut(&place).unwrap_err().to_string(), text);
    assert_eq!(graph.split_host()?.take(&place).unwrap_err().to_string(), text);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn host_memory_of_other_kinds_of_device_is_refused() -> Result<()> {
    let device = cuda_device();
    let host = Device::emulator().alloc_host::<[f32; 64]>()?.share();
    let data = device.alloc::<[f32; 64]>()?;
    let built = slow_reader(&device, &data, &host);
    assert!(matches!(built, Err(Error::ForeignMemory { .. })));
    Ok(())
}

#[test]
fn guards_go_to_other_threads() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    data.copy_from(&[3.0; 64])?;
    let out = device.alloc_host::<[f32; 64]>()?.share();
    let mut graph = slow_reader(&device, &data, &out)?;
    graph.launch()?;
    std::thread::scope(|scope| -> Result<()> {
        let mut guard = out.write()?;
        scope.spawn(move || guard[0] += 1.0);
        Ok(())
    })?;
    assert_eq!(out.read()?[..2], [4.0, 3.0]);
    let other = out.clone();
    let read = std::thread::spawn(move || -> Result<f32> {
        graph.launch()?;
        Ok(other.read()?[0])
    });
    assert_eq!(read.join().expect("the thread ends")?, 3.0);
    Ok(())
}
