//! Launches of files that a GPU opens.

use super::{Saved, argument, node};
use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileWork};

/// Nobody promises that the kernels of a file stay within their memory, so on a GPU each launch is proved. These run
/// with the driver in software, too.
#[test]
#[ignore = "needs a CUDA device"]
fn on_a_gpu_launches_are_proved() {
    let device = cuda_device();
    let mut builder = GraphBuilder::new(&device, "Proved");
    let mut data = builder.device::<[f32; 64]>("data");
    builder.kernel("scale", Launch::new(2, 32), scale::call(&mut data, 2.0, 64_u32));
    let saved = Saved::of("proved", &builder.build().unwrap().plan());
    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    loaded.write("data", &[1.0_f32; 64]).unwrap();
    loaded.launch().unwrap();
    assert_eq!(loaded.read::<f32>("data").unwrap(), [2.0; 64]);

    saved.change(|file| *argument(file, "scale", 2) = FileArgument::Value(65_u32.to_le_bytes().to_vec()));
    let wider = Loaded::open(&device, &saved.0).map(|_| ()); // 64 threads ask for nothing past the end
    assert!(wider.is_ok(), "{wider:?}");
    saved.change(|file| {
        let FileWork::Kernel(kernel) = node(file, "scale") else {
            panic!()
        };
        kernel.grid = [3, 1, 1];
    });
    let error = Loaded::open(&device, &saved.0).unwrap_err().to_string();
    assert!(error.contains("node `scale`"), "{error}");
    assert!(
        error.contains("is not proved to stay within its memory in this launch: thread [0, 0, 0] of block [2, 0, 0]"),
        "{error}"
    );
    assert!(
        Loaded::open(&Device::emulator(), &saved.0).is_ok(),
        "the emulator checks each access"
    );
}

#[cuda_kernels("tests/kernels/aligned.ptx", prove)]
unsafe extern "C" {
    #[requires(4 * n <= from.len() && 4 * n <= to.len())]
    safe fn copy4(from: &[f32], to: &mut [f32], n: u32);
}

/// A proof assumes that memory begins where the kernel can access four elements at once: parts that the file names,
/// memory that is bound before the first launch, and memory that is bound later.
#[test]
#[ignore = "needs a CUDA device"]
fn on_a_gpu_memory_begins_where_kernels_can_access_it() {
    let device = cuda_device();
    let memory = device.alloc_slice::<f32>(12).unwrap();
    memory
        .copy_from(&std::array::from_fn::<f32, 12, _>(|i| i as f32))
        .unwrap();
    let good = memory.rows(4..12).unwrap();
    let elsewhere = memory.rows(1..9).unwrap();
    let mut builder = GraphBuilder::new(&device, "Copied");
    let from = builder.shared("from", &good, false);
    let to = builder.device::<[f32; 16]>("to");
    let mut end = to.rows(8..);
    let node_to = copy4::call(&from, &mut end, 2_u32);
    builder.kernel("copy", Launch::new(1, 2), node_to);
    let saved = Saved::of("aligned", &builder.build().unwrap().plan());
    let is_refused = |refused: Result<()>, memory: &str| {
        let message = refused.unwrap_err().to_string();
        let told = format!("node `copy` passes memory of `{memory}` from an address on that is no multiple of 16");
        assert!(message.contains(&told), "{message}");
    };

    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    is_refused(loaded.bind("from", &elsewhere).and_then(|()| loaded.launch()), "from");
    loaded.bind("from", &good).unwrap();
    loaded.launch().unwrap();
    let copied = |loaded: &mut Loaded| loaded.read::<f32>("to").unwrap()[8..].to_vec();
    assert_eq!(copied(&mut loaded), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    is_refused(loaded.bind("from", &elsewhere), "from");
    loaded.launch().unwrap();
    assert_eq!(copied(&mut loaded)[0], 4.0, "the graph is as before");

    saved.change(|file| {
        let FileArgument::Memory { start, .. } = argument(file, "copy", 1) else {
            panic!()
        };
        *start -= 4;
    });
    is_refused(Loaded::open(&device, &saved.0).map(|_| ()), "to");
    assert!(
        Loaded::open(&Device::emulator(), &saved.0).is_ok(),
        "the emulator checks each access"
    );
}
