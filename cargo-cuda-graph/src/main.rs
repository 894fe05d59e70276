//! `cargo cuda-graph`: the command for people who write kernels.
//!
//! * `check` ([`check`]): say what the kernels of a file read and write, what is refused, and how to declare them.
//! * `ptx` ([`ptx`]): compile CUDA sources to the `.ptx` beside them.
//! * `fetch` ([`ptx`]): fetch the compiler, for machines that will have no network.
//!
//! [`arguments`] reads the command line. `cuda_graph_build` compiles; `graph_ptx` and `graph_emulator` read PTX.
#![forbid(unsafe_code)]

mod check;
mod ptx;
mod arguments;

use std::process::ExitCode;

use arguments::{Arguments, Command, Usage};

/// The result of a command. Errors here are only shown, so each is just a message.
type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// The exit code of a command line that makes no sense.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(Usage::Help(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(Usage::Wrong(message)) => {
            eprintln!("error: {message}");
            return ExitCode::from(BAD_USAGE);
        }
    };
    let outcome = match arguments.command {
        Command::Check => check::run(&arguments),
        Command::Ptx => ptx::run(&arguments).map(|()| true),
        Command::Fetch => ptx::fetch(&arguments).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
