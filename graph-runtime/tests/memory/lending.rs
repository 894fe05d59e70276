//! Memory of others, lent to graphs for a scope without copying it: host memory, slices of cudarc's, raw addresses.

use crate::common::*;
use graph_runtime::cudarc::driver::{CudaContext, CudaSlice, DevicePtr, result, sys};
use std::sync::mpsc;

cuda_graph! {
    /// `to = 2 * from`, by way of `data`.
    graph Double(from: host [f32; 64], data: mut device [f32; 64], to: mut host [f32; 64]) {
        memcpy up   = from -> data;
        kernel two  = scale<<<1, 64>>>(&mut data, 2.0, 64) after up;
        memcpy down = data -> to                           after two;
    }
}

fn host(device: &Device) -> Result<HostBuffer<[f32; 64]>> {
    device.alloc_host()
}

#[test]
fn host_memory_is_lent_and_comes_back() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let (from, mut to) = (vec![1.5; 64], [0.0; 64]);
    let mut graph = device.scope(|scope| {
        let mut graph = launched(Double::build(&device, scope.lend(&from)?, &data, scope.lend(&mut to)?))?;
        graph.launch()?;
        Ok(graph)
    })?;
    assert_eq!(to, [3.0; 64]);

    // The graph waits for other memory; what is left of the old is of no use.
    let error = graph.launch().unwrap_err();
    assert!(matches!(error, Error::LoanEnded { .. }), "{error}");
    let text = "graph `Double`, memory `from`: was lent to a scope that has ended: bind other memory before launching";
    let other = text.replace("`from`", "`to`");
    assert!([text, &other].contains(&&*error.to_string()), "{error}");
    let mut next = [0.0; 64];
    let more = [4.0; 64];
    device.scope(|scope| {
        graph.rebind_from(scope.lend(&more)?)?;
        assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. }))); // `to` is still the old one
        graph.rebind_to(scope.lend(&mut next)?)?;
        graph.launch()
    })?;
    assert_eq!((to, next), ([3.0; 64], [8.0; 64]));

    // Memory that the graph shares in the usual way takes its place.
    let own = device.alloc_host::<[f32; 64]>()?.share();
    graph.rebind_from(&own)?;
    graph.rebind_to(host(&device)?.share())?;
    graph.launch()
}

#[test]
fn loans_are_not_used_for_longer_or_for_more() -> Result<()> {
    let device = device();
    let mut numbers = [1.0_f32; 64];
    let lent: SharedHost<[f32; 64]> = device.scope(|scope| scope.lend(&mut numbers))?;
    numbers.fill(2.0);
    let clone = lent.clone();
    assert!(matches!(lent.read().map(drop), Err(Error::LoanEnded { .. })));
    assert!(matches!(lent.write().map(drop), Err(Error::LoanEnded { .. })));
    assert!(matches!(lent.row(3)?.read().map(drop), Err(Error::LoanEnded { .. })));
    drop(clone);
    let lent = lent.into_unique().expect_err("it is not the handle's own memory");
    let data = device.alloc::<[f32; 64]>()?;
    let built = Double::build(&device, &lent, &data, host(&device)?);
    assert!(matches!(built.map(drop), Err(Error::LoanEnded { .. })));
    let own = host(&device)?.share();
    let mut graph = Double::build(&device, &own, &data, host(&device)?)?;
    assert!(matches!(graph.rebind_from(&lent), Err(Error::LoanEnded { .. })));
    graph.launch()?;

    let data = device.alloc::<[f32; 64]>()?;
    let numbers = [1.0_f32; 64];
    device.scope(|scope| {
        let lent = scope.lend(&numbers)?;
        refused(Double::build(&device, host(&device)?, &data, &lent))
            .reads("graph `Double`, memory `to`: is lent to be read only: lend it as `&mut` if a graph writes it");
        let mut graph = Double::build(&device, &lent, &data, host(&device)?)?;
        assert!(matches!(graph.rebind_to(&lent), Err(Error::Unsupported { .. })));
        graph.launch()?;
        // Two loans of one memory may both be read.
        let again = scope.lend(&numbers)?;
        graph.rebind_from(&again)?;
        graph.launch()?;
        // Guards would outlive the scope if they were forgotten.
        assert!(matches!(lent.read().map(drop), Err(Error::InUse { .. })));
        assert!(matches!(lent.write().map(drop), Err(Error::InUse { .. })));
        assert_eq!(data.read()?[..], [2.0; 64]);
        Ok(())
    })
}

