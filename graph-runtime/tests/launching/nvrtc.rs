//! Kernels whose CUDA source is compiled when they are first used: compiling, the cache, and what is checked when a
//! graph is built.
//!
//! The cache and the place of the compiler are read from the environment, so every test runs in a process of its own.
//! Tests that need the compiler say so where it is missing (`.wheels` has one after `cargo xtask ptx`); the others use
//! the entry that is checked in, which `CUDA_GRAPH_UPDATE_CACHE=1 cargo test -p graph-runtime --test launching kept`
//! writes anew after a change to `scale.cu`.

mod process;

use crate::common::*;
use process::{entries, *};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::{env, fs};

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Weights {
    slope: f32,
    shift: f32,
}

// SAFETY: two fields of four bytes, of which every pattern is valid; no padding.
unsafe impl graph_runtime::bytemuck::Pod for Weights {}
// SAFETY: as above.
unsafe impl graph_runtime::bytemuck::Zeroable for Weights {}

#[cuda_kernels(cuda = "tests/sources/scale.cu", options = ["-DFACTOR=3"])]
unsafe extern "C" {
    #[requires(n <= data.len())]
    safe fn scale(data: &mut [f32], by: f32, n: u32);
    #[requires(threads <= out.len() && threads <= input.len())]
    safe fn weigh(input: &[f32], out: &mut [f32], w: Weights);
    safe fn count(out: &mut [u32]);
}

/// Declarations that are wrong, of the same file.
mod wrong {
    use super::{Weights, cuda_kernels};

    #[cuda_kernels(cuda = "tests/sources/scale.cu", options = ["-DFACTOR=3"])]
    unsafe extern "C" {
        pub(super) safe fn scalee(data: &mut [f32], by: f32, n: u32);
        #[link_name = "scale"]
        pub(super) safe fn wide(data: &mut [f32], by: f64, n: u32);
        #[link_name = "scale"]
        pub(super) safe fn shared(data: &[f32], by: f32, n: u32);
        #[link_name = "scale"]
        pub(super) safe fn short(data: &mut [f32], by: f32);
        #[link_name = "weigh"]
        pub(super) safe fn structs(input: &[f32], out: &mut [f32], w: [Weights; 2]);
    }
}

#[cuda_kernels(cuda = "tests/sources/broken.cu")]
unsafe extern "C" {
    safe fn broken(out: &mut [f32]);
}

/// A source that includes headers of the host.
#[cuda_kernels(cuda = "tests/sources/host_headers.cu")]
unsafe extern "C" {
    #[requires(n <= input.len() && n <= out.len())]
    safe fn rounded(input: &[f32], out: &mut [i32], n: u32);
}

/// Kernels that read through textures, of the source whose PTX the tests of textures use, and declarations of them that
/// are wrong.
mod textures {
    use super::cuda_kernels;
    use graph_runtime::Texel;

    #[cuda_kernels(cuda = "tests/kernels/textures.cu")]
    unsafe extern "C" {
        #[requires(threads <= index.len() && threads <= out.len())]
        pub(super) safe fn gather_texels(table: &[Texel<f32>], index: &[i32], out: &mut [f32]);
        #[requires(threads <= at.len() && threads <= out.len())]
        pub(super) safe fn sample(image: &[[Texel<f32>; 8]], at: &[[f32; 2]], out: &mut [f32]);
        #[link_name = "gather_texels"]
        pub(super) safe fn plain(table: &[f32], index: &[i32], out: &mut [f32]);
        #[link_name = "gather_texels"]
        pub(super) safe fn image(table: &[[Texel<f32>; 8]], index: &[i32], out: &mut [f32]);
    }
}

/// Kernels that write past the end of `out`, and declarations that do not say that they write.
mod lines {
    use super::cuda_kernels;

    #[cuda_kernels(cuda = "tests/sources/lines.cu")]
    unsafe extern "C" {
        pub(super) fn own(out: &mut [f32]);
        pub(super) fn called(out: &mut [f32]);
        #[link_name = "own"]
        pub(super) fn own_reads(out: &[f32]);
        #[link_name = "called"]
        pub(super) fn called_reads(out: &[f32]);
    }
}

