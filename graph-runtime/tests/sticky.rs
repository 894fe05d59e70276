//! An error that ends all work of a process on the GPU. It has a test binary to itself.

mod common;

use common::*;

#[test]
#[ignore = "needs a CUDA device"]
fn sticky_errors_come_back_from_everything_and_drop_does_not_panic() -> Result<()> {
    let device = cuda_device();
    let (mut graph, index, out, _) = faulty(&device)?;
    let shared = device.alloc::<[f32; 4]>()?;
    let mut builder = GraphBuilder::new(&device, "Sharing");
    let mut place = builder.shared("shared", &shared, true);
    builder.memset("set", &mut place, 1.0_f32);
    let mut sharing = launched(builder.build())?;
    *graph.host_mut(&index)? = [0, 1, u32::MAX, 2];
    let error = block_on(graph.launch_async()?).unwrap_err();
    let fault =
        |error: &Error| matches!(error, Error::Cuda { source, .. } if source.name() == "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert!(fault(&error), "{error}");
    assert!(
        !error.to_string().contains("emulator"),
        "a future does not have the graph: {error}"
    );
    let explained = graph.explain(error).to_string();
    assert!(graph.launch_async().is_err());
    let error = graph.synchronize().unwrap_err();
    let Error::Cuda { source, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(source.name(), "CUDA_ERROR_ILLEGAL_ADDRESS");
    let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    let expected = [
        "graph `Faulty`: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        "note: a kernel that ran before has failed; CUDA does not say which, and every later call fails",
        // The index is in host memory, and no table has as many elements.
        "note: one launch of this graph on the CPU emulator fails at node `look_up`: kernel `gather`, block (0, 0, 0), thread (2, 0, 0), ",
        "note: the contents of `table`, `out` are lost, but it fails so whether they are zero or not",
        "help: run the program with `CUDA_GRAPH_DEBUG=1`, or build its graphs on `device.with_debug(..)`: then graphs run node by \
         node, and the error names the node",
    ];
    assert_eq!(lines.len(), expected.len(), "{error}");
    assert!(
        lines.iter().zip(expected).all(|(line, start)| line.starts_with(start)),
        "{error}"
    );
    assert!(lines[2].ends_with(", where nothing is"), "{error}");
    // An error of a future has the same notes, once it was explained.
    let notes = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(notes(&explained), notes(&error.to_string()));
    assert_eq!(graph.explain(error.clone()).to_string(), error.to_string());
    // It is looked for once.
    assert_eq!(graph.synchronize().unwrap_err().to_string(), error.to_string());
    assert!(graph.host(&index).is_err() && graph.device(&out).is_err() && graph.launch().is_err());
    assert!(shared.read().is_err() && shared.copy_from(&[0.0; 4]).is_err());
    assert!(sharing.launch().is_err());
    drop((graph, sharing, shared));
    assert!(device.alloc::<[f32; 4]>().is_err());
    Ok(())
}
