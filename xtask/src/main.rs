//! `cargo xtask`: commands for maintainers. Nothing here is needed to build or use the workspace; `cargo test` holds
//! the rules of `house`.
//!
//! * `ptx` ([`ptx`]): compile every `.cu` to the `.ptx` beside it, or check that they agree.
//! * `ptxas` ([`ptx`]): assemble every `.ptx`, to know that a GPU will take it.
//! * `house` ([`house`]): check the order of modules in every crate, the number of names that they
//!   take from each other, and the columns of comments and Markdown.
//! * `cudart` ([`cudart`]): compare declarations of the CUDA runtime with its headers.
//! * `driver` ([`driver`]): run tests of the CUDA backend with the driver in software.
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
mod driver;
mod site;
mod ptx;
mod wheels;
mod workspace;

use sanitize::Sanitizer;
use std::path::Path;
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
  driver [PROGRAM].. [-- TESTS]
                     build the driver in software into target/driver, and run test
                     programs of graph-runtime with it, by default all that use CUDA
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
                     KIND is tests, delays, debug, runtime, examples, sanitizer,
                     bench or python
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
    match arguments {
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        // The command on the GPU machine, where there is no workspace.
        ["compare", "--run", here, only] => compare::run(here, only),
        _ => command(arguments)?(&workspace::root()?),
    }
}

/// A command that was understood. It is given the folder of the workspace.
type Command<'a> = Box<dyn FnOnce(&Path) -> Result<()> + 'a>;

/// Reads the words of a command.
///
/// # Errors
/// If there is no such command.
fn command<'a>(arguments: &'a [&'a str]) -> Result<Command<'a>> {
    let are_names = |words: &[&str]| !words.iter().any(|word| word.starts_with('-'));
    let command: Command<'a> = match arguments {
        ["ptx", "--check"] => Box::new(ptx::check),
        ["ptx", sources @ ..] if are_names(sources) => Box::new(|root| ptx::regenerate(root, sources)),
        ["house", "--write"] => Box::new(house::write_widths),
        ["house", crates @ ..] if are_names(crates) => Box::new(|root| house::check(root, crates)),
        ["cudart"] => Box::new(cudart::check),
        ["driver", words @ ..] => Box::new(|root| driver::test(root, words)),
        ["asan", words @ ..] => Box::new(|root| sanitize::sanitized(root, Sanitizer::Address, words)),
        ["tsan", words @ ..] => Box::new(|root| sanitize::sanitized(root, Sanitizer::Thread, words)),
        ["miri", words @ ..] => Box::new(|root| sanitize::miri(root, words)),
        ["site"] => Box::new(site::build),
        ["ptxas"] => Box::new(ptx::assemble),
        ["compare"] => Box::new(|root| compare::build(root, "")),
        ["compare", "--only", names] => Box::new(|root| compare::build(root, names)),
        ["compare", "--write", figures] => Box::new(|root| compare::write(root, figures)),
        ["gpu"] => Box::new(|root| gpu::build(root, None)),
        ["gpu", "--only", kind] => {
            let kind = kind.parse()?;
            Box::new(move |root| gpu::build(root, Some(kind)))
        }
        _ => return Err(format!("unknown arguments `{}`\n\n{USAGE}", arguments.join(" ")).into()),
    };
    Ok(command)
}

#[cfg(test)]
#[path = "../../cargo-cuda-graph/tests/pages/printed.rs"]
mod printed;

#[cfg(test)]
mod tests {
    use super::*;

    /// The test of cargo-cuda-graph that has this module tries the other commands.
    #[test]
    fn every_command_of_xtask_that_is_printed_is_one() {
        let root = workspace::root().expect("the workspace");
        let (mut read, mut in_blocks) = (0, 0);
        for printed in printed::commands(&root) {
            let words: Vec<&str> = printed.command.split(' ').collect();
            if let ["cargo", "xtask", words @ ..] = &words[..]
                && !words.is_empty()
            {
                let error = command(words).err().map(|error| error.to_string());
                assert_eq!(error, None, "{}", printed.file.display());
                read += 1;
                in_blocks += usize::from(printed.is_in_block);
            }
        }
        assert!(read > 20 && in_blocks > 10, "{read} commands, {in_blocks} in blocks");
        for wrong in [&["hous"][..], &["house", "--writ"], &["gpu", "--only", "all"]] {
            assert!(command(wrong).is_err(), "{wrong:?}");
        }
    }
}