cuda_graph! {
    graph Scaled {
        host   input:  [f32; 64];
        device data:   [f32; 64];
        device sums:   [f32; 64];
        host   output: [f32; 64];
        param  by: f32 = 2.0;

        memcpy upload   = input -> data;
        kernel scaled   = scale<<<1, 64>>>(&mut data, by, 64)                                    after upload;
        kernel weighed  = weigh<<<1, 64>>>(&data, &mut sums, Weights { slope: 2.0, shift: 1.0 })  after scaled;
        memcpy download = sums -> output                                                         after weighed;
    }
}

/// Builds the graph, launches it, changes it, launches it again.
fn run(device: &Device) -> Result<()> {
    let mut graph = Scaled::build(device)?;
    graph.input_mut()?.fill(5.0);
    graph.launch()?;
    assert_eq!(graph.output()?, &[61.0; 64], "5 x 2 x FACTOR, x 2 + 1");
    graph.set_by(1.0)?;
    graph.launch()?;
    assert_eq!(graph.output()?, &[31.0; 64]);
    let mut second = Scaled::build(device)?; // compiled, and held against its declaration, already
    second.input_mut()?.fill(1.0);
    second.launch()?;
    assert_eq!(second.output()?, &[13.0; 64]);
    Ok(())
}

/// The compiler, for a test that lets its processes only [`run`]; `None` in these, and where there is no compiler.
fn compiler_outside(name: &str) -> Option<PathBuf> {
    if is_child(name) {
        run(&Device::emulator()).unwrap();
        return None;
    }
    compiler(name)
}

#[test]
fn a_cache_that_others_have_filled_needs_no_compiler() {
    const NAME: &str = "a_cache_that_others_have_filled_needs_no_compiler";
    if is_child(NAME) {
        run(&Device::emulator()).unwrap();
    } else {
        again(NAME, &Cache::prepared().0, None);
    }
}

#[test]
fn what_is_compiled_is_kept() {
    const NAME: &str = "what_is_compiled_is_kept";
    let Some(compiler) = compiler_outside(NAME) else { return };
    let cache = Cache::new();
    again(NAME, &cache.0, Some(&compiler));
    let [(name, entry)] = &entries(&cache.0)[..] else {
        panic!("one entry, and nothing left over: {:?}", entries(&cache.0))
    };
    again(NAME, &cache.0, None);
    if env::var_os("CUDA_GRAPH_UPDATE_CACHE").is_some() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
        fs::write(sources.join("scale.entry"), entry).unwrap();
        fs::write(sources.join("scale.name"), name.as_encoded_bytes()).unwrap();
    } else {
        assert_eq!(name, KEPT_NAME, "the source has changed: see the head of this file");
    }
}

#[test]
fn the_device_gets_its_own() {
    const NAME: &str = "the_device_gets_its_own";
    if is_child(NAME) {
        run(&device()).unwrap();
    } else {
        again_with_compiler(NAME);
    }
}

#[test]
fn entries_that_are_damaged_or_of_another_compiler_are_replaced() {
    const NAME: &str = "entries_that_are_damaged_or_of_another_compiler_are_replaced";
    let Some(compiler) = compiler_outside(NAME) else { return };
    let cache = Cache::new();
    again(NAME, &cache.0, Some(&compiler));
    let whole = entries(&cache.0);
    let (name, entry) = &whole[0];
    let text = String::from_utf8(entry.clone()).unwrap();
    let version = text.split(' ').nth(1).unwrap();
    for damaged in [
        "",
        "garbage",
        &text[..text.len() / 2],
        &text.replace("mul", "add"),
        &text.replacen(version, "1.0", 1),
    ] {
        fs::write(cache.0.join(name), damaged).unwrap();
        again(NAME, &cache.0, Some(&compiler));
        assert_eq!(entries(&cache.0), whole, "{}", &damaged[..damaged.len().min(80)]);
    }
}

#[test]
fn processes_fill_one_cache_at_once() {
    const NAME: &str = "processes_fill_one_cache_at_once";
    let Some(compiler) = compiler_outside(NAME) else { return };
    let cache = Cache::new();
    let children: Vec<Child> = (0..4).map(|_| start(NAME, &cache.0, Some(&compiler))).collect();
    children.into_iter().for_each(finish);
    assert_eq!(entries(&cache.0).len(), 1, "{:?}", entries(&cache.0));
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    const NAME: &str = "a_cache_that_cannot_be_written_is_no_error";
    let Some(compiler) = compiler_outside(NAME) else { return };
    let cache = Cache::new();
    let file = cache.0.join("file");
    fs::write(&file, "in the way").unwrap();
    again(NAME, &file.join("folder"), Some(&compiler));
}

