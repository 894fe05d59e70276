//! A graph over memory that others own, borrowed for a scope, and over a generator of others.

use crate::common::tensor::{Kept, Log, Tensor};
use crate::common::*;
use crate::graphs::Run;
use std::sync::Arc;

cuda_graph! {
    graph Lending(
        from: host [u32; 64],
        numbers: mut device [u32; 64],
        to: mut host [u32; 64],
        generator: &Generator,
    ) {
        rng    noise = generator, draws 4;
        kernel draw  = draw_numbers<<<1, 16>>>(&noise, &mut numbers, 4);
        memcpy down  = numbers[32..] -> to[32..] after draw;
        memcpy up    = from[..32] -> numbers[..32] after draw;
        memcpy back  = numbers[..32] -> to[..32] after up;
    }
}

pub(crate) fn lending(device: &Device, run: &mut Run) -> Result<()> {
    let stream = new_stream(device);
    let generator = run.step(|| device.generator(5))?;
    let (from, mut to) = (vec![3; 64], [0; 64]);
    let mut slice = stream.clone_htod(&[0_u32; 64]).expect("cudarc copies");
    let mut graph = run.step(|| {
        device.scope(|scope| {
            let (from, to) = (scope.lend(&from)?, scope.lend(&mut to)?);
            let mut graph = Lending::build(device, from, scope.lend(&mut slice)?, to, &generator)?;
            graph.launch()?;
            graph.launch_on(&stream)?;
            Ok(graph)
        })
    })?;
    assert_eq!(to[..32].to_vec(), vec![3; 32]);
    assert_eq!(
        to[32..].to_vec(),
        stream.clone_dtoh(&slice).expect("cudarc copies")[32..].to_vec(),
    );
    assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. })));
    let state = run.step(|| generator.state())?;
    run.step(|| generator.set_state(state))?;
    let data = run.step(|| device.alloc::<[u32; 64]>())?;
    run.step(|| {
        device.scope(|scope| {
            graph.rebind_from(scope.lend(&from)?)?;
            graph.rebind_to(scope.lend(&mut to)?)?;
            graph.rebind_numbers(&data)?;
            graph.launch()
        })
    })?;
    assert_eq!(to[..32].to_vec(), vec![3; 32]);
    run.step(|| graph.noise().state())?;
    run.step(|| graph.noise().reseed(1))
}

/// Memory of others that graphs keep: its owner hears of the end of each use, whatever fails.
pub(crate) fn adopting(device: &Device, run: &mut Run) -> Result<()> {
    let log = Arc::new(Log::default());
    let stream = new_stream(device);
    let tensor = Arc::new(Tensor::new(device, 1, &log));
    let memory = run.step(|| device.adopt(Kept(tensor.clone())))?;
    let memory: DeviceBuffer<[u32]> = memory.cast()?;
    let (mut graph, out) = run.step(|| {
        let mut builder = GraphBuilder::new(device, "Adopting");
        let words = builder.shared("words", &memory, true);
        let mut out = builder.host::<[u32; 2]>("out");
        let set = builder.memset("set", &mut words.row(0), 7_u32);
        let copy = builder.memcpy("copy", &words.rows_from::<2>(0), &mut out);
        builder.after(copy, &[set]);
        Ok((builder.build()?, out))
    })?;
    run.step(|| graph.launch())?;
    run.step(|| graph.launch_on(&stream))?;
    assert_eq!(run.step(|| graph.host(&out).copied())?, [7, 0x0101_0101]);
    run.step(|| memory.rows(1..2)?.copy_from(&[9]))?;
    drop(graph);
    assert_eq!(run.step(|| memory.rows(..3)?.read_vec())?, [7, 9, 0x0101_0101]);
    drop(memory);
    let [before, after, _] = log.counts();
    assert_eq!(before, after);
    Ok(())
}
