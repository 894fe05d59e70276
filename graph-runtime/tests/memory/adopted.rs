//! Memory of others that graphs keep, and whose owners order their own work.

use crate::common::tensor::{Kept, Log, Tensor};
use crate::common::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

type Words = [u32; Tensor::LEN];

/// All words of this byte.
fn words(byte: u8) -> Words {
    [u32::from_ne_bytes([byte; 4]); Tensor::LEN]
}

fn adopt(device: &Device, byte: u8, log: &Arc<Log>) -> Result<DeviceBuffer<[u32]>> {
    device.adopt(Tensor::new(device, byte, log))?.cast()
}

/// Takes its time, and copies the words to the host.
fn reader(device: &Device, words: &DeviceBuffer<[u32]>) -> Result<(Graph, SharedHost<Words>)> {
    let out = device.alloc_host::<Words>()?.share();
    let mut builder = GraphBuilder::new(device, "Reader");
    let from = builder.shared("from", words, false);
    let mut to = builder.shared("to", &out, true);
    let mut flag = builder.device::<[u32; 1]>("flag");
    let delay = builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let copy = builder.memcpy("copy", &from.rows_from::<{ Tensor::LEN }>(0), &mut to);
    builder.after(copy, &[delay]);
    Ok((builder.build()?, out))
}

/// Sets the first word.
fn writer(device: &Device, words: &DeviceBuffer<[u32]>, value: u32) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Writer");
    let to = builder.shared("to", words, true);
    builder.memset("set", &mut to.row(0), value);
    builder.build()
}

#[test]
fn a_graph_uses_memory_of_others_between_two_calls() -> Result<()> {
    let device = device();
    let log = Arc::new(Log::default());
    let memory = adopt(&device, 1, &log)?;
    assert_eq!(
        (memory.len(), log.counts()),
        (Tensor::LEN, [0, 0, 0]),
        "nothing was waited for"
    );
    assert_eq!((memory.read_vec()?, log.counts()), (words(1).to_vec(), [1, 1, 0]));
    let (mut reader, out) = reader(&device, &memory)?;
    let mut writer = writer(&device, &memory, 7)?;
    let mut expected = words(1);
    expected[0] = 7;
    writer.launch()?;
    reader.launch()?;
    assert_eq!((*out.read()?, log.counts()), (expected, [3, 3, 0]));
    memory.rows(2..4)?.copy_from(&[8, 9])?;
    (expected[2], expected[3]) = (8, 9);
    block_on(reader.launch_async()?)?;
    assert_eq!((*out.read()?, log.counts()), (expected, [5, 5, 0]));
    let streams = log.streams.lock().expect("no panic").clone();
    assert!(streams.iter().all(|&stream| (stream == 0) == device.is_emulator()));
    drop((memory, writer));
    reader.launch()?;
    assert_eq!((*out.read()?, log.counts()), (expected, [6, 6, 0]));
    drop(reader);
    assert_eq!(log.counts(), [6, 6, 1]);
    Ok(())
}

#[test]
fn parts_of_one_tensor_are_told_to_its_owner_once() -> Result<()> {
    let device = device();
    let log = Arc::new(Log::default());
    let arena = device.adopt(Tensor::new(&device, 1, &log))?;
    let mut builder = GraphBuilder::new(&device, "Parts");
    for part in 0..8 {
        let place = builder.shared(
            format!("part{part}"),
            &arena.rows(32 * part..32 * (part + 1))?.cast::<f32>()?,
            true,
        );
        builder.memset(format!("set{part}"), &mut place.row(part), part as f32);
    }
    let mut graph = launched(builder.build())?;
    graph.launch()?;
    assert_eq!(log.counts(), [2, 2, 0]);
    graph.profile(2)?;
    assert_eq!(log.counts(), [4, 4, 0]);
    let numbers = arena.cast::<f32>()?.read_vec()?;
    (0..8).for_each(|part| assert_eq!(numbers[9 * part], part as f32));
    Ok(())
}

#[test]
fn memory_is_kept_for_launches_in_flight_whatever_is_dropped_first() -> Result<()> {
    let device = device();
    // Each order of dropping two graphs, the handle, and a definition.
    for order in 0..24 {
        let log = Arc::new(Log::default());
        let memory = adopt(&device, 3, &log)?;
        let (mut first, first_out) = reader(&device, &memory)?;
        let mut builder = GraphBuilder::new(&device, "Again");
        let from = builder.shared("from", &memory, false);
        let mut sum = builder.device::<Words>("sum");
        builder.kernel("add", Launch::new(1, 64), accumulate::call(&from, &mut sum));
        let mut definition = builder.define()?;
        let mut second = definition.instantiate(InstantiateOptions::default())?;
        let (mut third, third_out) = reader(&device, &memory)?;
        first.launch()?;
        second.launch()?;
        third.launch()?;
        second.launch()?;
        let mut values: Vec<Box<dyn std::any::Any>> = vec![
            Box::new(memory),
            Box::new(first),
            Box::new((definition, second)),
            Box::new(third),
        ];
        let mut choice = order;
        while !values.is_empty() {
            assert_eq!(log.counts()[2], 0, "{} are left", values.len());
            drop(values.swap_remove(choice % values.len()));
            choice /= values.len() + 1;
        }
        assert_eq!(log.counts(), [4, 4, 1]);
        assert_eq!((*first_out.read()?, *third_out.read()?), (words(3), words(3)));
    }
    Ok(())
}