/// A folder with the compiler under the name that toolkits and packages of CUDA 13 give it.
#[cfg(unix)]
fn renamed(compiler: &Path, to: &Path) {
    use std::os::unix::fs::symlink;
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(compiler).unwrap().flatten() {
        let name = file.file_name();
        if name.to_str().is_some_and(|name| name.starts_with("libnvrtc-builtins")) {
            symlink(file.path(), to.join(name)).unwrap();
        }
    }
    symlink(library(compiler).unwrap(), to.join("libnvrtc.so.13")).unwrap();
}

#[cfg(unix)]
#[test]
fn the_compiler_is_found_under_its_versions_name() {
    const NAME: &str = "the_compiler_is_found_under_its_versions_name";
    let Some(compiler) = compiler_outside(NAME) else { return };
    let place = Cache::new();
    let packages = "lib/python3.12/site-packages/nvidia/cu13/lib";
    for (variable, inside) in [
        ("LD_LIBRARY_PATH", ""),
        ("CUDA_HOME", "lib64"),
        ("CUDA_PATH", "lib"),
        ("VIRTUAL_ENV", packages),
        ("HOME", &format!(".local/{packages}")),
        // Where `cargo cuda-graph fetch` puts it.
        (
            "CUDA_GRAPH_CACHE_DIR",
            "wheels/nvidia-cuda-nvrtc-cu12-12.4.127/nvidia/cuda_nvrtc/lib",
        ),
    ] {
        let folder = place.0.join(variable);
        renamed(&compiler, &folder.join(inside));
        let mut command = command(NAME, &Cache::new().0, None);
        finish(command.env(variable, &folder).spawn().unwrap());
    }
}

