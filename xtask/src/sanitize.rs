//! Tests with tools that see undefined behaviour: AddressSanitizer, ThreadSanitizer, and Miri.

use crate::{Result, driver};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that have `unsafe` code which runs without a GPU. (`graph-runtime` comes with its tests on the emulator.)
const CRATES: [&str; 2] = ["graph-emulator", LEAKING];

/// The crate that leaks on purpose: the facts of CUDA sources that were compiled, and in tests graphs that are
/// forgotten.
const LEAKING: &str = "graph-runtime";

/// The test that measures time, which instrumented code takes more of.
const TIMED: &str = "a_module_of_500_kernels_loads_at_once";

/// Options of Miri: tests read files and the clock, and rayon's threads run until the program ends.
const MIRI: &str = "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-permissive-provenance";

/// A sanitizer of rustc: the compiler instruments accesses of memory.
#[derive(Clone, Copy)]
pub(crate) enum Sanitizer {
    /// Memory that is not there: outside of allocations, or freed.
    Address,
    /// Races: accesses of two threads, neither of which knows that the other is done.
    Thread,
}

impl Sanitizer {
    /// The option's value, and the name of the runtime and of the target folder.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Address => ("address", "asan"),
            Self::Thread => ("thread", "tsan"),
        }
    }
}

/// Runs the tests of crates, by default those with `unsafe` code, with a sanitizer. What follows `--` is for the tests.
/// `graph-runtime` runs on the emulator, and with AddressSanitizer its CUDA backend, too, with the driver in software.
/// AddressSanitizer reports leaks too, but for [`LEAKING`].
///
/// The stable compiler has the sanitizers and their runtimes; `RUSTC_BOOTSTRAP` lets it take the option. For
/// AddressSanitizer the standard library is not instrumented, but its calls of the allocator are seen. ThreadSanitizer
/// must see its locks, so that it is compiled, too, from its source.
///
/// # Errors
/// If the toolchain has no runtime for the sanitizer, or for ThreadSanitizer no source of the standard library; if
/// tests cannot be built, or if one fails.
pub(crate) fn sanitized(root: &Path, sanitizer: Sanitizer, arguments: &[&str]) -> Result<()> {
    let target = host()?;
    let (name, short) = sanitizer.names();
    let runtime = libraries()?;
    let has_runtime = std::fs::read_dir(&runtime)?
        .flatten()
        .any(|file| file.file_name().to_string_lossy().ends_with(&format!("_rt.{short}.a")));
    if !has_runtime {
        return Err(format!("no runtime of the sanitizer in {}", runtime.display()).into());
    }
    let std_too = matches!(sanitizer, Sanitizer::Thread);
    let source = Path::new(rustc(&["--print", "sysroot"])?.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
    if std_too && !source.exists() {
        return Err("no source of the standard library: `rustup component add rust-src`".into());
    }
    let (crates, tests) = split(arguments);
    let crates = if crates.is_empty() { &CRATES[..] } else { crates };
    let tested = |crate_name: &str, programs: &[&str]| {
        let leaks = u8::from(crate_name != LEAKING);
        let mut command = Command::new(cargo());
        command
            .current_dir(root)
            .args(["test", "--no-fail-fast", "--target", &target, "-p", crate_name])
            .arg(format!("--target-dir=target/{short}"))
            .args(std_too.then_some("-Zbuild-std"))
            .args((crate_name == LEAKING).then_some("--features=fault-injection"))
            .args(programs.is_empty().then_some("--tests"))
            .args(programs.iter().flat_map(|program| ["--test", *program]))
            .args(["--", "--skip", TIMED])
            .env("RUSTC_BOOTSTRAP", "1")
            // Programs have the runtime of the sanitizer, and give it to the driver in software when they load that.
            .env(
                "RUSTFLAGS",
                format!("-Zsanitizer={name} -Clink-arg=-Wl,--export-dynamic"),
            )
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            // Tests allocate more than there is, on purpose. By default that is a report.
            .env(
                "ASAN_OPTIONS",
                format!("allocator_may_return_null=1:detect_leaks={leaks}"),
            )
            .env("TSAN_OPTIONS", "allocator_may_return_null=1");
        command
    };
    for crate_name in crates {
        run(tested(crate_name, &[]).args(tests))?;
        if *crate_name == LEAKING && !std_too {
            let folder = root.join("target").join(short);
            let compiled = folder.join(&target).join("debug");
            let mut command = tested(crate_name, &driver::PROGRAMS);
            run(driver::with(&mut command, &folder.join("driver"), &compiled)?.args(tests))?;
        }
    }
    Ok(())
}

/// Runs the unit tests of crates under Miri, by default of those with `unsafe` code. What follows `--` is for the
/// tests.
///
/// # Errors
/// If the nightly toolchain has no Miri, or if a test fails.
pub(crate) fn miri(root: &Path, arguments: &[&str]) -> Result<()> {
    let rustup = |arguments: &[&str]| {
        let mut command = Command::new("rustup");
        command.current_dir(root).args(["run", "nightly"]).args(arguments);
        // Those of the toolchain that runs this.
        command
            .env_remove("CARGO")
            .env_remove("RUSTC")
            .env_remove("RUSTUP_TOOLCHAIN");
        command
    };
    let found = rustup(&["cargo", "miri", "--version"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        let install = "rustup toolchain install nightly --component miri,rust-src";
        return Err(format!("no Miri in the nightly toolchain: `{install}`").into());
    }
    let (crates, tests) = split(arguments);
    let crates = if crates.is_empty() { &CRATES[..] } else { crates };
    let mut command = rustup(&["cargo", "miri", "test", "--lib", "--target-dir", "target/miri"]);
    command
        .args(crates.iter().flat_map(|name| ["-p", *name]))
        .arg("--")
        .args(tests)
        .env("MIRIFLAGS", MIRI);
    run(&mut command)
}

/// The arguments before `--`, and those after it.
fn split<'a>(arguments: &'a [&'a str]) -> (&'a [&'a str], &'a [&'a str]) {
    match arguments.iter().position(|&argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[]),
    }
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The target of this machine: `x86_64-unknown-linux-gnu`.
fn host() -> Result<String> {
    let version = rustc(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not tell its host")?.to_owned())
}

/// The folder of the toolchain's libraries for this machine.
fn libraries() -> Result<PathBuf> {
    Ok(PathBuf::from(rustc(&["--print", "target-libdir"])?.trim()))
}

fn run(command: &mut Command) -> Result<()> {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("the tests ended with {status}").into()),
    }
}
