//! `cargo xtask`: commands for maintainers. Nothing here is needed to build or use the workspace; `cargo test` holds
//! the rules of `house`.
//!
//! * `ptx` ([`ptx`]): compile every `.cu` to the `.ptx` beside it, or check that they agree.
//! * `ptxas` ([`ptx`]): assemble every `.ptx`, to know that a GPU will take it.
//! * `house` ([`house`]): check the order of modules in every crate, the number of names that they
//!   take from each other, and the columns of comments and Markdown.
//! * `cudart` ([`cudart`]): compare declarations of the CUDA runtime with its headers.
//! * `asan`, `tsan`, `miri` ([`sanitize`]): run tests with AddressSanitizer, with ThreadSanitizer, or under Miri.
//! * `site` ([`site`]): build the documentation site.
//! * `gpu` ([`gpu`]): build what a machine with a GPU, and without Rust, needs to run tests, examples and benchmarks.
//! * `compare` ([`compare`]): build what such a machine needs to compare programs with PyTorch, and write the results
//!   into a page.
//!
//! `cuda_graph_build` fetches NVIDIA's tools from PyPI, those of [`wheels`] too, and calls the compiler among them.

mod compare;
mod cudart;
mod gpu;
mod house;
mod pack;
mod sanitize;
mod site;
mod ptx;
mod wheels;
mod workspace;

use sanitize::Sanitizer;
use std::process::ExitCode;

/// The result of every command. Errors here are only shown, so each is just a message.
type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const USAGE: &str = "\
usage: cargo xtask <command>

  ptx [FILE.cu]..    compile every .cu, or these, to the .ptx beside it with NVRTC 12.4
  ptx --check        write nothing, and fail where a .ptx is not what its .cu compiles to
  ptxas              assemble every .ptx with ptxas 12.4, for its own .target
  house [CRATE]...   say which modules use a module above them or each other in a
                     circle, which take more names from another room than
                     xtask/src/house/widths.txt has, and which comments run past
                     column 120
  house --write      write that table
  cudart             compare what graph-runtime declares of the CUDA runtime with the
                     headers of CUDA 12 and 13, and compile the program in C++ of
                     docs/cudart.md, with c++
  asan [CRATE].. [-- TESTS]
                     run tests with AddressSanitizer: those of crates with unsafe
                     code, or of the named crates
  tsan [CRATE].. [-- TESTS]
                     run them with ThreadSanitizer, for which the toolchain must have
                     rust-src
  miri [CRATE].. [-- TESTS]
                     run unit tests of crates with unsafe code under Miri, which
                     the nightly toolchain must have
  site               build the documentation into target/site/: README.md, docs/,
                     and rustdoc; `cargo install mdbook` installs the tool for it
  gpu [--only KIND]  build what a machine with a GPU needs into .gpu/;
                     KIND is tests, delays, debug, runtime, examples, sanitizer
                     or bench
  compare [--only PROGRAM,..]
                     build what a machine with a GPU and PyTorch needs to compare
                     programs of examples into .gpu/
  compare --write FILE
                     put the figures of such a visit, performance.json, into
                     docs/performance.md and README.md

They fetch their pinned NVIDIA wheels from PyPI into .wheels/ the first time (Linux x86-64 and Python needed).";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    // The command on the GPU machine, where there is no workspace.
    if let ["compare", "--run", here, only] = arguments {
        return compare::run(here, only);
    }
    let root = workspace::root()?;
    match arguments {
        ["ptx", "--check"] => ptx::check(&root),
        ["ptx", sources @ ..] => ptx::regenerate(&root, sources),
        ["house", "--write"] => house::write_widths(&root),
        ["house", crates @ ..] => house::check(&root, crates),
        ["cudart"] => cudart::check(&root),
        ["asan", arguments @ ..] => sanitize::sanitized(&root, Sanitizer::Address, arguments),
        ["tsan", arguments @ ..] => sanitize::sanitized(&root, Sanitizer::Thread, arguments),
        ["miri", arguments @ ..] => sanitize::miri(&root, arguments),
        ["site"] => site::build(&root),
        ["ptxas"] => ptx::assemble(&root),
        ["compare"] => compare::build(&root, ""),
        ["compare", "--only", names] => compare::build(&root, names),
        ["compare", "--write", figures] => compare::write(&root, figures),
        ["gpu"] => gpu::build(&root, None),
        ["gpu", "--only", kind] => gpu::build(&root, Some(kind.parse()?)),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("unknown arguments `{}`\n\n{USAGE}", arguments.join(" ")).into()),
    }
}
