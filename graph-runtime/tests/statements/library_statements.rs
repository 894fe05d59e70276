//! `capture` and `raw` in `cuda_graph!`. They need a CUDA device; on the emulator building them says so.

use crate::common::library::{copy, set_by_node};
use crate::common::*;
use graph_runtime::cudarc::driver::result;

cuda_graph! {
    graph Library(shift: f32) {
        host input: [f32; 4];
        device rows: [[f32; 4]; 3];
        device out: [f32; 4];
        host output: [[f32; 4]; 2];
        device back: [[f32; 4]; 2];

        memcpy upload = input -> rows[0];
        /// A name for each piece of memory.
        capture named = (&out, &mut back[0]) |stream| {
            copy(stream.cu_stream(), &out, &back)?;
            Ok(())
        } after by_hand;
        // Two parts of one resource, named by the closure; a body without a value.
        capture parts = (&rows[0], &mut rows[1], 2) |stream| {
            let (from, to, two) = stream.memory();
            assert_eq!(two, 2);
            copy(stream.cu_stream(), &from, &to)?;
        } after upload;
        // The body is a call that returns a `Result`.
        capture tail = (&rows[1], &mut out) |stream| {
            let (rows, out) = stream.memory();
            copy(stream.cu_stream(), &rows, &out)
        } after parts;
        // SAFETY: the node writes the row that it declares, after all that it is given.
        raw by_hand = unsafe (&mut back[1]) |graph, after| {
            set_by_node(graph, after, back.address(), (4.0 + shift).to_bits(), [4, 4])
        } after tail;
        capture nothing = () |_stream| ();
        memcpy download = back -> output after named;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn captured_and_raw_nodes_do_what_their_calls_do() -> Result<()> {
    let device = cuda_device();
    let mut graph = Library::build(&device, 0.5)?;
    *graph.input_mut()? = [1.0, 2.0, 3.0, 4.0];
    for _ in 0..3 {
        graph.launch()?;
        assert_eq!(graph.output()?, &[[1.0, 2.0, 3.0, 4.0], [4.5; 4]]);
    }
    assert_eq!(graph.named().name(), "named");
    assert!(graph.named().set_enabled(false).is_err());
    Ok(())
}

#[test]
fn plans_hold_what_was_declared() {
    let node = |name: &str| {
        let nodes = Library::PLAN.nodes;
        nodes.iter().find(|node| node.name == name).cloned().unwrap()
    };
    assert_eq!(["parts", "tail", "by_hand"].map(|name| node(name).level), [1, 2, 3]);
    assert_eq!(node("by_hand").kind.keyword(), "raw");
    let part = "capture tail\\nreads rows\\nwrites out";
    assert!(Library::PLAN.to_dot().contains(part));
}

#[test]
fn the_emulator_names_the_first_node_that_it_cannot_run_and_errors_come_from_build() {
    let error = Library::build(&Device::emulator(), 0.5).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    error.begins("graph `Library`, node `named`: library calls are captured from a stream of a CUDA device");

    let device = device();
    let error = Failing::build(&device).unwrap_err();
    if device.is_emulator() {
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(matches!(Unfinished::build(&device), Err(Error::Unsupported { .. })));
    } else {
        error.reads("graph `Failing`, node `calls`: the closure of the capture failed: no handle");
    }
}

cuda_graph! {
    graph Failing {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| {
            let _ = stream;
            Err(BoxError::from("no handle"))
        };
    }
    graph Unfinished {
        device data: [f32; 4];
        capture calls = (&data) |_stream| panic!("never called");
        // SAFETY: it is never called.
        raw by_hand = unsafe (&data) |_graph, _after| unreachable!();
    }
}

#[test]
fn expressions_capture_what_closures_name() -> Result<()> {
    let device = device();
    let from = device.alloc::<[f32; 4]>()?;
    from.copy_from(&[5.0; 4])?;
    let to = device.alloc::<[f32; 4]>()?;
    let bytes = 16;
    let built = cuda_graph! { &device =>
        capture half = (&from, &mut to) |stream| {
            // SAFETY: it copies within the lengths, as declared.
            unsafe { result::memcpy_dtod_async(to.address(), from.address(), bytes, stream.cu_stream()) }?;
        };
    };
    match built {
        Ok(mut graph) => {
            graph.launch()?;
            assert_eq!(*graph.to()?.read()?, [5.0; 4]);
        }
        Err(error) => {
            let is_known = device.is_emulator() && matches!(error, Error::Unsupported { .. });
            assert!(is_known, "{error}");
        }
    }
    Ok(())
}
