//! The command as people call it, in folders of their own. It uses no network here: tests that need NVRTC run where it
//! has been fetched (by `cargo xtask ptx`, or by the command), and say so by name where it has not.

use graph_ptx::origin::{Origin, OriginFile};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCALE: &str = "extern \"C\" __global__ void scale(float *data, float by, int n)\n\
    {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) data[i] *= by;\n}\n";

/// A folder that is removed again.
struct Fresh(PathBuf);

impl Fresh {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("cargo-cuda-graph-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("kernels")).unwrap();
        fs::write(folder.join("Cargo.toml"), "[package]\nname = \"fresh\"\n").unwrap();
        Self(folder)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    /// Runs the command in this folder, with this cache.
    fn run(&self, cache: &Path, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cargo-cuda-graph"))
            .arg("cuda-graph")
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .env("CUDA_GRAPH_CACHE_DIR", cache)
            .env_remove("CUDA_GRAPH_NVRTC")
            .output()
            .unwrap()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A cache that has NVRTC: the user's, or one that leads to the wheels of this repository.
fn cache_with_nvrtc(fresh: &Fresh) -> Option<PathBuf> {
    const WHEEL: &str = "nvidia-cuda-nvrtc-cu12-12.4.127";
    let own = cuda_graph_build::cache().ok()?;
    if own.join(WHEEL).is_dir() {
        return own.parent().map(Path::to_owned);
    }
    let wheels = fs::canonicalize(repository().join(".wheels")).ok()?;
    if !wheels.join(WHEEL).is_dir() {
        return None;
    }
    let cache = fresh.0.join("cache");
    fs::create_dir_all(&cache).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(wheels, cache.join("wheels")).unwrap();
    Some(cache)
}

#[test]
fn ptx_is_checked_in_a_fresh_folder() {
    let fresh = Fresh::new("check");
    let ptx = fs::read_to_string(repository().join("examples/kernels/mlp.ptx")).unwrap();
    fresh.write("kernels/mlp.ptx", &ptx);
    let output = fresh.run(&fresh.0, "check kernels/mlp.ptx");
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    let start = "kernels/mlp.ptx: 4 kernels, PTX 8.4 for sm_70; the emulator runs all\n";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("#[cuda_kernels(\"kernels/mlp.ptx\")]"), "{text}");
    assert!(text.contains("fn squared_error(p0: &[f32], p1: &[f32], p2: &mut [f32], p3: &[Atomic<f32>], p4: u32);"));
}

#[test]
fn what_cannot_be_read_or_run_is_refused_by_name() {
    let fresh = Fresh::new("refused");
    fresh.write(
        "kernels/broken.ptx",
        ".version 7.0\n.target sm_70\n.entry f() { add.u32 %r1; \n",
    );
    fresh.write(
        "kernels/matrices.ptx",
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry paint(.param .u64 to) {\n\
         .reg .b32 %r<5>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [to];\n\
         wgmma.fence.sync.aligned;\nst.global.u32 [%rd1], 1;\nret;\n}\n\
         .visible .entry plain() {\nret;\n}\n",
    );
    fresh.write("notes.txt", "");
    let broken = fresh.run(&fresh.0, "check kernels/broken.ptx");
    assert_eq!(broken.status.code(), Some(1));
    let start = "error: kernels/broken.ptx is not valid PTX: ";
    assert!(stderr(&broken).starts_with(start), "{}", stderr(&broken));

    let refused = fresh.run(&fresh.0, "check kernels/matrices.ptx");
    let text = stdout(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains("; the emulator REFUSES 1\n"), "{text}");
    assert!(text.contains("emulator  REFUSED: "), "{text}");
    assert!(text.contains("wgmma.fence") && text.contains("line 8"), "{text}");
    assert!(text.contains("fn paint("), "the GPU takes it: {text}");
    assert!(text.contains("2 kernels"), "the other is fine: {text}");
    assert!(text.contains("fn plain();"), "the other is fine: {text}");

    for (line, code, expected) in [
        ("check kernels/none.ptx", 1, "error: cannot read kernels/none.ptx: "),
        (
            "check kernels/none.ptx",
            1,
            "note: kernels has broken.ptx, matrices.ptx",
        ),
        ("check nowhere/none.cu", 1, "note: there is no folder nowhere"),
        ("check kernels", 1, "error: kernels is a folder: name the files in it"),
        ("check notes.txt", 1, "error: notes.txt is neither .cu nor .ptx"),
        ("ptx kernels/broken.ptx", 1, "error: kernels/broken.ptx is no .cu"),
        ("check --fast kernels/none.ptx", 2, "error: there is no option `--fast`"),
        ("bild", 2, "error: there is no command `bild`"),
    ] {
        let output = fresh.run(&fresh.0, line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{line}: {}", stderr(&output));
    }
}

/// The kernel `name` over `data` and `weights`, with this code; each instruction is on the next line of its source.
fn entry(name: &str, code: &[&str]) -> String {
    let lines = (1..).zip(code);
    let lines = lines.map(|(line, instruction)| format!(".loc 1 {line} 1\n{instruction}\n"));
    format!(
        ".visible .entry {name}(.param .u64 data, .param .u64 weights) {{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n\
         .reg .pred %p<2>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [weights];\n{}ret;\n}}\n",
        lines.collect::<String>()
    )
}

/// For each kernel: whether a programmatic edge may lead to it, whether one from it gains time, and the lines that
/// decide that. Kernels without `griddepcontrol` have one line together.
#[test]
fn ends_of_programmatic_edges_are_told() {
    const WAIT: &str = "griddepcontrol.wait;";
    const TRIGGER: &str = "griddepcontrol.launch_dependents;";
    const READ: &str = "ld.global.u32 %r1, [%rd1];";
    const WRITE: &str = "st.global.u32 [%rd1], %r1;";
    const WEIGHTS: &str = "ld.global.nc.u32 %r2, [%rd2];";
    let kernels: [(&str, &[&str], &str, &str); 10] = [
        (
            "ready",
            &[TRIGGER, WAIT, READ, WRITE],
            "yes, waits (line 2) before it accesses memory",
            "yes, triggers (line 1) before its last write (line 4)",
        ),
        (
            "reads_early",
            &["ld.global.u32 %r2, [%rd2];", WAIT, READ, WRITE, TRIGGER],
            "if no node writes `p1` (line 1), which it reads before it has waited (line 2)",
            "gains little, triggers (line 5) after its last write (line 4)",
        ),
        (
            "writes_early",
            &[READ, WRITE, WAIT],
            "NO, accesses `p0`, which it writes, (line 1) before it has waited (line 3)",
            "gains nothing, never triggers",
        ),
        (
            "ends_early",
            &["@%p1 ret;", WAIT, WRITE],
            "NO, can end (line 1) before it has waited (line 2)",
            "gains nothing, never triggers",
        ),
        (
            "incoherent",
            &[WAIT, WEIGHTS, WRITE],
            "if no node before it writes `p1` (line 2), which it reads through a cache that is not coherent",
            "gains nothing, never triggers",
        ),
        (
            "tabulates",
            &[WAIT, "mov.u64 %rd2, table;", WEIGHTS, "st.global.u32 [%rd2], %r2;"],
            "NO, reads `table`, which it writes, (line 3) through a cache that is not coherent",
            "gains nothing, never triggers",
        ),
        (
            "prefetches",
            &[WEIGHTS, READ, WAIT, "ld.global.nc.u32 %r2, [table];"],
            "if no node writes `p0` (line 2) or `p1` (line 1), which it reads before it has waited (line 3), \
             and if no node writes `table` (line 4), which it reads through a cache that is not coherent",
            "gains nothing, never triggers",
        ),
        (
            "follows",
            &[WAIT, "ld.global.u64 %rd2, [%rd1];", WEIGHTS],
            "NO, reads memory of unknown origin (line 3) through a cache that is not coherent",
            "gains nothing, never triggers",
        ),
        (
            "loops",
            &["L:", WRITE, TRIGGER, "@%p1 bra L;"],
            "NO, never waits",
            "yes, triggers (line 3) before its last write (line 2)",
        ),
        (
            "idle",
            &[WAIT, TRIGGER, READ],
            "yes, waits (line 1) before it accesses memory",
            "yes, triggers (line 2) and writes nothing",
        ),
    ];
    let fresh = Fresh::new("programmatic");
    let header = ".version 8.4\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n.global .u32 table;\n";
    let entries: String = kernels.iter().map(|(name, code, ..)| entry(name, code)).collect();
    let plain = entry("plain", &[READ, WRITE]);
    fresh.write("kernels/ends.ptx", &format!("{header}{entries}"));
    fresh.write("kernels/some.ptx", &format!("{header}{entries}{plain}"));
    fresh.write("kernels/one.ptx", &format!("{header}{plain}"));
    let check = |file: &str| stdout(&fresh.run(&fresh.0, &format!("check kernels/{file}.ptx")));
    let text = check("ends");
    for (name, _, to, from) in kernels {
        let (_, report) = text.split_once(&format!("\n\n{name}\n")).unwrap();
        let (report, _) = report.split_once("\n\n").unwrap();
        let row = format!("  programmatic  to it: {to}; from it: {from}");
        assert!(report.lines().any(|line| line == row), "{name}:\n{row}\n{report}");
    }
    assert!(!text.contains("without `griddepcontrol`"), "{text}");
    let some = "\n\nwithout `griddepcontrol`, which programmatic edges need (sm_90): 1 of 11 kernels\n\n";
    assert!(check("some").contains(some), "{}", check("some"));
    let one = check("one");
    let last = "\n\nwithout `griddepcontrol`, which programmatic edges need (sm_90): the kernel\n\n";
    assert!(one.contains(last) && !one.contains("programmatic  "), "{one}");
}

/// PTX whose source, options or header has changed since is refused. Nothing is said about PTX without its source.
#[test]
fn stale_ptx_is_found() {
    const HEADER: &str = "#define FACTOR 2\n";
    let fresh = Fresh::new("stale");
    let source = format!("// cuda-graph: --use_fast_math\n#include \"factor.h\"\n{SCALE}");
    let origin = Origin {
        files: vec![
            OriginFile::new("scale.cu", source.as_bytes()),
            OriginFile::new("factor.h", HEADER.as_bytes()),
        ],
        by: "NVRTC 12.4 with --use_fast_math".to_owned(),
        again: "cargo cuda-graph ptx --option=-G".to_owned(),
    };
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry scale() {\nret;\n}\n";
    fresh.write("kernels/scale.ptx", &format!("{ptx}{origin}"));
    let check = || {
        let output = fresh.run(&fresh.0, "check kernels/scale.ptx");
        (output.status.code(), stdout(&output))
    };
    let write_all = || {
        fresh.write("kernels/scale.cu", &source);
        fresh.write("kernels/factor.h", HEADER);
    };
    write_all();
    let (code, text) = check();
    assert!(code == Some(0) && !text.contains("stale-ptx"), "{text}");
    for (file, changed) in [
        ("scale.cu", format!("{source}// more\n")),
        ("scale.cu", source.replace("--use_fast_math", "--fmad=false")),
        ("factor.h", "#define FACTOR 3\n".to_owned()),
    ] {
        fresh.write(&format!("kernels/{file}"), &changed);
        let (code, text) = check();
        let message = format!(
            "kernels/{file} has changed since kernels/scale.ptx was made of it [stale-ptx]\n\
             help: `cargo cuda-graph ptx --option=-G kernels/scale.cu` makes it again\n"
        );
        assert!(code == Some(1) && text.ends_with(&message), "{text}");
        write_all();
    }
    fresh.write("kernels/factor.h", "");
    fs::remove_file(fresh.0.join("kernels/scale.cu")).unwrap();
    let (code, text) = check();
    assert!(code == Some(0), "PTX without its source: {text}");
    assert!(!text.contains("stale-ptx"), "PTX without its source: {text}");
}

#[test]
fn without_a_compiler_the_message_says_what_to_do() {
    let fresh = Fresh::new("offline");
    fresh.write("kernels/scale.cu", SCALE);
    let output = fresh.run(&fresh.0.join("empty"), "ptx --offline kernels/scale.cu");
    if output.status.success() {
        println!("left out: without_a_compiler_the_message_says_what_to_do (a CUDA toolkit is installed)");
        return;
    }
    let text = stderr(&output);
    assert!(text.contains("there is no NVRTC"), "{text}");
    assert!(text.contains("cargo cuda-graph fetch"), "{text}");
}

#[test]
fn sources_are_compiled_in_a_fresh_folder() {
    let fresh = Fresh::new("ptx");
    let Some(cache) = cache_with_nvrtc(&fresh) else {
        println!("left out: sources_are_compiled_in_a_fresh_folder (`cargo cuda-graph fetch` fetches NVRTC)");
        return;
    };
    fresh.write("kernels/scale.cu", SCALE);
    let run = |line: &str| fresh.run(&cache, line);

    let stale = run("ptx --offline --check kernels/scale.cu");
    assert_eq!(stale.status.code(), Some(1));
    assert!(stderr(&stale).contains("kernels/scale.ptx: ") && stderr(&stale).contains("writes them anew"));

    let written = run("ptx --offline kernels/scale.cu");
    let expected = "written   kernels/scale.ptx\n";
    assert_eq!(stdout(&written), expected, "{}", stderr(&written));
    let made = fresh.read("kernels/scale.ptx");
    assert!(made.contains(".target sm_70"), "{made}");
    assert!(made.contains(".file\t1 \"kernels/scale.cu\""), "{made}");
    assert!(
        made.ends_with("// cuda-graph: made again by cargo cuda-graph ptx\n")
            && made.contains("made by NVRTC 12.4 with"),
        "{made}"
    );
    assert!(run("ptx --offline --check kernels/scale.cu").status.success());
    assert!(run("check --offline kernels/scale.ptx").status.success());
    fresh.write("kernels/scale.cu", &format!("{SCALE}// more\n"));
    let stale = run("check --offline kernels/scale.ptx");
    assert_eq!(stale.status.code(), Some(1));
    let message = "kernels/scale.cu has changed since kernels/scale.ptx was made of it [stale-ptx]\n\
                   help: `cargo cuda-graph ptx kernels/scale.cu` makes it again\n";
    assert!(stdout(&stale).ends_with(message), "{}", stdout(&stale));
    fresh.write("kernels/scale.cu", SCALE);
    assert!(!run("ptx --offline --check --arch 80 kernels/scale.cu").status.success());
    fresh.write(
        "kernels/scale.cu",
        &format!("// cuda-graph: --gpu-architecture=compute_80\n{SCALE}"),
    );
    assert!(run("ptx --offline kernels/scale.cu").status.success());
    assert!(fresh.read("kernels/scale.ptx").contains(".target sm_80"));

    let checked = run("check --offline kernels/scale.cu");
    let text = stdout(&checked);
    assert!(checked.status.success(), "{text}{}", stderr(&checked));
    let part = "data     &mut [f32]  reads (line 5), writes (line 5)";
    assert!(text.contains(part), "{text}");
    assert!(text.contains("fn scale(data: &mut [f32], by: f32, n: i32);"), "{text}");

    fresh.write("kernels/wrong.cu", "__global__ void wrong(float *x) { x[0] = y; }\n");
    let wrong = run("ptx --offline kernels/wrong.cu kernels/scale.cu");
    assert_eq!(wrong.status.code(), Some(1));
    let expected = "unchanged kernels/scale.ptx\n";
    assert_eq!(stdout(&wrong), expected, "the others are made nevertheless");
    let part = "kernels/wrong.cu(1): error: identifier \"y\" is undefined";
    assert!(stderr(&wrong).contains(part), "{}", stderr(&wrong));

    fresh.write(
        "kernels/half.cu",
        "#include <cuda_fp16.h>\n__global__ void half_of(__half *x) { x[0] = 1; }\n",
    );
    let half = run("ptx --offline kernels/half.cu");
    let part = "`cuda_fp16.h` is one of CUDA's headers: `--with-headers` fetches";
    assert!(stderr(&half).contains(part), "{}", stderr(&half));
    fresh.write(
        "kernels/asks.cu",
        "// cuda-graph: --with-headers\n#include <cuda_fp16.h>\n__global__ void half_of(__half *x) { x[0] = 1; }\n",
    );
    let asks = run("ptx --offline kernels/asks.cu");
    let text = stderr(&asks);
    let is_absent = text.contains("`cargo cuda-graph fetch --with-headers` fetches");
    assert!(
        asks.status.success() || is_absent,
        "the source asks for headers by itself: {text}"
    );
    fresh.write("kernels/host.cu", "#include <torch/all.h>\n__global__ void f() {}\n");
    let host = run("ptx --offline --with-headers kernels/host.cu");
    let part = "NVRTC compiles code of the device alone and has no headers of the host: add the folder of `torch/all.h` by \
                `-I`, or write `#ifndef __CUDACC_RTC__` before the line";
    assert!(stderr(&host).contains(part), "{}", stderr(&host));
}

/// Sources that were written for `nvcc`: headers of the host stand for themselves, and code of the host is left out, of
/// headers too.
#[test]
fn sources_for_nvcc_are_compiled_as_they_are() {
    const HOST: [&str; 18] = [
        "stdint.h",
        "cstdint",
        "math.h",
        "cmath",
        "float.h",
        "cfloat",
        "limits.h",
        "climits",
        "assert.h",
        "stdio.h",
        "cstdio",
        "stdlib.h",
        "cstring",
        "cuda.h",
        "algorithm",
        "vector",
        "string",
        "iostream",
    ];
    let fresh = Fresh::new("nvcc");
    let Some(cache) = cache_with_nvrtc(&fresh) else {
        println!("left out: sources_for_nvcc_are_compiled_as_they_are (`cargo cuda-graph fetch` fetches NVRTC)");
        return;
    };
    let run = |file: &str| fresh.run(&cache, &format!("ptx --offline kernels/{file}.cu"));
    let includes: String = HOST.map(|name| format!("#include <{name}>\n")).concat();
    fresh.write(
        "kernels/shared.cuh",
        "#pragma once\n#include \"more.cuh\"\nstatic std::vector<int> all(int n) { return std::vector<int>(n); }\n\
         struct Pair { int a; Pair(int a) : a(a) {} virtual ~Pair() {} };\nconstexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }\n",
    );
    fresh.write(
        "kernels/more.cuh",
        "#define LAUNCH(k) void launch_##k(float *x) { k<<<1, 32>>>(x, 1); }\n",
    );
    let kernel = "extern \"C\" __global__ void k(float *x, std::uint64_t n)\n{\n    assert(n < UINT64_MAX);\n    \
                  x[n] = std::sqrt(std::max(x[0], FLT_MIN)) + INFINITY + M_PI + Pair(ceil_div(INT_MAX, CHAR_BIT)).a;\n}\n";
    let host = "LAUNCH(k)\nint main(int argc, char **argv)\n{\n    std::cout << argv[0] << all(3)[0] << std::endl;\n    \
                cudaDeviceSynchronize();\n    return 0;\n}\n";
    let after = "extern \"C\" __global__ void last(float *x) { *x = sizeof(CUtensorMap); }\n";
    fresh.write(
        "kernels/nvcc.cu",
        &format!("{includes}#include \"shared.cuh\"\n{kernel}{host}{after}"),
    );
    let made = run("nvcc");
    assert!(made.status.success(), "{}", stderr(&made));
    let folder = fs::canonicalize(fresh.0.join("kernels")).unwrap();
    let shared = folder.join("shared.cuh");
    let line = HOST.len() + 7;
    let note = stderr(&made);
    for part in [
        "note: functions of the host are left out: ".to_owned(),
        format!("`LAUNCH` (kernels/nvcc.cu:{line})"),
        format!("`main` (kernels/nvcc.cu:{})", line + 1),
    ] {
        assert!(note.contains(&part), "{part}: {note}");
    }
    assert!(note.contains("`all` ("), "{note}");
    let ptx = fresh.read("kernels/nvcc.ptx");
    assert_eq!(ptx.matches(".entry").count(), 2, "{ptx}");
    let origin = Origin::of(&ptx).unwrap();
    let files: Vec<&str> = origin.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["nvcc.cu", "shared.cuh", "more.cuh"]);
    let is_known = |file: &OriginFile| {
        let bytes = fs::read(folder.join(&file.path)).unwrap();
        *file == OriginFile::new(file.path.as_str(), &bytes)
    };
    assert!(
        origin.files.iter().all(is_known),
        "of the files, not of the texts that were compiled"
    );
    assert!(
        !ptx.contains(&*shared.to_string_lossy()),
        "no folder of this machine: {ptx}"
    );
    let checked = fresh.run(&cache, "check --offline kernels/nvcc.cu");
    let line = format!("writes (line {})", HOST.len() + 5);
    assert!(
        stdout(&checked).contains(&line),
        "lines keep their numbers: {}",
        stdout(&checked)
    );

    fresh.write(
        "kernels/calls.cu",
        "int twice(int x) { return 2 * x; }\n__global__ void k(int *x) { *x = twice(*x); }\n",
    );
    let calls = stderr(&run("calls"));
    let part = "note: functions of the host are left out: `twice` (kernels/calls.cu:1)\nhelp: write `__device__` before \
                those that kernels call";
    assert!(
        calls.contains("identifier \"twice\" is undefined") && calls.contains(part),
        "{calls}"
    );

    let branches = "#if 1\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n__global__ void k() {}\n";
    fresh.write("kernels/branches.cu", branches);
    let refused = stderr(&run("branches"));
    let part = "help: NVRTC compiles code of the device alone, and line 2 of kernels/branches.cu is code of the host: write \
                `#ifndef __CUDACC_RTC__` before line 2 and `#endif` after line 6, or `__device__` if kernels use it";
    assert!(refused.contains(part), "{refused}");
}

/// Kernels that a source has for newer GPUs alone are named with the option that compiles them.
#[test]
fn kernels_for_newer_gpus_are_named() {
    let fresh = Fresh::new("newer");
    let Some(cache) = cache_with_nvrtc(&fresh) else {
        println!("left out: kernels_for_newer_gpus_are_named (`cargo cuda-graph fetch` fetches NVRTC)");
        return;
    };
    fresh.write(
        "kernels/arch.cuh",
        "#define AMPERE 800\n#define OP(f) __global__ void f(float *x) { *x = 1; }\n",
    );
    let text = "#include \"arch.cuh\"\nOP(always)\n#if __CUDA_ARCH__ >= AMPERE\nOP(add)\nextern \"C\" OP(mul)\n#endif\n\
                #if __CUDA_ARCH__ > 890\nOP(last)\n#elif __CUDA_ARCH__ < 750\nOP(old)\n#endif\n";
    fresh.write("kernels/newer.cu", text);
    let run = |line: &str| fresh.run(&cache, &format!("ptx --offline kernels/newer.cu {line}"));
    let made = run("");
    let expected = "note: kernels/newer.cu has 2 kernels for GPUs from compute_80 on alone, which its PTX lacks: `add`, \
                    `mul`\nhelp: `--arch 80`, or `--gpu-architecture=compute_80` on the first line, `// cuda-graph: ..`, \
                    compiles them\n\
                    note: kernels/newer.cu has 1 kernel for GPUs from compute_90 on alone, which its PTX lacks: `last`\n\
                    help: `--arch 90`, or `--gpu-architecture=compute_90` on the first line, `// cuda-graph: ..`, compiles it\n";
    assert_eq!(stderr(&made), expected);
    assert_eq!(
        fresh.read("kernels/newer.ptx").matches(".entry").count(),
        2,
        "the file is as before"
    );
    assert_eq!(stderr(&run("--arch 90")), "");
    // Another file that the source asks for has them.
    fresh.write(
        "kernels/newer.cu",
        &format!("// cuda-graph:\n// cuda-graph sm_90:\n{text}"),
    );
    assert_eq!(stderr(&run("")), "");
    let own = format!("// cuda-graph: --gpu-architecture=compute_80\n{text}");
    fresh.write("kernels/newer.cu", &own);
    let part = "help: `--gpu-architecture=compute_90` on the first line, `// cuda-graph: ..`, compiles it";
    assert!(stderr(&run("")).contains(part), "{}", stderr(&run("")));
}

/// Each compiler that is in the user's cache, with its headers, compiles what CUB and libcu++ have for kernels, and
/// says which of their headers are for the host.
#[test]
fn compilers_compile_the_libraries_of_cuda() {
    const WHEELS: [(&str, [&str; 2]); 3] = [
        ("12.4", ["nvidia-cuda-nvrtc-cu12-12.4", "nvidia-cuda-cccl-cu12-12.9"]),
        ("12", ["nvidia-cuda-nvrtc-cu12-12.9", "nvidia-cuda-cccl-cu12-12.9"]),
        ("13", ["nvidia-cuda-nvrtc-13.", "nvidia-cuda-cccl-13."]),
    ];
    let fresh = Fresh::new("libraries");
    let wheels = cuda_graph_build::cache().unwrap();
    let names: Vec<String> = fs::read_dir(&wheels)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().display().to_string())
        .collect();
    let body = "extern \"C\" __global__ void f(int *x) { *x = 1; }\n";
    fresh.write(
        "kernels/primitives.cu",
        &format!("#include <cub/block/block_reduce.cuh>\n#include <cuda/barrier>\n{body}"),
    );
    fresh.write(
        "kernels/device.cu",
        &format!("#include <cub/device/device_reduce.cuh>\n{body}"),
    );
    for (version, needed) in WHEELS {
        if !needed
            .iter()
            .all(|wheel| names.iter().any(|name| name.starts_with(wheel)))
        {
            println!(
                "left out: compilers_compile_the_libraries_of_cuda (`cargo cuda-graph fetch --with-headers --nvrtc \
                 {version}` fetches them)"
            );
            continue;
        }
        let run = |file: &str| {
            let line = format!("ptx --offline --with-headers --nvrtc {version} kernels/{file}.cu");
            fresh.run(wheels.parent().unwrap(), &line)
        };
        let compiled = run("primitives");
        assert!(compiled.status.success(), "{version}: {}", stderr(&compiled));
        assert!(stderr(&compiled).is_empty(), "{version}: {}", stderr(&compiled));
        let refused = stderr(&run("device"));
        let explains = [
            "headers for kernels, such as",
            "not supported when compiling with NVRTC",
        ];
        assert!(
            explains.iter().any(|text| refused.contains(text)),
            "{version}: {refused}"
        );
        assert!(!refused.contains("out, or add its"), "{version}: {refused}");
    }
}

/// The report in `docs/bugs.md` is what the command prints for that kernel, and so is the row in `docs/language.md`.
#[test]
fn the_report_in_the_docs_is_what_is_printed() {
    let docs = repository().join("docs");
    let check = |file: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-cuda-graph"))
            .args(["cuda-graph", "check", file])
            .current_dir(&docs)
            .output()
            .unwrap();
        stdout(&output)
    };
    let page = |name: &str| fs::read_to_string(docs.join(name)).unwrap();
    let printed = check("kernels/bugs.ptx");
    assert!(page("bugs.md").contains(&format!("```text\n{printed}```")), "{printed}");
    let printed = check("kernels/programmatic.ptx");
    let row = printed.lines().find(|line| line.starts_with("  programmatic "));
    let row = format!("```text\n{}\n```", row.unwrap());
    assert!(page("language.md").contains(&row), "{row}");
}
