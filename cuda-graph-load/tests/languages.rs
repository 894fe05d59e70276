//! A graph that Rust saves, and that C and Python open, on the emulator; and what calls from C say of mistakes.
#![cfg(target_os = "linux")]

use cuda_graph_load::{CudaGraphLift, CudaGraphMemory, cuda_graph_error, cuda_graph_lift, cuda_graph_lift_build};
use graph_runtime::{AnyGraph, Device, cuda_graph, cuda_kernels};
use std::env;
use std::ffi::{CStr, OsStr, c_char};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

#[cuda_kernels("../graph-runtime/tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    #[requires(n <= data.len())]
    safe fn scale(data: &mut [f32], factor: f32, n: u32);
}

cuda_graph! {
    graph Scale(data: mut device [f32; 64]) {
        host first: [f32; 1];
        host last:  [f32; 1];

        memcpy up   = first -> data[..1];
        kernel half = scale<<<2, 32>>>(&mut data, 0.5, 64) after up;
        memcpy down = data[63..] -> last after half;
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder that has the library: that of this program, or the one around it.
fn library() -> PathBuf {
    let program = env::current_exe().unwrap();
    let mut folders = program.ancestors().skip(1).take(2);
    let found = folders.find(|folder| folder.join("libcuda_graph_load.so").is_file());
    found.expect("cargo has built the library").to_owned()
}

/// The output of a program.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    printed
}

/// A folder of this test, and the file of `Scale` in it.
fn saved(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let (device, path) = (Device::emulator(), folder.join("scale.cugraph"));
    let graph = Scale::build(&device, device.alloc::<[f32; 64]>().unwrap()).unwrap();
    graph.plan().save(&path).unwrap();
    (folder, path)
}

fn expected(path: &Path) -> String {
    let path = path.display();
    format!(
        "graph file `nowhere.cugraph`: cannot be read: No such file or directory (os error 2)\n\
         graph `Scale`, memory `data`: graph file `{path}`: has 256 bytes, and what is bound has 252\n\
         2.5 0.25 15.75\n"
    )
}

#[test]
fn c_opens_binds_and_launches() {
    let (folder, path) = saved("c");
    let (program, library) = (folder.join("scale"), library());
    let mut compile = Command::new("cc");
    compile
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here().join("include"));
    compile.arg(here().join("tests/scale.c")).arg("-L").arg(&library);
    compile.args([OsStr::new("-lcuda_graph_load"), OsStr::new("-o"), program.as_os_str()]);
    assert_eq!(output(&mut compile), "");
    let printed = output(Command::new(&program).arg(&path).env("LD_LIBRARY_PATH", library));
    assert_eq!(printed, expected(&path));
}

#[test]
fn python_opens_binds_and_launches() {
    // Rust alone is all that this repository needs.
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("there is no python3 here: the module was not tried");
    }
    let (_, path) = saved("python");
    let mut run = Command::new("python3");
    run.arg(here().join("tests/scale.py")).arg(&path);
    run.env("PYTHONPATH", here().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    run.env("CUDA_GRAPH_LOAD", library().join("libcuda_graph_load.so"));
    assert_eq!(output(&mut run), expected(&path) + "1 0.25\n");
}

#[test]
fn mistakes_of_lifts_are_messages() {
    let bad = c"nonsense".as_ptr();
    let mut result = CudaGraphLift::default();
    // SAFETY: all zeros are memory without a name.
    let unnamed: CudaGraphMemory = unsafe { MaybeUninit::zeroed().assume_init() };
    let nothing = ptr::null_mut();
    let lift = |memory: &[CudaGraphMemory], ptx: &[*const c_char], result: *mut CudaGraphLift| {
        let (blocks, modules) = (memory.as_ptr(), ptx.as_ptr());
        // SAFETY: the lists have as many elements as is said, and the texts end with zero bytes.
        let code = unsafe { cuda_graph_lift(nothing, blocks, memory.len(), modules, ptx.len(), 0, result) };
        assert_eq!(code, 1);
        message()
    };
    // SAFETY: the result is no place, and the call says so.
    assert_eq!(unsafe { cuda_graph_lift_build(0, ptr::null_mut()) }, 1);
    assert_eq!(message(), "the result is NULL");
    let mut built = ptr::null_mut();
    // SAFETY: the result is a place.
    assert_eq!(unsafe { cuda_graph_lift_build(0, &mut built) }, 1);
    assert_eq!(message(), "this thread has read no graph");
    let messages = [
        lift(&[], &[], ptr::null_mut()),
        lift(&[], &[], &mut result),
        lift(&[unnamed], &[], &mut result),
        lift(&[], &[bad], &mut result),
    ];
    assert_eq!(
        messages[..3],
        ["the result is NULL", "the graph is NULL", "the name of memory is NULL"]
    );
    assert!(
        messages[3].contains("the PTX that was given for a lift"),
        "{}",
        messages[3]
    );
}

/// The message of the last failure.
fn message() -> String {
    // SAFETY: it is a text of this thread.
    unsafe { CStr::from_ptr(cuda_graph_error()) }
        .to_string_lossy()
        .into_owned()
}