#[test]
fn without_a_compiler_the_error_says_what_to_do() {
    const NAME: &str = "without_a_compiler_the_error_says_what_to_do";
    if !is_child(NAME) {
        return again(NAME, &Cache::new().0, None);
    }
    let error = match Scaled::build(&Device::emulator()) {
        Ok(_) => return eprintln!("{NAME}: skipped, since NVRTC is where every process finds it"),
        Err(error) => error,
    };
    assert!(matches!(error, Error::NoNvrtc { .. }), "{error}");
    let text = error.to_string();
    text.begins(
        "graph `Scaled`, node `scaled`: cannot compile `tests/sources/scale.cu`: NVRTC (libnvrtc), NVIDIA's compiler for that, was \
             not found\nnote: ",
    );
    for part in [
        &env::var("CUDA_GRAPH_CACHE_DIR").unwrap(),
        "note: the loader, which looks in `LD_LIBRARY_PATH`, finds none of `libnvrtc.so`, `libnvrtc.so.13`, `libnvrtc.so.12`",
        "note: there is none in `/nowhere/lib64`, `/nowhere/lib`, `/usr/local/cuda/lib64`",
        "`cargo cuda-graph fetch` fetches it",
        "cargo cuda-graph ptx",
        "#[cuda_kernels(\"x.ptx\")]",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn the_compilers_messages_are_shown() {
    const NAME: &str = "the_compilers_messages_are_shown";
    if !is_child(NAME) {
        return again_with_compiler(NAME);
    }
    let mut builder = GraphBuilder::new(&device(), "Broken");
    let mut out = builder.device::<[f32; 1]>("out");
    builder.kernel("first", Launch::new(1, 1), broken::call(&mut out));
    let error = builder.build().unwrap_err();
    assert!(matches!(error, Error::Compile { .. }), "{error}");
    let text = error.to_string();
    text.begins(
        "graph `Broken`, node `first`: cannot compile `tests/sources/broken.cu`: nvrtcCompileProgram failed: NVRTC_ERROR_COMPILATION\n",
    );
    text.says("tests/sources/broken.cu(4): error: identifier \"no_such_name\" is undefined");
}

#[test]
fn messages_name_lines_of_the_source() {
    const NAME: &str = "messages_name_lines_of_the_source";
    if !is_child(NAME) {
        return again_with_compiler(NAME);
    }
    let found = mistakes(|builder| {
        let out = builder.device::<[f32; 4]>("out");
        // SAFETY: it is not launched, since it is declared wrongly.
        let own = unsafe { lines::own_reads::call(&out) };
        // SAFETY: likewise.
        let called = unsafe { lines::called_reads::call(&out) };
        let own = builder.kernel("own", Launch::new(1, 4), own);
        let called = builder.kernel("called", Launch::new(1, 4), called);
        builder.after(called, &[own]);
    });
    let places = [
        "note: the access is at `tests/sources/lines.cu:6`\n",
        "note: the access is at `lines.h:2`, inlined at `tests/sources/lines.cu:10`\n",
    ];
    for (found, place) in found.iter().zip(places) {
        assert!(found.contains(place), "no {place} in {found}");
    }
    assert_eq!(found.len(), places.len(), "{found:?}");
    for (own, place) in [
        (true, "(tests/sources/lines.cu:6): store"),
        (false, "(lines.h:2, inlined at tests/sources/lines.cu:10): store"),
    ] {
        let mut builder = GraphBuilder::new(&Device::emulator(), "Wrong");
        let mut out = builder.device::<[f32; 4]>("out");
        let call = match own {
            // SAFETY: it is false, and the emulator finds it.
            true => unsafe { lines::own::call(&mut out) },
            // SAFETY: likewise.
            false => unsafe { lines::called::call(&mut out) },
        };
        builder.kernel("node", Launch::new(1, 8), call);
        let graph = launched(builder.build()).unwrap();
        let fault = graph.synchronize().unwrap_err().to_string();
        assert!(fault.contains(place), "no {place} in {fault}");
    }
}

/// NVRTC has no headers of the host, so it gets texts for them.
#[test]
fn sources_include_headers_of_the_host() {
    const NAME: &str = "sources_include_headers_of_the_host";
    if !is_child(NAME) {
        return again_with_compiler(NAME);
    }
    let mut builder = GraphBuilder::new(&device(), "Rounded");
    let (input, mut out) = (builder.device::<[f32; 4]>("input"), builder.device::<[i32; 4]>("out"));
    builder.kernel("k", Launch::new(1, 4), rounded::call(&input, &mut out, 4));
    let mut graph = builder.build().unwrap();
    graph
        .device_mut(&input)
        .unwrap()
        .copy_from(&[1.5, -1.5, 7.0, 99.0])
        .unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.device(&out).unwrap().read().unwrap(), [2, -1, 8, 9]);
}

/// A CUDA source of a program that writes kernels while it runs.
fn scaled_by(factor: &str) -> CudaText {
    let text = "#include <cstdint>\n#include \"tile.h\"\n\
                extern \"C\" __global__ void scaled(float *data, uint32_t n) {\n\
                    uint32_t i = blockIdx.x * TILE + threadIdx.x;\n\
                    if (i < n) data[i] *= FACTOR;\n\
                }\n";
    CudaText::new("scaled.cu", text)
        .header("tile.h", "#define TILE 32\n")
        .option(format!("-DFACTOR={factor}"))
}

#[test]
fn texts_of_the_program_become_modules() {
    const NAME: &str = "texts_of_the_program_become_modules";
    if is_child(NAME) {
        let device = device();
        let module = device.compile(&scaled_by("3.0f")).unwrap();
        assert!(module.ptx().contains(".entry scaled"));
        let kernel = module.kernel("scaled").unwrap();
        let mut builder = GraphBuilder::new(&device, "Text");
        let mut data = builder.device::<[f32; 64]>("data");
        // SAFETY: the kernel writes the first 40 elements of 64.
        let call = unsafe { kernel.call([data.write(), 40_u32.into()]) };
        builder.kernel("k", Launch::new(2, 32), call);
        // SAFETY: the node is refused: it does not say that the kernel writes.
        let reads = unsafe { kernel.call([data.read(), 40_u32.into()]) };
        let mut wrong = GraphBuilder::new(&device, "Wrong");
        wrong.kernel("k", Launch::new(2, 32), reads);
        let wrong = wrong.build().unwrap_err().to_string();
        wrong.says("[access]");
        let mut graph = builder.build().unwrap();
        graph.device_mut(&data).unwrap().copy_from(&[2.0; 64]).unwrap();
        graph.launch().unwrap();
        let data = graph.device(&data).unwrap().read().unwrap();
        assert_eq!((data[0], data[39], data[40]), (6.0, 6.0, 2.0));
        return;
    }
    let Some(compiler) = compiler(NAME) else { return };
    let cache = Cache::new();
    again(NAME, &cache.0, Some(&compiler));
    assert_eq!(entries(&cache.0).len(), 1);
    again(NAME, &cache.0, None); // the cache has it
}

#[test]
fn mistakes_of_texts_say_what_to_do() {
    const NAME: &str = "mistakes_of_texts_say_what_to_do";
    if !is_child(NAME) {
        return again_with_compiler(NAME);
    }
    let refused = |text: &str| {
        let refused = device().compile(&CudaText::new("jit.cu", text)).unwrap_err();
        assert!(matches!(refused, Error::Compile { .. }), "{refused}");
        refused.to_string()
    };
    let unknown = refused("extern \"C\" __global__ void k(int *out) { *out = no_such_name; }");
    unknown.begins("cannot compile `jit.cu`: ");
    unknown.says("jit.cu(1): error: identifier \"no_such_name\" is undefined");
    let missing = refused("#include <no_such_header.h>\n");
    missing.says("open source file \"no_such_header.h\"");
    missing.says("help: if `no_such_header.h` is one of CUDA's headers, set `CUDA_PATH`");
    let host = refused("void launch() {}\nextern \"C\" __global__ void k() {}");
    host.says("help: NVRTC compiles code of the device alone: write `#ifndef __CUDACC_RTC__`");
    let mangled = device().compile(&CudaText::new("jit.cu", "__global__ void scale(float *x) { *x *= 2; }"));
    let unknown = mangled.unwrap().kernel("scale").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "kernel `scale` is not in `jit.cu`\nnote: C++ calls it `_Z5scalePf`\n\
         help: find it by that name, or write `extern \"C\"` before it in its source"
    );
    let zero = refused("extern \"C\" __global__ void k() {}\0");
    zero.says("the text contains a zero byte");
}

