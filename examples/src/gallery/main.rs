//! Writes one page with the graphs of all examples, with search and zoom: `cargo run -p examples --bin gallery`.
//!
//! `gallery FILE` writes it to this file instead of `target/gallery.html`. It builds the examples first; with `--built`
//! it takes them as they are.

use examples::program::{file_argument, has_argument, programs};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

fn main() -> ExitCode {
    match write() {
        Ok(path) => {
            println!("gallery: {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the page, and returns its path.
fn write() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    if !has_argument("--built") {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "-p", "examples", "--bins"])
            .status()?;
        if !status.success() {
            return Err(io::Error::other("the examples do not compile"));
        }
    }
    let mut sections = String::new();
    for (name, about) in programs() {
        let program = folder.join(name).with_extension(env::consts::EXE_EXTENSION);
        let output = Command::new(&program).args(["--plan", "svg"]).output();
        let output = output.map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?;
        let svg = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{name} --plan svg: {message}")));
        }
        let _ = writeln!(
            sections,
            "<section data-program=\"{name}\">\n<h2>{name}</h2>\n<p>{}</p>",
            escaped(&about)
        );
        for graph in svg.split_inclusive("</svg>\n") {
            let _ = writeln!(sections, "<figure>{graph}</figure>");
        }
        sections.push_str("</section>\n");
    }
    let path = file_argument().map_or_else(|| PathBuf::from("target/gallery.html"), PathBuf::from);
    fs::write(&path, include_str!("page.html").replace("<!-- sections -->", &sections))?;
    Ok(path)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('`', "")
}
