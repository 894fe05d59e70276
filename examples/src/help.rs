//! The text that a program prints with `--help`: the documentation at the top of its file.

use std::fmt::Write as _;
use std::path::Path;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("bin/", $name, ".rs")))),*]
    };
}

/// The programs and their sources.
const SOURCES: &[(&str, &str)] = sources![
    "captured",
    "engine",
    "forward_backward",
    "forward_backward_eager",
    "generate",
    "graphed",
    "infer",
    "llama",
    "matrix_power",
    "mlp",
    "overlap",
    "parallel_gemms",
    "ring",
    "roots",
    "server",
    "train_conv",
    "train_digits",
    "train_linear",
    "train_parallel",
    "train_text",
    "transformer_block",
    "wavefront",
];

const OPTIONS: &str = "
Options of all programs:
  --plan    print the graphs as Mermaid drawings (or `--plan svg`), and run nothing
  --bench   also print the time of a step, if the device is a GPU and the program measures one
  --small   do as little on a GPU as on the emulator
  --help    print this
`RUST_LOG=graph_runtime=trace` shows how graphs are built, call by call.";

/// Returns the names of all programs, each with the first paragraph of its documentation.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, String)> {
    let paragraph = |source: &str| {
        let lines = source.lines().map_while(|line| line.strip_prefix("//! "));
        lines.collect::<Vec<_>>().join(" ")
    };
    SOURCES.iter().map(move |&(name, source)| (name, paragraph(source)))
}

/// Returns the help of the program that runs.
pub(crate) fn text() -> String {
    let program = std::env::args().next().unwrap_or_default();
    let name = Path::new(&program).file_stem().unwrap_or_default();
    let source = SOURCES
        .iter()
        .find(|(known, _)| name == *known)
        .map_or("", |(_, source)| source);
    let mut text = String::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.strip_prefix(' ').unwrap_or(line));
    }
    text + OPTIONS
}
