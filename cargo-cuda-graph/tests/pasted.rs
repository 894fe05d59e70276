//! The declarations that `cargo cuda-graph check` prints, pasted: they are what it prints, and they compile.
//!
//! `PASTED=overwrite` before the test's command writes them again.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Declares a module for each text in `pasted/`, and lists them with the PTX that they were printed for.
macro_rules! pasted {
    ($($module:ident: $ptx:literal,)*) => {
        $(
            mod $module {
                include!(concat!("pasted/", stringify!($module), ".rs"));
            }
        )*
        const PASTED: &[(&str, &str)] = &[$((stringify!($module), $ptx)),*];
    };
}

pasted! {
    forward_backward: "examples/kernels/forward_backward.ptx",
    mlp: "examples/kernels/mlp.ptx",
    overlap: "examples/kernels/overlap.ptx",
    roots: "examples/kernels/roots.ptx",
    wavefront: "examples/kernels/wavefront.ptx",
    samples: "docs/kernels/samples.ptx",
    tutorial: "docs/kernels/tutorial.ptx",
    odd: "ui-tests/kernels/odd.ptx",
    atomic: "ui-tests/kernels/atomic.ptx",
    pointers: "graph-ptx/tests/data/pointers.sm_70.ptx",
    half: "graph-runtime/tests/corpus/kernels/half.ptx",
    tensor: "graph-ptx/tests/data/hopper.sm_90.ptx",
}

#[test]
fn declarations_are_what_the_command_prints() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, ptx) in PASTED {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-cuda-graph"))
            .args(["cuda-graph", "check"])
            .arg(package.join("..").join(ptx))
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let start = printed
            .find("use graph_runtime::")
            .unwrap_or_else(|| panic!("{ptx}: {printed}"));
        // The path is relative to the manifest of the package that has the file; here it is another's.
        let folder = ptx.split('/').next().unwrap();
        let text = printed[start..].replace("cuda_kernels(\"", &format!("cuda_kernels(\"../{folder}/"));
        let path = package.join("tests/pasted").join(format!("{name}.rs"));
        if std::env::var_os("PASTED").is_some_and(|value| value == "overwrite") {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{ptx}");
    }
}