/// The mistakes of a graph with one node.
fn mistakes(build: impl FnOnce(&mut GraphBuilder)) -> Vec<String> {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Wrong");
    build(&mut builder);
    let found = crate::common::mistakes(builder.build());
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn declarations_are_held_against_what_was_compiled() {
    const NAME: &str = "declarations_are_held_against_what_was_compiled";
    if !is_child(NAME) {
        return again(NAME, &Cache::prepared().0, None);
    }
    let missing = mistakes(|builder| {
        let mut data = builder.device::<[f32; 4]>("data");
        let one = builder.kernel("one", Launch::new(1, 1), wrong::scalee::call(&mut data, 1.0, 4));
        let two = builder.kernel("two", Launch::new(1, 1), wrong::scalee::call(&mut data, 1.0, 4));
        builder.after(two, &[one]);
    });
    let expected = "node `one`: `tests/sources/scale.cu` has no kernel `scalee` [missing-kernel]\n\
             note: the kernel `scale` is `fn scale(p0: &mut [f32], p1: f32, p2: u32);`\nhelp: did you mean `scale`?";
    assert_eq!(missing, [expected], "once for all nodes");
    let wide = mistakes(|builder| {
        let mut data = builder.device::<[f32; 4]>("data");
        builder.kernel("one", Launch::new(1, 1), wrong::wide::call(&mut data, 1.0, 4));
    });
    let wanted = [
        "node `one`: `by` is `f64`, of 8 bytes, but the kernel takes 4 bytes [signature]\n\
             note: it is `.f32 scale_param_1` of `scale` in `tests/sources/scale.cu`\n\
             help: declare it `by: f32`",
    ];
    assert_eq!(wide, wanted);
    let shared = mistakes(|builder| {
        let data = builder.device::<[f32; 4]>("data");
        builder.kernel("one", Launch::new(1, 1), wrong::shared::call(&data, 1.0, 4));
    });
    shared[0].begins("node `one`: the kernel `shared` writes to `data`, which is declared `&` [access]\n");
    // The entry of the cache was compiled without lines of the source. A compiler of another version is not satisfied
    // with it, and compiles the source with them.
    let places = [
        " of the PTX of `tests/sources/scale.cu`\n",
        "note: the access is at `tests/sources/scale.cu:9`\n",
    ];
    assert!(places.iter().any(|place| shared[0].contains(place)), "{shared:?}");
    let short = mistakes(|builder| {
        let mut data = builder.device::<[f32; 4]>("data");
        builder.kernel("one", Launch::new(1, 1), wrong::short::call(&mut data, 1.0));
    });
    short[0].begins("node `one`: the kernel `short` takes 3 parameters, but 2 are declared [signature]\n");
    let structs = mistakes(|builder| {
        let (input, mut out) = (builder.device::<[f32; 64]>("input"), builder.device::<[f32; 64]>("out"));
        let weights = [Weights { slope: 1.0, shift: 0.0 }; 2];
        let call = wrong::structs::call(&input, &mut out, weights);
        builder.kernel("one", Launch::new(1, 1), call);
    });
    let expected = "node `one`: `w` is `[Weights; 2]`, of 16 bytes aligned to 4, but the kernel takes 8 bytes aligned to 4 [signature]\n";
    assert!(structs[0].starts_with(expected), "{structs:?}");
}

#[test]
fn what_the_ptx_says_counts_at_build() {
    const NAME: &str = "what_the_ptx_says_counts_at_build";
    if !is_child(NAME) {
        return again(NAME, &Cache::prepared().0, None);
    }
    let too_many = mistakes(|builder| {
        let input = builder.device::<[f32; 128]>("input");
        let mut out = builder.device::<[f32; 128]>("out");
        let weights = Weights { slope: 1.0, shift: 0.0 };
        builder.kernel("one", Launch::new(1, 128), weigh::call(&input, &mut out, weights));
    });
    let expected = "node `one`: a block of 128 threads is over the kernel's own limit (`.maxntid`) of 64 [launch-config]\n\
         note: the kernel is `weigh`";
    assert_eq!(too_many, [expected]);
    let contract = mistakes(|builder| {
        let mut data = builder.device::<[f32; 4]>("data");
        builder.kernel("one", Launch::new(1, 1), scale::call(&mut data, 1.0, 5));
    });
    contract[0].begins("node `one`: kernel `scale` requires `n <= data.len()` [contract]");
    let race = mistakes(|builder| {
        let (mut a, mut b) = (builder.device::<[u32; 1]>("a"), builder.device::<[u32; 1]>("b"));
        builder.kernel("one", Launch::new(1, 1), count::call(&mut a));
        builder.kernel("two", Launch::new(1, 1), count::call(&mut b));
    });
    race[0].begins("nodes `one` and `two` can run at the same time and both access `launches` [race]");
}

/// Runs the kernels that read through textures.
fn textured() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device table:    [f32; 64];
        device image:    [[f32; 8]; 4];
        device index:    [i32; 4];
        device at:       [[f32; 2]; 4];
        device gathered: [f32; 4];
        device sampled:  [f32; 4];

        kernel gather = textures::gather_texels<<<1, 4>>>(&table, &index, &mut gathered);
        kernel sample = textures::sample<<<1, 4>>>(&image, &at, &mut sampled);
    }?;
    let table = std::array::from_fn(|i| 100.0 + i as f32);
    graph.table_mut()?.copy_from(&table)?;
    graph.index_mut()?.copy_from(&[0, 63, 7, -1])?;
    let image = std::array::from_fn(|row| std::array::from_fn(|x| (8 * row + x) as f32));
    graph.image_mut()?.copy_from(&image)?;
    let at = [[0.5, 0.5], [3.9, 0.1], [7.5, 3.5], [-5.0, 1.5]];
    graph.at_mut()?.copy_from(&at)?;
    graph.launch()?;
    assert_eq!(*graph.gathered()?.read()?, [100.0, 163.0, 107.0, 0.0]);
    assert_eq!(*graph.sampled()?.read()?, [0.0, 3.0, 31.0, 8.0]);
    Ok(())
}

#[test]
fn compiled_kernels_read_through_textures() {
    const NAME: &str = "compiled_kernels_read_through_textures";
    if !is_child(NAME) {
        return again_with_compiler(NAME);
    }
    textured().unwrap();
    let plain = mistakes(|builder| {
        let (table, index) = (
            builder.device::<[f32; 64]>("table"),
            builder.device::<[i32; 4]>("index"),
        );
        let call = textures::plain::call(&table, &index, &mut builder.device::<[f32; 4]>("out"));
        builder.kernel("plain", Launch::new(1, 4), call);
    });
    let image = mistakes(|builder| {
        let (table, index) = (
            builder.device::<[[f32; 8]; 8]>("table"),
            builder.device::<[i32; 4]>("index"),
        );
        let call = textures::image::call(&table, &index, &mut builder.device::<[f32; 4]>("out"));
        builder.kernel("image", Launch::new(1, 4), call);
    });
    assert_eq!((plain.len(), image.len()), (1, 1), "{plain:?}, {image:?}");
    plain[0].begins(
        "node `plain`: the kernel `plain` reads `table` through a texture, but it is declared `&[f32]` [access]\n",
    );
    image[0].begins("node `image`: ");
    image[0].says("[access]");
}
