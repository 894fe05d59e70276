//! Host functions that stand for captured library calls where there is no CUDA.

use crate::common::{device, has};
use graph_runtime::cudarc::driver::result::memcpy_dtod_async;
use graph_runtime::{
    CaptureOptions, CapturedGraph, Device, DeviceBuffer, Error, GraphBuilder, OnDevice, Place, Result, cuda_graph,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

cuda_graph! {
    /// The calls of a library do what the stand-ins do; only these run here.
    graph Stands(n: usize, label: Arc<str>, seen: Arc<AtomicU32>) {
        host input: [[f32; 4]; 2];
        device rows: [[f32; 4]; 3];
        device table: [[f32; n]; 2];
        scratch sum: f32;
        device rounds: u32;
        host output: [[f32; 4]; 3];
        host total: f32;

        memcpy upload = input -> rows[..2];
        // Parts of one memory, and a value. The parameters have names of their own.
        capture add = (&rows[0], &mut rows[1..], 2.0_f32, &mut table) |stream| {
            let _ = (stream, &label);
        } else |first, others, factor, table| {
            assert_eq!((&*label, others.len(), table.lengths()), ("stands", 2, [2, n]));
            for (other, first) in others.as_flattened_mut().iter_mut().zip(first) {
                *other += factor * first;
            }
            table[[1, n - 1]] = 7.0;
        } after upload;
        memset twice = rounds <- 2;
        while more = rounds {
            for i in 0..2 {
                // In a body, where CUDA allows no host function.
                capture count = (&mut rounds, &mut rows[i]) |_stream| {} else |rounds, row| {
                    *rounds -= u32::from(i == 1);
                    row[0] += 100.0;
                    seen.fetch_add(1, Relaxed);
                };
            }
        } after twice, add;
        capture tally = (&table, &rows, &mut sum) |_stream| {} else |table, rows, sum| {
            *sum = table.as_flattened().iter().sum::<f32>() + rows[2][0];
        } after more;
        memcpy down  = rows -> output after more;
        memcpy whole = sum -> total after tally;
    }
}

#[test]
fn functions_stand_for_library_calls() -> Result<()> {
    if !device().is_emulator() {
        return Ok(()); // there they are never called
    }
    let seen = Arc::new(AtomicU32::new(0));
    let mut graph = Stands::build(&Device::emulator(), 3, "stands".into(), seen.clone())?;
    *graph.input_mut()? = [[1.0, 2.0, 3.0, 4.0], [10.0; 4]];
    graph.launch()?;
    let expected = [[201.0, 2.0, 3.0, 4.0], [212.0, 14.0, 16.0, 18.0], [0.0; 4]];
    assert_eq!(*graph.output()?, expected);
    assert_eq!((*graph.total()?, seen.load(Relaxed)), (7.0, 4));
    Ok(())
}

/// A copy of four numbers by a library, or by a function.
fn copied(builder: &mut GraphBuilder, otherwise: fn((&[f32; 4], &mut [f32; 4]))) -> [Place<[f32; 4], OnDevice>; 2] {
    let from = builder.device::<[f32; 4]>("from");
    let mut to = builder.device::<[f32; 4]>("to");
    builder.capture_or_else(
        "copy",
        (&from, &mut to),
        |stream| {
            let (from, to) = stream.memory();
            // SAFETY: it reads `from` and writes `to`, which have one length, as the node declares.
            unsafe { memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
            Ok(())
        },
        otherwise,
    );
    [from, to]
}

#[test]
fn calls_have_them_too() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Calls");
    let [from, to] = copied(&mut builder, |(from, to)| *to = *from);
    let mut graph = builder.build()?;
    graph.device_mut(&from)?.copy_from(&[1.0, 2.0, 3.0, 4.0])?;
    graph.launch()?;
    assert_eq!(*graph.device(&to)?.read()?, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn a_panic_in_one_is_reported_by_the_next_wait() -> Result<()> {
    if !device().is_emulator() {
        return Ok(());
    }
    let mut builder = GraphBuilder::new(&Device::emulator(), "Panics");
    copied(&mut builder, |_| panic!("no such library"));
    let mut graph = builder.build()?;
    graph.launch()?;
    let error = graph.synchronize().unwrap_err();
    assert!(matches!(&error, Error::Panicked { .. }), "{error}");
    has(error.to_string(), &["`copy`", "no such library"]);
    graph.launch()?;
    assert!(graph.synchronize().is_err(), "each launch calls it");
    Ok(())
}

/// `y += x`, recorded or by a function.
fn step(device: &Device, [x, y]: [&DeviceBuffer<[u32; 4]>; 2]) -> Result<(CapturedGraph, Place<[u32; 4], OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Step");
    let (from, mut to) = (builder.shared("x", x, false), builder.shared("y", y, true));
    let options = CaptureOptions {
        warm_up: 2,
        ..CaptureOptions::default()
    };
    let graph = builder.build_captured_or_else(
        options,
        (&from, &mut to),
        |_stream| Err("there is no such library".into()),
        |(from, to)| to.iter_mut().zip(from).for_each(|(to, from)| *to += from),
    )?;
    Ok((graph, from))
}

#[test]
fn captured_graphs_run_them_and_take_other_memory() -> Result<()> {
    if !device().is_emulator() {
        return Ok(());
    }
    let device = Device::emulator();
    let [x, y, other] = [(); 3].map(|()| device.alloc::<[u32; 4]>());
    let (x, y, other) = (x?, y?, other?);
    x.copy_from(&[1, 2, 3, 4])?;
    other.copy_from(&[10; 4])?;
    let (mut graph, place) = step(&device, [&x, &y])?;
    graph.launch()?;
    graph.record_again()?;
    graph.launch()?;
    graph.rebind(&place, &other)?;
    graph.launch()?;
    assert_eq!(*y.read()?, [12, 14, 16, 18]);
    Ok(())
}

#[test]
fn without_one_the_emulator_says_what_could_stand() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Alone");
    let data = builder.device::<[f32; 4]>("data");
    builder.capture("calls", (&data,), |_stream| Ok(()));
    let error = builder.build().unwrap_err().to_string();
    has(
        &error,
        &[
            "`calls`",
            "the CPU emulator has none",
            "`else |..| ..`",
            "`capture_or_else`",
        ],
    );
}
