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
