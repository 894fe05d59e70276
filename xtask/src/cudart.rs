//! Compares what graph-runtime declares of the CUDA runtime with NVIDIA's headers: `cudart.cpp` has the declarations as
//! static assertions. The program of `docs/cudart.md` is compiled, too. Nothing is linked or run.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cuda_graph_build::{NVCC, RUNTIME};

use crate::Result;
use crate::wheels::{self, RUNTIME_13};

/// The page with the program.
const PAGE: &str = "docs/cudart.md";

/// Compiles both with the headers of CUDA 12 and 13.
pub(crate) fn check(root: &Path) -> Result<()> {
    let wheels = wheels::folder(root);
    // `crt/host_defines.h` is the same in both.
    let common = NVCC.file(&wheels, "nvidia/cuda_nvcc/include")?;
    let headers = [
        RUNTIME.file(&wheels, "nvidia/cuda_runtime/include")?,
        RUNTIME_13.file(&wheels, "nvidia/cu13/include")?,
    ];
    let page = fs::read_to_string(root.join(PAGE))?;
    let program = program(&page).ok_or_else(|| format!("{PAGE} has no program in C++"))?;
    for headers in headers {
        for (name, text) in [("cudart.cpp", include_str!("../cudart.cpp")), (PAGE, program)] {
            compile(text, &[&headers, &common])
                .map_err(|error| format!("{name} with {}: {error}", headers.display()))?;
        }
    }
    println!("the declarations are those of CUDA's headers");
    Ok(())
}

/// The block of C++ in a page.
fn program(page: &str) -> Option<&str> {
    let (_, after) = page.split_once("```cpp\n")?;
    after.split_once("```").map(|(program, _)| program)
}

/// Lets `c++` check a program, without output.
fn compile(text: &str, headers: &[&Path]) -> Result<()> {
    let folders = headers.iter().flat_map(|folder| [Path::new("-I"), folder]);
    let mut compiler = Command::new("c++")
        .args(["-std=c++17", "-fsyntax-only", "-x", "c++", "-"])
        .args(folders)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run c++: {error}"))?;
    if let Some(mut input) = compiler.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    let status = compiler.wait()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("c++ failed ({status})").into())
}