#[test]
fn work_of_the_owner_and_of_graphs_follow_each_other() -> Result<()> {
    let device = device();
    let log = Arc::new(Log::default());
    let tensor = Arc::new(Tensor::new(&device, 1, &log));
    let memory: DeviceBuffer<[u32]> = device.adopt(Kept(tensor.clone()))?.cast()?;
    let (mut reader, out) = reader(&device, &memory)?;
    let mut late = writer(&device, &device.alloc_slice::<u32>(4)?, 1)?;
    for byte in 2..20 {
        if let Some(stream) = tensor.stream() {
            late.launch_on(stream)?; // the owner's work comes later
        }
        tensor.set(byte);
        match tensor.stream().filter(|_| byte % 3 == 0) {
            Some(stream) => reader.launch_on(stream)?,
            None => reader.launch()?,
        }
        tensor.set(99); // after the launch
        assert_eq!(*out.read()?, words(byte));
        assert_eq!(memory.read_vec()?, words(99));
    }
    Ok(())
}

#[test]
fn rebinding_and_children_keep_memory_of_others() -> Result<()> {
    let device = device();
    let logs: [Arc<Log>; 3] = Default::default();
    let memory: Vec<_> = (1..)
        .zip(&logs)
        .map(|(byte, log)| adopt(&device, byte, log))
        .collect::<Result<_>>()?;
    let out = device.alloc_host::<Words>()?.share();
    let mut builder = GraphBuilder::new(&device, "Rebound");
    let from = builder.shared("from", &memory[0], false);
    let mut to = builder.shared("to", &out, true);
    builder.memcpy("copy", &from.rows_from::<{ Tensor::LEN }>(0), &mut to);
    let mut graph = builder.build()?;
    for (byte, memory) in (1..).zip(memory) {
        graph.rebind(&from, &memory)?;
        drop(memory);
        graph.launch()?;
        assert_eq!(*out.read()?, words(byte));
    }
    assert_eq!(logs.clone().map(|log| log.counts()), [[1, 1, 1], [1, 1, 1], [1, 1, 0]]);
    drop(graph);
    assert_eq!(logs[2].counts(), [1, 1, 1]);
    Ok(())
}

#[test]
fn an_owner_that_panics_leaves_nothing_half_done() -> Result<()> {
    let device = device();
    let logs: [Arc<Log>; 2] = Default::default();
    let [first, second] = [1, 2].map(|byte| adopt(&device, byte, &logs[byte as usize - 1]));
    let (first, second) = (first?, second?);
    let mut builder = GraphBuilder::new(&device, "Both");
    let to = [("first", &first), ("second", &second)].map(|(name, memory)| builder.shared(name, memory, true));
    for (name, place) in ["set_first", "set_second"].into_iter().zip(to) {
        builder.memset(name, &mut place.row(0), 7_u32);
    }
    let mut graph = builder.build()?;
    let panics = |graph: &mut Graph| catch_unwind(AssertUnwindSafe(|| graph.launch())).is_err();
    for log in &logs {
        log.panics_before.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(panics(&mut graph));
    }
    assert_eq!(
        (first.rows(..1)?.read_vec()?, second.rows(..1)?.read_vec()?),
        (vec![words(1)[0]], vec![words(2)[0]])
    );
    for log in &logs {
        let [before, after, _] = log.counts();
        assert_eq!(before, after, "who was called before is called after");
        log.panics_after.store(true, std::sync::atomic::Ordering::SeqCst);
    }
    assert!(panics(&mut graph));
    assert_eq!(
        (first.rows(..1)?.read_vec()?, second.rows(..1)?.read_vec()?),
        (vec![7], vec![7])
    );
    graph.launch()?;
    graph.synchronize()?;
    drop((graph, first, second));
    for log in logs {
        let [before, after, dropped] = log.counts();
        assert_eq!((before, dropped), (after, 1));
    }
    Ok(())
}

#[test]
fn copies_whose_owner_panics_are_made_later() -> Result<()> {
    let device = device();
    let log = Arc::new(Log::default());
    let memory = adopt(&device, 5, &log)?;
    for panics in [&log.panics_before, &log.panics_after] {
        panics.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(catch_unwind(AssertUnwindSafe(|| memory.read_vec())).is_err());
        assert_eq!(memory.read_vec()?, words(5));
    }
    Ok(())
}