#[test]
fn a_scope_ends_when_its_closure_fails_or_panics() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let from = device.alloc_host::<[f32; 64]>()?.share();
    let mut graph = Double::build(&device, &from, &data, host(&device)?)?;
    let mut numbers = [1.0_f32; 64];
    let failed = device.scope(|scope| -> Result<()> {
        graph.rebind_to(scope.lend(&mut numbers)?)?;
        graph.launch()?;
        Err(Error::NoDriver)
    });
    assert!(matches!(failed, Err(Error::NoDriver)));
    assert_eq!(numbers, [0.0; 64]);
    assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. })));

    from.write()?.fill(3.0);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        device.scope(|scope| -> Result<()> {
            graph.rebind_to(scope.lend(&mut numbers)?)?;
            graph.launch()?;
            panic!("in the closure");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(numbers, [6.0; 64]);
    assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. })));
    Ok(())
}

/// A launch of another thread that is under way when the scope ends is waited for; later ones are refused.
#[test]
fn launches_of_other_threads_end_before_the_scope() -> Result<()> {
    let device = device();
    let data = device.alloc::<[f32; 64]>()?;
    let mut from = vec![1.0_f32; 64];
    let mut to = [0.0; 64];
    for round in 0..10 {
        from.fill(round as f32);
        let (started, wait) = mpsc::channel();
        let thread = device.scope(|scope| {
            let mut graph = Double::build(&device, scope.lend(&from)?, &data, scope.lend(&mut to)?)?;
            let thread = std::thread::spawn(move || {
                for launch in 0.. {
                    match graph.launch() {
                        Ok(()) if launch == 0 => started.send(()).expect("the test waits"),
                        Ok(()) => {}
                        Err(error) => return error,
                    }
                }
                unreachable!("the scope ends")
            });
            wait.recv().expect("the thread launches");
            Ok(thread)
        })?;
        let before = to;
        from.fill(-1.0);
        assert_eq!(before, [2.0 * round as f32; 64]);
        let error = thread.join().expect("it does not panic");
        assert!(matches!(error, Error::LoanEnded { .. }), "{error}");
        assert_eq!(to, before, "nothing writes it any more");
    }
    Ok(())
}

/// Memory of one page that two threads lend again and again: neither page-locking nor the end of a scope disturbs the
/// neighbour.
#[test]
fn neighbours_in_one_page_are_lent_apart() -> Result<()> {
    let mut numbers = vec![0.0_f32; 256];
    let (first, second) = numbers.split_at_mut(128);
    let run = |part: &mut [f32], offset: usize| -> Result<()> {
        let device = device();
        let data = device.alloc::<[f32; 64]>()?;
        let own = [host(&device)?.share(), host(&device)?.share()];
        let mut graph = Double::build(&device, &own[0], &data, &own[1])?;
        let (from, to) = part.split_at_mut(64);
        for round in 0..50 {
            from.fill((round + offset) as f32);
            device.scope(|scope| {
                graph.rebind_from(scope.lend(&*from)?)?;
                graph.rebind_to(scope.lend(&mut *to)?)?;
                graph.launch()?;
                graph.launch()
            })?;
            assert_eq!(to, [2.0 * (round + offset) as f32; 64]);
        }
        Ok(())
    };
    std::thread::scope(|threads| {
        let other = threads.spawn(|| run(first, 0));
        run(second, 1000)?;
        other.join().expect("it does not panic")
    })
}

/// The driver refuses to page-lock memory a second time, so it tells whether lent memory still is.
#[test]
#[ignore = "needs a CUDA device"]
fn lent_memory_is_page_locked_until_the_scope_ends() -> Result<()> {
    let device = device();
    let mut numbers = vec![0.0_f32; 4096];
    let (start, bytes) = (numbers.as_mut_ptr(), size_of_val(&*numbers));
    let is_free = || {
        // SAFETY: the memory lives until the test ends.
        let registered = unsafe { sys::cuMemHostRegister_v2(start.cast(), bytes, 0) };
        // SAFETY: the memory was page-locked by the line before, and nothing has used it since.
        registered.result().is_ok() && unsafe { sys::cuMemHostUnregister(start.cast()) }.result().is_ok()
    };
    assert!(is_free());
    for _ in 0..2 {
        device.scope(|scope| {
            // SAFETY: `numbers` lives until the scope has ended, and is not touched by other means.
            let lent = unsafe { std::slice::from_raw_parts_mut(start, 4096) };
            let _kept = scope.lend(&mut *lent)?;
            assert!(!is_free(), "it is page-locked while it is lent");
            Ok(())
        })?;
        assert!(is_free(), "the last loan unlocks it");
    }
    Ok(())
}

