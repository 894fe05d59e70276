//! A crate with a build script that compiles a kernel, built by Cargo in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KERNEL: &str = "#include \"factor.h\"\nextern \"C\" __global__ void scale(float *data) { *data *= FACTOR; }\n";
const WHEEL: &str = "nvidia-cuda-nvrtc-cu12-12.4.127";

/// The crate. It is removed again.
struct Fresh(PathBuf);

impl Fresh {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("cuda-graph-build-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let fresh = Self(folder);
        let manifest = format!(
            "[package]\nname = \"fresh\"\nedition = \"2024\"\n[workspace]\n[build-dependencies]\n\
             cuda-graph-build = {{ path = {:?} }}\n",
            env!("CARGO_MANIFEST_DIR")
        );
        fresh.write("Cargo.toml", &manifest);
        // The versions of the workspace, which are on this machine.
        let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock")).unwrap();
        fresh.write("Cargo.lock", &lock);
        fresh.write(
            "build.rs",
            "fn main() -> cuda_graph_build::Result<()> {\n    cuda_graph_build::ptx(\"kernels/scale.cu\")\n}\n",
        );
        fresh.write(
            "src/main.rs",
            "fn main() {\n    print!(\"{}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/kernels/scale.ptx\")));\n}\n",
        );
        fresh.write("kernels/scale.cu", KERNEL);
        fresh.write("kernels/factor.h", "#define FACTOR 2\n");
        fresh
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Builds and runs it, with this cache.
    fn run(&self, cache: &Path) -> Output {
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["run", "--quiet", "--offline"])
            .current_dir(&self.0)
            .env("CARGO_TARGET_DIR", self.0.join("target"))
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

/// A cache that has NVRTC: the user's, or one that leads to the wheels of this repository.
fn cache_with_nvrtc(fresh: &Fresh) -> Option<PathBuf> {
    let own = cuda_graph_build::cache().ok()?;
    if own.join(WHEEL).is_dir() {
        return own.parent().map(Path::to_owned);
    }
    let wheels = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.wheels")).ok()?;
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
fn a_build_script_compiles_kernels_or_says_why_not() {
    let fresh = Fresh::new();
    let without = fresh.run(&fresh.0.join("empty"));
    let message = String::from_utf8(without.stderr).unwrap();
    match without.status.success() {
        true => println!("left out: the message without NVRTC (a CUDA toolkit is installed)"),
        false => assert!(
            message.contains("Error: there is no NVRTC") && message.contains("`cargo cuda-graph fetch` fetches it"),
            "{message}"
        ),
    }

    let Some(cache) = cache_with_nvrtc(&fresh) else {
        println!("left out: compiling in a build script (`cargo cuda-graph fetch` fetches NVRTC)");
        return;
    };
    let ptx = |output: Output| {
        let ptx = String::from_utf8(output.stdout).unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{message}");
        ptx
    };
    let first = ptx(fresh.run(&cache));
    assert!(first.contains(".visible .entry scale("), "{first}");
    fresh.write("kernels/factor.h", "#define FACTOR 3\n");
    assert_ne!(ptx(fresh.run(&cache)), first, "a header beside the source has changed");

    fresh.write(
        "kernels/scale.cu",
        "__global__ void scale(float *data) { *data *= factor; }\n",
    );
    let wrong = fresh.run(&cache);
    let message = String::from_utf8(wrong.stderr).unwrap();
    let part = "kernels/scale.cu(1): error: identifier \"factor\" is undefined";
    assert!(message.contains(part), "{message}");

    fresh.write("kernels/scale.cu", KERNEL);
    fresh.write("kernels/scale.ptx", &first);
    let stale = fresh.run(&cache);
    let message = String::from_utf8(stale.stderr).unwrap();
    assert!(message.contains("scale.ptx is in the way"), "{message}");
}
