//! Modules of CUDA that graphs share. (On the emulator, graphs share what was parsed: `traces`.)

use crate::common::*;
use crate::traces::Lines;
use std::time::{Duration, Instant};
use tracing::Dispatch;
use tracing::subscriber::with_default;

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `totals[i] += by`
    #[requires(threads <= 2)]
    safe fn add_totals(by: u32);
    /// `out[i] = totals[i % 2]`
    #[requires(threads <= out.len())]
    safe fn read_totals(out: &mut [u32]);
}

/// A graph of one kernel, over memory that holds 1.
fn one(device: &Device, kernel: impl FnOnce(&mut Place<[f32; 4], OnDevice>) -> KernelCall<3>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "One");
    let mut data = builder.device::<[f32; 4]>("data");
    builder.kernel("kernel", Launch::new(1, 4), kernel(&mut data));
    builder.build()
}

/// A graph that counts in a variable of its module, and tells what it has counted.
fn counting_in_a_variable(device: &Device) -> Result<(Graph, Place<[u32; 2], OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Counting");
    let mut out = builder.device::<[u32; 2]>("out");
    let add = builder.kernel("add", Launch::new(1, 2), add_totals::call(1));
    let read = builder.kernel("read", Launch::new(1, 2), read_totals::call(&mut out));
    builder.after(read, &[add]);
    Ok((builder.build()?, out))
}

#[test]
#[ignore = "needs a CUDA device"]
fn graphs_of_a_device_share_modules_whose_variables_they_do_not_write() -> Result<()> {
    cuda_device();
    let device = Device::cuda(0)?; // without delays, which are a module too
    let lines = Lines::default();
    let _second = Dispatch::new(Lines::default().listener());
    with_default(lines.listener(), || {
        let loads = || {
            let load = |line: &&String| line.contains("cuModuleLoadData") || line.contains("cuLibraryLoadData");
            lines.take().iter().filter(load).count()
        };
        let scaled = |data: &mut Place<_, _>| scale::call(data, 2.0, 4);
        let first = one(&device, scaled)?;
        assert_eq!(loads(), 1);
        let mut others = (0..4)
            .map(|_| one(&device.clone(), scaled))
            .collect::<Result<Vec<_>>>()?;
        assert_eq!(loads(), 0);
        drop(first); // the others keep the module
        others.iter_mut().try_for_each(Graph::launch)?;
        others.iter().try_for_each(Graph::synchronize)?;
        drop(others);
        one(&device, scaled)?;
        assert_eq!(loads(), 1, "the last graph has unloaded it");

        let (mut graph, out) = counting_in_a_variable(&device)?;
        let (mut other, other_out) = counting_in_a_variable(&device)?;
        assert_eq!(loads(), 2, "each graph has variables of its own");
        for _ in 0..3 {
            graph.launch()?;
        }
        other.launch()?;
        assert_eq!(*graph.device(&out)?.read()?, [13, 23]); // of 10 and 20
        assert_eq!(*other.device(&other_out)?.read()?, [11, 21]);
        Ok(())
    })
}

/// The least time of three calls.
fn least(mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = [Duration::MAX; 3];
    for time in &mut times {
        let begun = Instant::now();
        call()?;
        *time = begun.elapsed();
    }
    Ok(times.into_iter().min().unwrap_or_default())
}

#[test]
fn a_variable_of_a_large_module_is_found_without_parsing_the_module_again() -> Result<()> {
    let device = device();
    let mut text = include_str!("../kernels/constants.ptx").to_owned();
    for number in 0..20_000 {
        text += &format!(
            ".visible .entry other{number}() {{\n.reg .b32 %r<2>;\nmov.u32 %r1, {number};\nadd.u32 %r1, %r1, %r1;\nret;\n}}\n"
        );
    }
    let read = || device.module(Ptx::from_text("large.ptx", text.clone())?);
    let parsing = least(|| read().map(drop))?;
    let weigh = read()?.kernel("weigh")?;
    let define = || {
        let mut builder = GraphBuilder::new(&device, "Weighted");
        let mut data = builder.device::<[f32; 4]>("data");
        let mut table = builder.constant::<[f32; 4]>("table", "table");
        let set = builder.memset("set", &mut table, 2.0_f32);
        // SAFETY: four threads weigh an element each, of four.
        let call = unsafe { weigh.call([data.write()]) };
        let node = builder.kernel("weigh", Launch::new(1, 4), call);
        builder.after(node, &[set]);
        builder.define().map(drop)
    };
    define()?;
    let defining = least(define)?;
    assert!(defining < parsing / 4, "{defining:?} to define, {parsing:?} to parse");
    Ok(())
}