#[test]
fn nothing_is_lent_in_a_host_function_and_empty_memory_is() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Inner");
    let mut refused = builder.host::<u32>("refused");
    let inner = device.clone();
    builder.call("lend", (&mut refused,), move |(refused,)| {
        let result = inner.scope(|_| Ok(()));
        *refused = u32::from(matches!(result, Err(Error::InUse { .. })));
    });
    let graph = launched(builder.build())?;
    assert_eq!(graph.host(&refused)?, &1);

    let (nothing, units): (Vec<f32>, [(); 3]) = (Vec::new(), [(); 3]);
    device.scope(|scope| {
        assert_eq!(scope.lend(&nothing)?.len(), 0);
        scope.lend(&units).map(drop)
    })
}

cuda_graph! {
    /// `x += 1`, and `sum[i] += x[i]`
    graph Step(x: mut device [u32; 64], sum: mut device [u32; 64]) {
        kernel up  = add_to<<<1, 64>>>(&mut x, 1);
        kernel add = accumulate<<<1, 64>>>(&x, &mut sum) after up;
    }

    graph Sum(x: device [u32; 64], sum: mut device [u32; 64]) {
        kernel add = accumulate<<<1, 64>>>(&x, &mut sum);
    }
}

/// The address that the kernels of a graph have got.
fn address(slice: &CudaSlice<u32>) -> u64 {
    slice.device_ptr(slice.stream()).0
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_slice_of_cudarc_gets_results_without_a_copy() -> Result<()> {
    let device = cuda_device();
    let stream = device.context().expect("a context").new_stream().expect("a stream");
    let mut x = stream.clone_htod(&[5_u32; 64]).expect("a copy");
    let sum = device.alloc::<[u32; 64]>()?;
    let before = address(&x);
    let mut graph = device.scope(|scope| {
        let lent = scope.lend(&mut x)?;
        let mut graph = launched(Step::build(&device, &lent, &sum))?;
        graph.launch_on(&stream)?;
        graph.launch()?;
        // SAFETY: nothing is done with the memory that is lent on.
        let lent_on = unsafe { lent.as_cudarc() }.map(drop);
        assert!(matches!(lent_on, Err(Error::InUse { .. })));
        Ok(graph)
    })?;
    assert_eq!(address(&x), before, "it is the same memory");
    assert_eq!(stream.clone_dtoh(&x).expect("a copy"), [8; 64]);
    assert_eq!(sum.read()?[..], [6 + 7 + 8; 64]);
    assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. })));

    // Views, half by half, and memory that is only read. cudarc's work before the loan is waited for.
    let mut halves = stream.alloc_zeros::<u32>(128).expect("memory");
    stream.memcpy_htod(&[100_u32; 128], &mut halves).expect("a copy");
    device.scope(|scope| {
        let (first, second) = halves.split_at_mut(64);
        graph.rebind_x(scope.lend(first)?)?;
        graph.rebind_sum(scope.lend(second)?)?;
        graph.launch()
    })?;
    let expected = [[101; 64], [201; 64]].concat();
    assert_eq!(stream.clone_dtoh(&halves).expect("a copy"), expected);
    let mut sum_of_read = Sum::build(&device, device.alloc::<[u32; 64]>()?, &sum)?;
    device.scope(|scope| {
        let read = scope.lend(&x)?;
        sum_of_read.rebind_x(&read)?;
        assert!(matches!(graph.rebind_x(&read), Err(Error::Unsupported { .. })));
        sum_of_read.launch()?;
        let part = scope.lend(halves.slice(64..))?;
        sum_of_read.rebind_x(&part)?;
        sum_of_read.launch()
    })?;
    drop(x);
    assert_eq!(sum.read()?[..], [21 + 8 + 201; 64]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn slices_of_other_contexts_are_not_lent() -> Result<()> {
    let device = cuda_device();
    let stream = device.context().expect("a context").new_stream().expect("a stream");
    let slice = stream.clone_htod(&[1_u32; 4]).expect("a copy");
    let refused = Device::emulator().scope(|scope| scope.lend(&slice).map(drop));
    assert!(matches!(refused, Err(Error::ForeignMemory { .. })));
    let other = Device::from(CudaContext::new_non_primary(0, 0).expect("a second context"));
    let refused = other.scope(|scope| scope.lend(&slice).map(drop));
    assert!(matches!(refused, Err(Error::ForeignMemory { .. })));
    Ok(())
}

#[test]
fn raw_addresses_are_refused_where_they_are_none() {
    // SAFETY: these addresses are refused.
    refused(unsafe { device().buffer_from_raw_parts::<u32>(63, 1) }).says("it is not aligned");
    // SAFETY: as above.
    refused(unsafe { device().buffer_from_raw_parts::<u32>(u64::MAX - 3, 2) }).says("beyond all addresses");
    // SAFETY: as above.
    refused(unsafe { Device::emulator().buffer_from_raw_parts::<u8>(64, 3) }).says("multiples of 4");
}

#[test]
fn an_address_of_the_host_is_memory_of_a_graph_on_the_emulator() -> Result<()> {
    let device = Device::emulator();
    let mut numbers = [0_u32; 64];
    let first = &raw mut numbers;
    // SAFETY: 64 initialised elements, which are used here only, until the graph and the buffer are gone.
    let x: DeviceBuffer<[u32]> = unsafe { device.buffer_from_raw_parts(first.expose_provenance() as u64, 64) }?;
    let sum = device.alloc::<[u32; 64]>()?;
    let graph = launched(launched(Step::build(&device, &x, &sum)))?;
    assert_eq!((x.read_vec()?, sum.read()?.to_vec()), (vec![2; 64], vec![3; 64]));
    drop((graph, x));
    assert_eq!(numbers, [2; 64]);
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_raw_address_is_memory_of_a_graph() -> Result<()> {
    let device = cuda_device();
    device.context().expect("a context").bind_to_thread().expect("it binds");
    // SAFETY: the context is current.
    let address = unsafe { result::malloc_sync(64 * size_of::<u32>()) }.expect("memory");
    // SAFETY: the memory was just allocated.
    unsafe { result::memset_d8_sync(address, 0, 64 * size_of::<u32>()) }.expect("it is set");
    // SAFETY: 64 initialised elements, which are freed below, when the graph and the buffer are gone.
    let x: DeviceBuffer<[u32]> = unsafe { device.buffer_from_raw_parts(address, 64) }?;
    let sum = device.alloc::<[u32; 64]>()?;
    let graph = launched(launched(Step::build(&device, &x, &sum)))?;
    assert_eq!((x.read_vec()?, sum.read()?.to_vec()), (vec![2; 64], vec![3; 64]));
    drop((graph, x));
    let mut seen = [0_u32; 64];
    // SAFETY: the memory has this length, and nothing uses it.
    unsafe { result::memcpy_dtoh_sync(&mut seen, address) }.expect("a copy");
    // SAFETY: as above.
    unsafe { result::free_sync(address) }.expect("it is freed");
    assert_eq!(seen, [2; 64]);
    Ok(())
}

#[test]
fn loans_take_part_in_the_order_of_shared_memory() -> Result<()> {
    let device = device();
    let mut numbers = [1.0_f32; 64];
    let data = device.alloc::<[f32; 64]>()?;
    device.scope(|scope| {
        let lent = scope.lend(&mut numbers)?;
        let own: HostBuffer<[f32; 64]> = host(&device)?;
        let mut write = Double::build(&device, own, &data, &lent)?;
        let mut read = Double::build(&device, &lent, device.alloc::<[f32; 64]>()?, host(&device)?)?;
        for _ in 0..10 {
            read.launch()?;
            write.launch()?;
        }
        assert_eq!(read.to()?.to_vec(), [0.0; 64]);
        refused(Double::build(&device, &lent, &data, &lent)).says("[aliased-argument]");
        Ok(())
    })?;
    assert_eq!(numbers, [0.0; 64]);
    Ok(())
}
