//! Graph files with cubins: machine code, of which only the declared accesses are known.

use super::{Saved, argument, node};
use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileCode, FileWork};

/// `scale` of `opaque.ptx`, for devices of compute capability 9.0.
const CUBIN: &[u8] = include_bytes!("../../kernels/opaque.sm_90.cubin");

fn scale_of_cubin() -> CubinKernel {
    let cubin = Cubin::from_bytes("opaque.sm_90.cubin", CUBIN).unwrap();
    cubin.kernel("scale").unwrap()
}

/// Two kernels of the cubin, one after the other, on memory that is set before.
fn opaque(device: &Device) -> GraphBuilder {
    let scale = scale_of_cubin();
    let mut builder = GraphBuilder::new(device, "Opaque");
    builder.after_auto_everywhere();
    let mut data = builder.device::<[f32; 64]>("data");
    builder.memset("ones", &mut data, 1.0_f32);
    for (name, factor) in [("twice", 2.0_f32), ("thrice", 3.0)] {
        // SAFETY: the kernel reads and writes the first 64 elements of `data`, which has as many.
        let call = unsafe { scale.call([data.write(), factor.into(), 64_u32.into()]) };
        builder.kernel(name, Launch::new(1, 64), call);
    }
    builder
}

fn saved(name: &str) -> Saved {
    Saved::of(name, &opaque(&Device::emulator()).define().unwrap().plan())
}

/// The bytes of a file with a cubin.
pub(crate) fn original() -> Vec<u8> {
    saved("cubin-original").bytes()
}

/// The accesses that a call declares are those of the graph, before and after it is a file.
#[test]
fn kernels_of_a_cubin_are_saved_with_their_accesses() {
    let saved = saved("cubin");
    let mut file = saved.file();
    assert_eq!(file.modules.len(), 1);
    assert_eq!(file.modules[0].name, "opaque.sm_90.cubin");
    assert_eq!(file.modules[0].code, FileCode::Cubin(CUBIN.into()));
    assert!(matches!(
        argument(&mut file, "thrice", 0),
        FileArgument::Memory {
            mode: Mode::ReadWrite,
            bytes: 256,
            ..
        }
    ));
    let loaded = Loaded::open(&Device::emulator(), &saved.0).unwrap();
    let thrice = &loaded.plan().nodes[2];
    assert_eq!((&*thrice.name, thrice.accesses[0].mode), ("thrice", Mode::ReadWrite));
    let again = Saved::of("cubin-again", loaded.plan());
    assert_eq!(again.bytes(), saved.bytes());
}

/// Accesses that nothing orders race by what the nodes declare, whoever wrote the file.
#[test]
fn races_of_kernels_of_a_cubin_are_found() {
    let saved = saved("cubin-race");
    saved.change(|file| {
        let thrice = file.nodes.iter_mut().find(|node| node.name == "thrice").unwrap();
        thrice.after.clear();
    });
    let refused = saved.refused();
    refused.says("nodes `twice` and `thrice` can run at the same time and both access `data` [race]");
}

#[test]
fn the_emulator_names_the_node_whose_kernel_it_cannot_run() {
    let device = Device::emulator();
    let text = "graph `Opaque`, node `twice`: kernel `scale` is machine code, of `opaque.sm_90.cubin`, and the CPU \
                emulator runs PTX\n\
                help: run this graph on a GPU, or take the kernel from PTX: `device.module(Ptx::from_text(..)?)?`";
    refused(opaque(&device).build()).reads(text);
    let saved = saved("cubin-emulator");
    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    refused(loaded.launch()).reads(text);
}

#[test]
fn cubins_that_are_none_are_refused() {
    let of_file = |text: &str| format!("graph `Opaque`: graph file `x.cugraph`: {text}");
    let changed = |name: &str, change: &dyn Fn(&mut FileCode)| {
        let saved = saved(name);
        saved.change(|file| change(&mut file.modules[0].code));
        saved.refused()
    };
    let cut = changed("cubin-cut", &|code| *code = FileCode::Cubin(CUBIN[..2000].into()));
    assert_eq!(
        cut,
        of_file("`opaque.sm_90.cubin`: it is no whole cubin: a part that it announces is missing")
    );
    let text = changed("cubin-text", &|code| *code = FileCode::Cubin(b".version 8.0".into()));
    assert_eq!(
        text,
        of_file("`opaque.sm_90.cubin`: it is no cubin: no ELF file of 64 bits")
    );
    let saved = saved("cubin-entry");
    saved.change(|file| {
        let FileWork::Kernel(kernel) = node(file, "twice") else {
            panic!()
        };
        kernel.entry = "scald".into();
    });
    assert_eq!(
        saved.refused(),
        of_file("node `twice`: kernel `scald` is not in `opaque.sm_90.cubin`")
    );
}

/// On a device of compute capability 9.0, a file launches its cubin. It is opened by `open_trusted` alone: machine code
/// proves nothing. Other devices, and the driver in software, say that they cannot load it.
#[test]
#[ignore = "needs a CUDA device"]
fn a_file_with_a_cubin_runs_on_the_device_that_it_is_for() {
    let device = cuda_device();
    let saved = saved("cubin-cuda");
    let unproved = refused(Loaded::open(&device, &saved.0)).to_string();
    for part in [
        "node `twice`",
        "`opaque.sm_90.cubin` has no PTX of it",
        "unsafe { Loaded::open_trusted(..) }",
    ] {
        assert!(unproved.contains(part), "{unproved}");
    }
    // SAFETY: the kernel stays within its memory, as `opaque` says.
    let mut loaded = unsafe { Loaded::open_trusted(&device, &saved.0) }.unwrap();
    let capability = device.context().unwrap().compute_capability().unwrap();
    if capability.0 != 9 || is_software() {
        refused(loaded.launch()).says("`opaque.sm_90.cubin`");
        return;
    }
    for _ in 0..2 {
        loaded.launch().unwrap();
        assert_eq!(loaded.read::<f32>("data").unwrap(), [6.0; 64]);
    }
    let again = Saved::of("cubin-cuda-again", &opaque(&device).build().unwrap().plan());
    assert_eq!(again.bytes(), saved.bytes(), "a built graph is the same file");

    saved.change(|file| {
        let FileWork::Kernel(kernel) = node(file, "twice") else {
            panic!()
        };
        kernel.arguments.pop();
    });
    // SAFETY: nothing is launched.
    let mut few = unsafe { Loaded::open_trusted(&device, &saved.0) }.unwrap();
    refused(few.launch()).says("takes 3 parameters, but 2 arguments are passed");
}