#[test]
fn one_memory_adopted_twice_is_one_memory() -> Result<()> {
    let device = device();
    let log = Arc::new(Log::default());
    let tensor = Arc::new(Tensor::new(&device, 1, &log));
    let twice = [0; 2].map(|_| {
        device
            .adopt(Kept(tensor.clone()))
            .and_then(|memory| memory.cast::<u32>())
    });
    let [first, second] = twice;
    let (first, second) = (first?, second?);
    let both = |write| {
        let mut builder = GraphBuilder::new(&device, "Both");
        let from = builder.shared("from", &first, false);
        let mut to = builder.shared("to", &second, write);
        match write {
            true => _ = builder.memcpy("copy", &from, &mut to),
            false => {
                let mut out = builder.device::<Words>("out");
                builder.memcpy("copy", &to.rows_from::<{ Tensor::LEN }>(0), &mut out);
            }
        }
        builder.build()
    };
    refused(both(true)).says("`from` and `to` are shared memory that overlaps");
    both(false)?.launch()?;
    assert_eq!(log.counts()[0], log.counts()[1]);
    Ok(())
}

#[test]
fn memory_of_another_device_is_refused() -> Result<()> {
    /// Memory that claims to be somewhere.
    struct Odd(u64, usize, *mut std::ffi::c_void);
    // SAFETY: it is an address, which nobody follows.
    unsafe impl Send for Odd {}
    // SAFETY: as above.
    unsafe impl Sync for Odd {}
    // SAFETY: the memory is refused, so nothing uses it.
    unsafe impl DeviceMemory for Odd {
        fn address(&self) -> u64 {
            self.0
        }

        fn bytes(&self) -> usize {
            self.1
        }

        fn context(&self) -> *mut std::ffi::c_void {
            self.2
        }

        fn before(&self, _: handles::CUstream) {}

        fn after(&self, _: handles::CUstream) {}
    }
    let device = device();
    let other = ptr::without_provenance_mut(8);
    let here = device.raw().map_or(ptr::null_mut(), |context| context.cast());
    assert!(matches!(
        device.adopt(Odd(64, 64, other)),
        Err(Error::ForeignMemory { .. })
    ));
    refused(device.adopt(Odd(u64::MAX - 3, 64, here))).says("its end is beyond all addresses");
    if device.is_emulator() {
        for (address, bytes) in [(62, 64), (64, 62)] {
            refused(device.adopt(Odd(address, bytes, here))).says("must be multiples of 4");
        }
        refused(device.adopt(Odd(0, 64, here))).says("the null address");
    } else {
        assert!(matches!(
            device.adopt(Odd(64, 64, ptr::null_mut())),
            Err(Error::ForeignMemory { .. })
        ));
        assert!(matches!(
            Device::emulator().adopt(Odd(64, 64, here)),
            Err(Error::ForeignMemory { .. })
        ));
    }
    assert_eq!(device.adopt(Odd(64, 0, here))?.bytes(), 0);
    assert_eq!(device.adopt(Odd(64, 0, ptr::null_mut()))?.bytes(), 0);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn adopted_memory_is_not_lent_on_to_cudarc() -> Result<()> {
    let device = cuda_device();
    let memory = adopt(&device, 1, &Arc::default())?;
    // SAFETY: the slice is refused.
    refused(unsafe { memory.as_cudarc() }.map(drop)).says("its owner has it");
    Ok(())
}

#[test]
fn an_arena_has_parts_of_all_types() -> Result<()> {
    let arena = device().alloc_slice::<u8>(64)?;
    let numbers = arena.rows(8..24)?.cast::<u32>()?;
    numbers.copy_from(&[1, 2, 3, 4])?;
    assert_eq!(
        arena.rows(8..24)?.cast::<u64>()?.read_vec()?,
        [1 | 2 << 32, 3 | 4 << 32]
    );
    assert_eq!(*arena.rows(8..)?.cast::<[u32; 2]>()?.row(1)?.read()?, [3, 4]);
    assert_eq!(numbers.cast::<u8>()?.len(), 16);
    assert!(arena.rows(8..8)?.cast::<u32>()?.is_empty());
    refused(arena.rows(2..18)?.cast::<u32>())
        .reads("memory `buffer`: does not begin where such elements may be: begin at a multiple of their alignment");
    refused(arena.rows(4..11)?.cast::<u32>()).reads(
        "memory `buffer`: has no whole number of such elements: by `rows`, select a multiple of their size, which is not 0",
    );
    refused(arena.cast::<[u32; 0]>()).says("which is not 0");
    Ok(())
}
