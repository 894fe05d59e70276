//! Nodes that other libraries make: recorded, added by hand, loaded, and joined by events.

use super::*;
use crate::common::library::{copy, set_by_node};

cuda_graph! {
    /// Nodes of other libraries, loaded functions, events, attributes, programmatic edges.
    graph Library(add: CudaFunction, ready: Event, done: Event) {
        host   input:  [u32; 4];
        device data:   [u32; 4];
        device copies: [u32; 4];
        device raws:   [u32; 4];
        device high:   [u32; 64];
        device pairs:  [u32; 256];
        device met:    [[u32; 4]; 3];
        device early:  [[u32; 64]; 2];
        host   output: [[u32; 4]; 2];

        wait    start = ready;
        memcpy  upload = input -> data after start;
        // SAFETY: `add_to` adds to as many elements as there are threads.
        kernel  added = unsafe (add)<<<1, 4>>>(&mut data, 1_u32) after upload;
        capture captured = (&data, &mut copies) |stream| {
            let _scratch = stream.workspace(64)?;
            let five = stream.prepare(|| Ok(5_u32))?;
            if *five != 5 {
                return Err(BoxError::from("it was 5"));
            }
            copy(stream.cu_stream(), &data, &copies)?;
            Ok(())
        } after added;
        // SAFETY: the node writes what it declares, after all that it is given.
        raw     by_hand = unsafe (&mut raws) |graph, after| {
            set_by_node(graph, after, raws.address(), 8, [4, 4])
        } after captured;
        memcpy  first  = copies -> output[0] after captured;
        memcpy  second = raws -> output[1]   after by_hand;
        record  end = &done after first, second;
        #[priority(-1)]
        kernel  soon  = number<<<2, 32>>>(&mut high);
        #[cluster(16)]
        kernel  large = number<<<16, 16>>>(&mut pairs);
        memset  none  = met[0] <- 0;
        // SAFETY: all blocks run at the same time, and `none` has cleared the counter.
        #[cooperative]
        kernel  meeting = unsafe meet<<<4, 1>>>(&mut met[0][..1], &mut met[1], &mut met[2]) after none;
        kernel  begin = slow_write<<<2, 32>>>(&mut early[0], 3, 0);
        kernel  next  = step<<<2, 32>>>(&early[0], &mut early[1]) after programmatic(begin);
    }
}

pub(crate) fn library(device: &Device, run: &mut Run) -> Result<()> {
    let module = context(device).load_module(Ptx::from_src(include_str!("../../kernels/conditionals.ptx")));
    let add = module
        .and_then(|module| module.load_function("add_to"))
        .expect("the kernel is there");
    let (ready, done) = (device.event()?, device.event()?);
    let mut graph = run.step(|| Library::build(device, add.clone(), ready.clone(), done.clone()))?;
    run.built(graph.raw());
    run.step(|| graph.input_mut().map(|input| *input = [1, 2, 3, 4]))?;
    run.step(|| graph.launch())?;
    run.step(|| done.synchronize())?;
    assert_eq!(run.step(|| graph.output().copied())?, [[2, 3, 4, 5], [8; 4]]);
    assert_eq!(run.step(|| Ok(graph.met()?.read()?[2]))?, [10; 4]);
    assert_eq!(run.step(|| Ok(graph.early()?.read()?[1][63]))?, 4);
    Ok(())
}

/// A captured graph, recorded again with other memory and with other work.
pub(crate) fn captured(device: &Device, run: &mut Run) -> Result<()> {
    let buffers = [run.step(|| device.alloc::<[u8; 64]>())?, run.step(|| device.alloc())?];
    let options = CaptureOptions {
        mode: CaptureMode::Global,
        warm_up: 2,
    };
    let nodes = Arc::new(AtomicUsize::new(1));
    let build = || {
        let mut builder = GraphBuilder::new(device, "Captured");
        let mut place = builder.shared("data", &buffers[0], true);
        let nodes = nodes.clone();
        let graph = builder.build_captured(options, (&mut place,), move |stream| {
            let nodes = nodes.load(Relaxed);
            let (data,) = stream.memory();
            let handle = stream.prepare(|| Ok(7_u8))?;
            let workspace = stream.workspace(64 * nodes)?;
            for _ in 0..nodes {
                // SAFETY: both have this number of bytes, and the graph says that it writes `data`.
                unsafe { result::memset_d8_async(workspace.address(), *handle, 64, stream.cu_stream()) }?;
                // SAFETY: as above.
                unsafe { result::memcpy_dtod_async(data.address(), workspace.address(), 64, stream.cu_stream()) }?;
            }
            Ok(())
        });
        Ok((graph?, place))
    };
    let (mut graph, place) = run.step(build)?;
    assert_eq!(run.step(|| Ok(*buffers[0].read()?))?, [7; 64]);
    run.step(|| graph.launch())?;
    run.step(|| graph.rebind(&place, &buffers[1]))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| Ok(*buffers[1].read()?))?, [7; 64]);
    for count in [1, 2] {
        nodes.store(count, Relaxed);
        run.step(|| graph.record_again())?;
        run.step(|| graph.launch())?;
    }
    assert_eq!(run.step(|| Ok(*buffers[1].read()?))?, [7; 64]);

    let stream = new_stream(device);
    let record = || {
        let mut builder = GraphBuilder::new(device, "Begun");
        let mut place = builder.shared("data", &buffers[0], true);
        // SAFETY: until the capture ends, only the memset below is queued on the stream.
        let capture = unsafe { builder.begin_capture(&stream, CaptureMode::ThreadLocal, (&mut place,)) }?;
        // SAFETY: as above; the memory has 64 bytes.
        let queued = unsafe { result::memset_d8_async(capture.memory().0.address(), 9, 64, stream.cu_stream()) };
        queued.expect("it is queued");
        capture.end()
    };
    let mut graph = run.step(record)?;
    run.step(|| graph.launch_on(&stream))?;
    assert_eq!(run.step(|| Ok(*buffers[0].read()?))?, [9; 64]);
    Ok(())
}
